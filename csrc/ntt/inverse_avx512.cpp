// Inverse NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

void inverse_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next) {
  const auto transform = [&](auto row) { row(out, in, step, degree, table, m, next); };
  switch (path_avx512(degree, m)) {
    case PathAvx512::kNarrowLazy: return transform(inverse_row<Narrow, kNarrowLazyBound>);
    case PathAvx512::kNarrowPass: return transform(inverse_row<Narrow, kNarrowPassBound>);
    case PathAvx512::kNarrowLevel: return transform(inverse_row<Narrow, kNarrowLevelBound>);
    case PathAvx512::kWideLazy: return transform(inverse_row<Wide, kWideLazyBound>);
    case PathAvx512::kWideLevel: return transform(inverse_row<Wide, kWideLevelBound>);
    case PathAvx512::kPortable: return transform(kNttKernels64Portable.inverse);
  }
}

}  // namespace fhelium
