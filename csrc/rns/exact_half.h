// Which multiple of D is nearest to a value that a basis conversion starts from. A floating-point
// sum decides, but for values too close to one half: those are compared exactly, as multi-word
// integers of a fixed size, made from the primes alone.
#pragma once
#include "rns/kernels.h"

namespace fhelium {

/// The sum of up to 16 terms y_i / d_i, below 16, each right to 2^-51, is right to 2^-45: it
/// decides where its distance from a whole number is at most this.
constexpr double kSure = 0.5 - 0x1p-40;

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
template <class Digit, class Word>
FHELIUM_INLINE bool exceeds_half(const BasisTile<Digit>& tile, i64 k, const BasisSource<Word>& from,
                                 u64 whole) {
  u64 sum[kExactWords] = {0}, product[kExactWords] = {1};
  const u64 zero[kExactWords] = {0};
  for (int i = 0; i < from.count; ++i) {
    const u64 d = from.moduli[i].q, digit = (u64)digit_of(tile, i)[k];
    multiword_scale_add(sum, d, product, digit);  // T_i = T_{i-1} d_i + y_i D_{i-1}
    multiword_scale_add(product, d, zero, 0);
  }
  multiword_scale_add(sum, 2, zero, 0);
  multiword_scale_add(product, 2 * whole + 1, zero, 0);
  for (int j = kExactWords; j-- > 0;)
    if (sum[j] != product[j]) return sum[j] > product[j];
  return false;
}

/// Write the multiples of those of the values k, k + 1, .. that `unsure` marks, one bit each; what
/// lies behind n is no value. `sums` holds their floating-point sums.
template <class Digit, class Word>
FHELIUM_INLINE void decide_exactly(const BasisTile<Digit>& tile, i64 k, i64 n, unsigned unsure,
                                   const double* sums, const BasisSource<Word>& from) {
  for (int lane = 0; k + lane < n && unsure >> lane != 0; ++lane)
    if (unsure >> lane & 1) {
      const u64 below = (u64)(i64)sums[lane];
      const bool above = exceeds_half(tile, k + lane, from, below);
      digit_of(tile, from.count)[k + lane] = (Digit)(below + (above ? 1 : 0));
    }
}

template <class Word>
FHELIUM_INLINE double to_double(Word x) {
  return (double)(typename WordTraits<Word>::Signed)x;  // signed words convert faster
}

/// The digits of one source prime, and what they add to the sums.
template <int kBits, class Word>
FHELIUM_INLINE void scale_into_digit(Word* digit, double* sum, const Word* row, i64 step, i64 n,
                                     Word factor, const Modulus<Word>& modulus) {
  const Modulus<Word> m = modulus;
  const double reciprocal = 1.0 / to_double(m.q);
  for (i64 k = 0; k < n; ++k) {
    const Word y = montgomery_multiply<kBits>(row[k * step], factor, m);
    digit[k] = y;
    sum[k] += to_double(y) * reciprocal;
  }
}

/// Those of all source primes.
template <class Word>
FHELIUM_INLINE void scale_into_digits(const BasisTile<Word>& tile, double* sum,
                                      const Word* const* rows, i64 step, i64 n,
                                      const BasisSource<Word>& from) {
  for (i64 k = 0; k < n; ++k) sum[k] = 0.0;
  for (int i = 0; i < from.count; ++i)
    with_radix(from.moduli[i], [&](auto radix) {
      scale_into_digit<radix.kBits>(digit_of(tile, i), sum, rows[i], step, n, from.scale[i],
                                    from.moduli[i]);
    });
}

}  // namespace fhelium
