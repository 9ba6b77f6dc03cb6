// From mixed radix digits to doubles, on vectors: for files that have included fma.h or ifma.h.
#pragma once
#include "rns/codec.h"

namespace fhelium {
namespace {

/// The nearest doubles of sum_i digit(i) q_0 .. q_(i-1), where both bounds agree, by Horner's rule
/// in pairs of doubles (T. J. Dekker, "A floating-point technique for extending the available
/// precision", 1971). |digit(i)| <= q_i. A step adds relative errors below 2^-103; next to a tie,
/// and past the doubles, the bounds differ.
template <class Doubles, class Word, class Digit>
FHELIUM_INLINE void nearest_doubles(Doubles& least, Doubles& most, const Modulus<Word>* moduli,
                                    i64 limbs, const Digit& digit) {
  Doubles high = digit(limbs - 1), low = {};
  for (i64 i = limbs - 2; i >= 0; --i) {
    const Doubles q = Doubles{} + (double)(i64)moduli[i].q, next = digit(i);
    const Doubles product = high * q, rest = fused(low, q, fused(high, q, -product));
    // Either the product is as large as the digit, or both it and the rest are 0.
    const Doubles sum = product + next, tail = rest + (next - (sum - product));
    high = sum + tail;
    low = tail - (high - sum);
  }
  const Doubles size = high < 0 ? -high : high, error = size * ((double)limbs * 0x1p-102);
  least = high + (low - error);
  most = high + (low + error);
}

}  // namespace
}  // namespace fhelium
