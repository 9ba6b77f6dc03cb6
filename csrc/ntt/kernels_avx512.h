// The transforms of the AVX-512 kernels, one translation unit each.
#pragma once
#include "ntt/kernels.h"

namespace fhelium {

void forward_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus& m, const u64* next);
void inverse_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus& m, const u64* next);

}  // namespace fhelium
