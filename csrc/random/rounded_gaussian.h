// A rounded Gaussian from random words (G. E. P. Box, M. E. Muller, "A note on the generation of
// random normal deviates", 1958), in plain IEEE doubles: additions, products, one quotient and one
// square root, each rounded to nearest where it is written. No library function and no contraction,
// so every machine and device gets the same bits. No branch and no index depends on the words.
#pragma once
#include "common/doubles.h"

namespace fhelium {

/// sigma = scaled 2^shift, scaled < 2^48: doubles resolve the rounded value of the scaled Gaussian
/// to the last unit, and the shift bits below it are drawn uniformly. Without them every sample of
/// a wide Gaussian would be a multiple of a power of two, and so would hide no bit below it.
struct GaussianWidth {
  double scaled;
  int shift;
};

constexpr int kGaussianScaledBits = 48;

namespace rounded_gaussian_detail {

using namespace rounded;

FHELIUM_INLINE u64 bits_of(double x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

FHELIUM_INLINE double from_bits(u64 bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// The nearest double. AVX2 has no such conversion: there two exact halves make vectors of a loop.
FHELIUM_INLINE double to_double(i64 x) {
#if defined(__AVX2__) && !defined(__AVX512DQ__)
  constexpr double kHigh = 0x1p84 + 0x1p63, kLow = 0x1p52;  // whose units are 2^32 and 1
  const double high = from_bits(bits_of(0x1p84) | (((u64)x >> 32) ^ 0x80000000u));
  const double low = from_bits(bits_of(kLow) | ((u64)x & 0xffffffffu));
  return (high - kHigh) + (low - kLow);
#else
  return (double)x;
#endif
}

/// A whole number less than one away from |x| < 2^52.
FHELIUM_INLINE i64 whole_beside(double x) {
#if defined(__AVX2__) && !defined(__AVX512DQ__)
  const u64 sign = 0 - (bits_of(x) >> 63);  // 2^52 has unit 1
  const u64 size = bits_of(__builtin_fabs(x) + 0x1p52) - bits_of(0x1p52);
  return (i64)((size ^ sign) - sign);
#else
  return (i64)x;
#endif
}

/// c[0] + z (c[1] + z (c[2] + ...)).
template <int kTerms>
FHELIUM_INLINE double horner(double z, const double (&c)[kTerms]) {
  double value = c[kTerms - 1];
  for (int k = kTerms - 2; k >= 0; --k) value = add(c[k], multiply(z, value));
  return value;
}

/// ln u for u = (k + 1/2) / 2^63, k = floor(w / 2): in (0, 1), to a relative error below 2^-50.
/// u = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh s with s = (m - 1) / (m + 1),
/// |s| < 0.172, where the series ends below 2^-56. Near u = 1 a double u would be a coarse grid, so
/// where e = 0 the difference 1 - u comes from the word itself.
FHELIUM_INLINE double logarithm_of_uniform(u64 w) {
  constexpr u64 kSquareRootOfHalf = 0x3FE6A09E667F3BCDu;  // as a double
  constexpr double kLn2 = 0.693147180559945309417232121458;
  constexpr double kUnit = 1.0 / 9223372036854775808.0;  // 2^-63
  constexpr double kSeries[11] = {2.0,        2.0 / 3.0,  2.0 / 5.0,  2.0 / 7.0,
                                  2.0 / 9.0,  2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0,
                                  2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0};
  const u64 u = bits_of(multiply(add(to_double((i64)(w >> 1)), 0.5), kUnit));
  const double rest = multiply(add(to_double((i64)(~w >> 1)), 0.5), kUnit);  // 1 - u
  const i64 e = (i64)(u - kSquareRootOfHalf) >> 52;
  const double m = from_bits(u - ((u64)e << 52));
  const u64 split = 0 - (u64)(e != 0);
  const double below =
      from_bits((bits_of(add(m, -1.0)) & split) | (bits_of(multiply(-1.0, rest)) & ~split));
  const double s = divide(below, add(below, 2.0));
  return add(multiply(to_double(e), kLn2), multiply(s, horner(multiply(s, s), kSeries)));
}

/// cos(2 pi w / 2^64). The nearest quarter turn is split off exactly; within an eighth of a turn of
/// it the Taylor series end below 2^-57.
FHELIUM_INLINE double cosine_of_turn(u64 w) {
  constexpr double kQuarterTurn = 1.57079632679489661923132169164 / 4611686018427387904.0;  // 2^62
  constexpr double kCosine[9] = {1.0,
                                 -1.0 / 2.0,
                                 1.0 / 24.0,
                                 -1.0 / 720.0,
                                 1.0 / 40320.0,
                                 -1.0 / 3628800.0,
                                 1.0 / 479001600.0,
                                 -1.0 / 87178291200.0,
                                 1.0 / 20922789888000.0};
  constexpr double kSine[9] = {1.0,
                               -1.0 / 6.0,
                               1.0 / 120.0,
                               -1.0 / 5040.0,
                               1.0 / 362880.0,
                               -1.0 / 39916800.0,
                               1.0 / 6227020800.0,
                               -1.0 / 1307674368000.0,
                               1.0 / 355687428096000.0};
  const u64 quarter = (w + ((u64)1 << 61)) >> 62;
  const double angle = multiply(to_double((i64)(w << 2) >> 2), kQuarterTurn);
  const double z = multiply(angle, angle);
  const u64 cosine = bits_of(horner(z, kCosine));
  const u64 sine = bits_of(multiply(angle, horner(z, kSine)));
  // cos, -sin, -cos, sin for the quarters 0, 1, 2, 3.
  const u64 take_sine = 0 - (quarter & 1), negative = ((quarter + 1) >> 1) & 1;
  return from_bits(((cosine & ~take_sine) | (sine & take_sine)) ^ (negative << 63));
}

/// Nearest integer, halves upwards, for |x| < 2^52.
FHELIUM_INLINE i64 nearest(double x) {
  const i64 whole = whole_beside(x);
  const double rest = add(x, -to_double(whole));
  return whole + (i64)(rest >= 0.5) - (i64)(rest < -0.5);
}

}  // namespace rounded_gaussian_detail

/// One sample. radius and angle are the words of attempts 0 and 1, low that of attempt 2 (read only
/// where width.shift > 0). The tail ends at sqrt(128 ln 2) = 9.4 sigma, of probability 2^-64.
FHELIUM_INLINE i64 rounded_gaussian(u64 radius, u64 angle, u64 low, const GaussianWidth& width) {
  using namespace rounded_gaussian_detail;
  const double length = square_root(multiply(-2.0, logarithm_of_uniform(radius)));
  const double normal = multiply(length, cosine_of_turn(angle));
  const i64 high = nearest(multiply(width.scaled, normal));
  if (width.shift == 0) return high;
  const i64 half = (i64)1 << (width.shift - 1);
  return high * (2 * half) + (i64)(low >> (64 - width.shift)) - half;
}

}  // namespace fhelium
