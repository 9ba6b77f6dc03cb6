// Forward NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kForwardAvx2[] = {
    forward_row<Doubles4, Reduce::kNever>,
    forward_row<Doubles4, Reduce::kPass>,
};

void forward_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next) {
  const PathAvx2 path = path_avx2(degree, m);
  const bool vectors = path != PathAvx2::kPortable;
  const auto row = vectors ? kForwardAvx2[static_cast<int>(path)] : kNttKernels64Portable.forward;
  row(out, in, step, degree, table, m, next);
}

}  // namespace fhelium
