// Forward NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

void forward_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next) {
  const auto transform = [&](auto row) { row(out, in, step, degree, table, m, next); };
  switch (path_avx2(degree, m)) {
    case PathAvx2::kLazy: return transform(forward_row<Doubles4, Reduce::kNever>);
    case PathAvx2::kPass: return transform(forward_row<Doubles4, Reduce::kPass>);
    case PathAvx2::kPortable: return transform(kNttKernels64Portable.forward);
  }
}

}  // namespace fhelium
