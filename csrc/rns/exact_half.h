// The exact side of a centred basis conversion, for the values whose floating-point sum lies too
// close to one half to decide: multi-word integers of a fixed size, made from the primes alone.
#pragma once
#include "rns/kernels.h"

namespace fhelium {

/// kMaxSourcePrimes primes below 2^62 make products below 2^992; 2^6 times that still fits.
inline constexpr int kExactWords = kMaxSourcePrimes;

/// a <- a x + b y; the caller knows that the result fits.
FHELIUM_INLINE void multiword_scale_add(u64* a, u64 x, const u64* b, u64 y) {
  u64 carry = 0;
  for (int j = 0; j < kExactWords; ++j) {  // x, y < 2^62: a step stays below 2^127 + 2^64
    const u128 t = (u128)a[j] * x + (u128)b[j] * y + carry;
    a[j] = (u64)t;
    carry = (u64)(t >> 64);
  }
}

/// Whether T = sum_i digit(i)[k] (D / d_i) exceeds (whole + 1/2) D, that is, whether
/// 2 T > (2 whole + 1) D. D is odd, so the two are never equal. T < count D, whole <= count.
template <class Word>
FHELIUM_INLINE bool exceeds_half(const BasisTile<Word>& tile, i64 k, const BasisSource<Word>& from,
                                 u64 whole) {
  u64 sum[kExactWords] = {0}, product[kExactWords] = {1};
  const u64 zero[kExactWords] = {0};
  for (int i = 0; i < from.count; ++i) {
    const u64 d = from.moduli[i].q;
    multiword_scale_add(sum, d, product, digit_of(tile, i)[k]);  // T_i = T_{i-1} d_i + y_i D_{i-1}
    multiword_scale_add(product, d, zero, 0);
  }
  multiword_scale_add(sum, 2, zero, 0);
  multiword_scale_add(product, 2 * whole + 1, zero, 0);
  for (int j = kExactWords; j-- > 0;)
    if (sum[j] != product[j]) return sum[j] > product[j];
  return false;
}

}  // namespace fhelium
