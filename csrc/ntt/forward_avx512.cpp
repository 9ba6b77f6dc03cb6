// Forward NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kForwardAvx512[] = {
    forward_row<Narrow, Reduce::kNever>, forward_row<Narrow, Reduce::kPass>,
    forward_row<Narrow, Reduce::kLevel>, forward_row<Wide, Reduce::kNever>,
    forward_row<Wide, Reduce::kLevel>,
};

void forward_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next) {
  const PathAvx512 path = path_avx512(degree, m);
  const bool vectors = path != PathAvx512::kPortable;
  const auto row = vectors ? kForwardAvx512[static_cast<int>(path)] : kNttKernels64Portable.forward;
  row(out, in, step, degree, table, m, next);
}

}  // namespace fhelium
