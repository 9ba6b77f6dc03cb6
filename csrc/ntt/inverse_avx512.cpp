// Inverse NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kInverseAvx512[] = {
    inverse_row<Narrow, kNarrowLazyBound>,  inverse_row<Narrow, kNarrowPassBound>,
    inverse_row<Narrow, kNarrowLevelBound>, inverse_row<Wide, kWideLazyBound>,
    inverse_row<Wide, kWideLevelBound>,
};

void inverse_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next) {
  const PathAvx512 path = path_avx512(degree, m);
  const bool vectors = path != PathAvx512::kPortable;
  const auto row = vectors ? kInverseAvx512[static_cast<int>(path)] : kNttKernels64Portable.inverse;
  row(out, in, step, degree, table, m, next);
}

}  // namespace fhelium
