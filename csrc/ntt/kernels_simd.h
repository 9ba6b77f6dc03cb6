// The vector transforms, a translation unit each: by a prime's size, and one for each path. Rows
// that their instruction set does not serve are the portable kernels'.
#pragma once
#include "ntt/kernels.h"

namespace fhelium {

void forward_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next);
void inverse_avx2(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus<u64>& m, const u64* next);
extern const NttTransform<u64> kForwardAvx2[], kInverseAvx2[];

void forward_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next);
void inverse_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus<u64>& m, const u64* next);
extern const NttTransform<u64> kForwardAvx512[], kInverseAvx512[];

}  // namespace fhelium
