// Eight 64-bit words a register, and the two ways to multiply them modulo q: AVX-512 IFMA (52-bit
// products) and plain 64-bit products. Everything has internal linkage: a translation unit compiled
// for AVX-512 leaves no symbol that another could pick up.
//
// Both multiply by a fixed factor w with Shoup's quotient w' = floor(w 2^B / q), B = 52 or 64:
// w y - floor(w' y / 2^B) q lies in [0, 2q) for any y < 2^B. Lazy values may grow up to 2^B; bounds
// are counted in multiples of q.
#pragma once
#include <immintrin.h>

#include "common/modular_arithmetic.h"

#define FHELIUM_UNROLL _Pragma("GCC unroll 16")
#define FHELIUM_METHOD inline __attribute__((always_inline))

namespace fhelium {
namespace {

using Word8 = __m512i;

FHELIUM_INLINE Word8 load(const u64* p) { return _mm512_loadu_si512(p); }
FHELIUM_INLINE void store(u64* p, Word8 x) { _mm512_storeu_si512(p, x); }
FHELIUM_INLINE Word8 spread(u64 x) { return _mm512_set1_epi64(static_cast<i64>(x)); }
FHELIUM_INLINE Word8 add(Word8 a, Word8 b) { return _mm512_add_epi64(a, b); }
FHELIUM_INLINE Word8 subtract(Word8 a, Word8 b) { return _mm512_sub_epi64(a, b); }

/// x in [0, 2 bound) -> [0, bound): one of x and x - bound has not wrapped, and it is the smaller.
FHELIUM_INLINE Word8 reduce_once(Word8 x, Word8 bound) {
  return _mm512_min_epu64(x, subtract(x, bound));
}

/// Ask for eight lines that will be read soon.
FHELIUM_INLINE void prefetch_soon(const u64* p) {
  FHELIUM_UNROLL
  for (int i = 0; i < 8; ++i) _mm_prefetch(reinterpret_cast<const char*>(p + 8 * i), _MM_HINT_T0);
}

/// Ask for eight lines that the next transform will read, and go on to the ones behind them.
FHELIUM_INLINE const u64* prefetch_later(const u64* p) {
  if (p == nullptr) return p;
  FHELIUM_UNROLL
  for (int i = 0; i < 8; ++i) _mm_prefetch(reinterpret_cast<const char*>(p + 8 * i), _MM_HINT_T1);
  return p + 64;
}

/// Row i, column c of an 8 x 8 matrix -> row c, column i: pairs, then quarters, then halves.
FHELIUM_INLINE void transpose(Word8* v) {
  Word8 pair[8], quad[8];
  FHELIUM_UNROLL
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
    pair[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
  }
  FHELIUM_UNROLL
  for (int i = 0; i < 2; ++i) {
    quad[i] = _mm512_shuffle_i64x2(pair[i], pair[i + 2], 0x88);
    quad[i + 2] = _mm512_shuffle_i64x2(pair[i], pair[i + 2], 0xdd);
    quad[i + 4] = _mm512_shuffle_i64x2(pair[i + 4], pair[i + 6], 0x88);
    quad[i + 6] = _mm512_shuffle_i64x2(pair[i + 4], pair[i + 6], 0xdd);
  }
  FHELIUM_UNROLL
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0x88);
    v[i + 4] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0xdd);
  }
}

/// A fixed factor w < q and its quotient, one or eight different ones.
struct Twiddle8 {
  Word8 value, quotient;
};

/// 52-bit arithmetic, q < 2^50. Only the low 52 bits of a lazy value count: the multiplier reads no
/// others, so a wrapped subtraction needs no mask.
struct Narrow {
  static constexpr int kBits = 52;
  static constexpr int kProduct = 2;       // a product is below 2q
  static constexpr int kTwiddleWords = 1;  // w = hi52(w' q) + 1, as q does not divide w 2^52

  Word8 q, negative, reciprocal, mask, zero, one;

  FHELIUM_METHOD explicit Narrow(const Modulus& m)
      : q(spread(m.q)),
        negative(spread((u64{1} << 52) - m.q)),
        reciprocal(spread(m.reciprocal >> 12)),
        mask(spread((u64{1} << 52) - 1)),
        zero(_mm512_setzero_si512()),
        one(spread(1)) {}

