// Inverse NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

void inverse_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next) {
  const auto transform = [&](auto row) { row(out, in, step, degree, table, m, next); };
  switch (path_avx2(degree, m)) {
    case PathAvx2::kLazy: return transform(inverse_row<Doubles4, kLazyBound>);
    case PathAvx2::kPass: return transform(inverse_row<Doubles4, kPassBound>);
    case PathAvx2::kPortable: return transform(kNttKernels64Portable.inverse);
  }
}

}  // namespace fhelium
