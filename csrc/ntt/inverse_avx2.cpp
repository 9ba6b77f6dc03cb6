// Inverse NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kInverseAvx2[] = {
    inverse_row<Doubles4, kLazyBound>,
    inverse_row<Doubles4, kPassBound>,
};

void inverse_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next) {
  const PathAvx2 path = path_avx2(degree, m);
  const bool vectors = path != PathAvx2::kPortable;
  const auto row = vectors ? kInverseAvx2[static_cast<int>(path)] : kNttKernels64Portable.inverse;
  row(out, in, step, degree, table, m, next);
}

}  // namespace fhelium