  FHELIUM_METHOD Twiddle8 twiddle(Word8 quotient) const {
    return {_mm512_madd52hi_epu64(one, quotient, q), quotient};
  }
  FHELIUM_METHOD Twiddle8 twiddle_spread(const u64* p) const { return twiddle(spread(*p)); }
  FHELIUM_METHOD Twiddle8 twiddle_load(const u64* p) const { return twiddle(load(p)); }

  /// x + (w y mod q), the product in [0, 2q).
  FHELIUM_METHOD Word8 add_product(Word8 x, Word8 y, Twiddle8 w) const {
    const Word8 estimate = _mm512_madd52hi_epu64(zero, w.quotient, y);
    const Word8 sum = _mm512_madd52lo_epu64(x, w.value, y);
    return _mm512_madd52lo_epu64(sum, estimate, negative);
  }
  FHELIUM_METHOD Word8 product(Word8 y, Twiddle8 w) const { return add_product(zero, y, w); }

  /// Any lazy x -> [0, 2q) (Barrett), plus k q where the quotient starts from minus_k = -k.
  FHELIUM_METHOD Word8 reduce_lifted(Word8 x, Word8 minus_k) const {
    const Word8 estimate = _mm512_madd52hi_epu64(minus_k, x, reciprocal);
    return _mm512_madd52lo_epu64(x, estimate, negative);
  }

  /// Any lazy x -> [0, 2q).
  FHELIUM_METHOD Word8 reduce(Word8 x, int /*bound*/) const { return reduce_lifted(x, zero); }

  /// A product -> [0, q).
  FHELIUM_METHOD Word8 finish_product(Word8 x) const {
    return reduce_once(_mm512_and_si512(x, mask), q);
  }
  /// Any lazy value -> [0, q).
  FHELIUM_METHOD Word8 finish(Word8 x) const { return finish_product(reduce_lifted(x, zero)); }
};

/// 64-bit arithmetic, q < 2^61. The quotient's estimate leaves out the lowest partial product and
/// two carries, so it is at most two short and a product is below 4q.
struct Wide {
  static constexpr int kBits = 64;
  static constexpr int kProduct = 4;
  static constexpr int kTwiddleWords = 2;  // quotients, then values

  Word8 q, negative, reciprocal;

  FHELIUM_METHOD explicit Wide(const Modulus& m)
      : q(spread(m.q)), negative(spread(0 - m.q)), reciprocal(spread(m.reciprocal)) {}

  FHELIUM_METHOD Twiddle8 twiddle_spread(const u64* p) const { return {spread(p[1]), spread(*p)}; }
  FHELIUM_METHOD Twiddle8 twiddle_load(const u64* p) const { return {load(p + 8), load(p)}; }

  /// floor(x y / 2^64) or up to two less.
  FHELIUM_METHOD Word8 high_estimate(Word8 x, Word8 y) const {
    const Word8 x_high = _mm512_srli_epi64(x, 32), y_high = _mm512_srli_epi64(y, 32);
    const Word8 middle = add(_mm512_srli_epi64(_mm512_mul_epu32(x, y_high), 32),
                             _mm512_srli_epi64(_mm512_mul_epu32(x_high, y), 32));
    return add(_mm512_mul_epu32(x_high, y_high), middle);
  }

  FHELIUM_METHOD Word8 add_product(Word8 x, Word8 y, Twiddle8 w) const {
    return add(x, product(y, w));
  }
  FHELIUM_METHOD Word8 product(Word8 y, Twiddle8 w) const {
    return add(_mm512_mullo_epi64(w.value, y),
               _mm512_mullo_epi64(high_estimate(w.quotient, y), negative));
  }

  /// x below `bound` q, a power of two up to 64 -> below 4q.
  FHELIUM_METHOD Word8 reduce(Word8 x, int bound) const {
    FHELIUM_UNROLL
    for (int shift = 5; shift >= 2; --shift)
      if (bound > 1 << shift)
        x = reduce_once(x, _mm512_slli_epi64(q, static_cast<unsigned>(shift)));
    return x;
  }

  FHELIUM_METHOD Word8 finish_product(Word8 x) const {
    return reduce_once(reduce_once(x, add(q, q)), q);
  }
  /// Any x -> [0, q): floor(2^64 / q) costs the quotient one more, so what is left is below 4q.
  FHELIUM_METHOD Word8 finish(Word8 x) const {
    return finish_product(add(x, _mm512_mullo_epi64(high_estimate(reciprocal, x), negative)));
  }
};

}  // namespace
}  // namespace fhelium
