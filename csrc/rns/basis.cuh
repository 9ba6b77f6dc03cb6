// Basis conversion on CUDA: the exact centred representative of a value known modulo some primes,
// taken up by others, with the arithmetic of the CPU kernels (rns/exact_half.h says why it is
// exact). A thread reads the digits y_i of its coefficient through a function, from wherever they
// lie.
#pragma once
#include "common/cuda.h"
#include "common/device_rows.h"
#include "common/doubles.h"
#include "common/number_theory.h"
#include "rns/kernels.h"

namespace fhelium {

/// Word number k of the binary expansion of y / q. Rarely needed, and so without state or table.
__device__ inline u64 fraction_word(u64 y, int k, u64 q) {
  for (int i = 0; i < 64 * k; ++i) y = add_modular(y, y, q);
  u64 rest = y;
  for (int i = 0; i < 64; ++i) rest = add_modular(rest, rest, q);
  return (0 - rest) * inverse_modulo_word(q);  // word q = y 2^64 - rest
}

/// Whether sum_i y_i / d_i exceeds whole + 1/2, word by word: what is behind a word adds less than
/// `count` of its units. The two are never equal, as the product of the d_i is odd.
template <class Word, class Digit, class Prime>
__device__ inline bool exceeds_half(int count, u64 whole, const Digit& digit, const Prime& prime) {
  __int128 difference = -(__int128)whole;
  for (int k = 0; k <= kMaxSourcePrimes; ++k) {
    difference *= (__int128)1 << 64;
    if (k == 0) difference -= (__int128)1 << 63;
    for (int i = 0; i < count; ++i) difference += fraction_word(digit(i), k, prime(i));
    if (difference >= 0 || difference <= -count) break;
  }
  return difference >= 0;
}

/// The next term of sum_i y_i / d_i in doubles, as the CPU adds it.
template <class Word>
__device__ __forceinline__ double add_fraction(double sum, Word digit, double reciprocal) {
  return rounded::add(sum, rounded::multiply((double)(i64)digit, reciprocal));
}

/// The multiple of the product that centres sum_i y_i (D / d_i): the nearest whole number to
/// sum_i y_i / d_i, decided exactly where the doubles are too close to one half.
template <class Word, class Digit, class Prime>
__device__ __forceinline__ Word centring_multiple(double sum, int count, const Digit& digit,
                                                  const Prime& prime) {
  constexpr double kSure = 0.5 - 0x1p-40;
  const i64 nearest = (i64)rounded::add(sum, 0.5);
  const double rest = rounded::add(sum, -(double)nearest);
  if (rest <= kSure && rest >= -kSure) return (Word)nearest;
  const Word below = (Word)(i64)sum;
  return below + (exceeds_half<Word>(count, below, digit, prime) ? 1 : 0);
}

/// sum_i y_i f_i modulo the target over `terms` factors, y_i < d_i with the multiple as the last
/// term. Where the d_i add up beyond R the sum takes wider reductions: on 64 bits one, on 32 bits
/// one for each kMaxProducts terms.
template <class Word, class Digit, class Factor>
__device__ __forceinline__ Word take_up(int terms, bool wide, const Digit& digit,
                                        const Factor& factor, const Modulus<Word>& m) {
  constexpr int kBits = kWordBits<Word>;
  const int shift = kBits - m.bits;
  const auto products = [&](int first, int past) {
    WideOf<Word> sum = 0;
    for (int i = first; i < past; ++i) sum += (WideOf<Word>)digit(i) * factor(i);
    return sum << shift;
  };
  if (!wide) return montgomery_reduce<kBits>(products(0, terms), m);
  if constexpr (kBits == 64) return montgomery_reduce_wide<kBits>(products(0, terms), m);
  Word total = 0;
  for (int first = 0; first < terms; first += (int)kMaxProducts<Word>) {
    const int past = first + (int)kMaxProducts<Word>;
    const auto sum = products(first, past < terms ? past : terms);
    total = add_modular(total, montgomery_reduce_wide<kBits>(sum, m), m.q);
  }
  return total;
}

}  // namespace fhelium
