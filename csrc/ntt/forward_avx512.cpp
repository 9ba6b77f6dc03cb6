// Forward NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

void forward_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next) {
  const auto transform = [&](auto row) { row(out, in, step, degree, table, m, next); };
  switch (path_avx512(degree, m)) {
    case PathAvx512::kNarrowLazy: return transform(forward_row<Narrow, Reduce::kNever>);
    case PathAvx512::kNarrowPass: return transform(forward_row<Narrow, Reduce::kPass>);
    case PathAvx512::kNarrowLevel: return transform(forward_row<Narrow, Reduce::kLevel>);
    case PathAvx512::kWideLazy: return transform(forward_row<Wide, Reduce::kNever>);
    case PathAvx512::kWideLevel: return transform(forward_row<Wide, Reduce::kLevel>);
    case PathAvx512::kPortable: return transform(kNttKernels64Portable.forward);
  }
}

}  // namespace fhelium
