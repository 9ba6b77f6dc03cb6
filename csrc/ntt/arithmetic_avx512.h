// Arithmetic of the AVX-512 transforms: eight 64-bit words a register, and two ways to multiply
// them modulo q, by 52-bit products (IFMA) and by 64-bit products. Everything has internal linkage:
// a translation unit compiled for AVX-512 leaves no symbol that another could pick up.
//
// Both multiply by a fixed factor w with Shoup's quotient w' = floor(w 2^B / q), B = 52 or 64:
// w y - floor(w' y / 2^B) q lies in [0, 2q) for any y < 2^B (D. Harvey, "Faster arithmetic for
// number-theoretic transforms", 2014). Lazy values may grow up to 2^B; bounds count multiples of q.
#pragma once
#include <immintrin.h>

#include "ntt/layout.h"

namespace fhelium {
namespace {

/// What a prime's size allows. Narrow: 52-bit words; wide: 64-bit words. Lazy: no reduction between
/// forward levels; pass: one in three levels; level: one in each. The fastest come first, and a
/// prime that is small enough for one is so for those behind it.
enum class PathAvx512 { kNarrowLazy, kNarrowPass, kNarrowLevel, kWideLazy, kWideLevel, kPortable };

// Largest multiple of q that a value of the inverse may reach, by path.
constexpr int kNarrowLazyBound = 32, kNarrowPassBound = 16, kNarrowLevelBound = 4;
constexpr int kWideLazyBound = 64, kWideLevelBound = 8;

/// Forward without reductions a value starts from (levels + 1) products and gains or loses one a
/// level: 4 levels + 3 q on narrow words, where a product is below 2q, 8 levels + 5 on wide ones.
/// One reduction in three levels leaves a product, a lift of three and a gain of three: 14 q.
FHELIUM_INLINE PathAvx512 path_avx512(i64 degree, const Modulus<u64>& m) {
  if (degree < NttLayout<8, 1>::kSmallestDegree) return PathAvx512::kPortable;
  const u64 levels = static_cast<u64>(exact_log2(degree));
  const u64 narrow = m.reciprocal >> 12, wide = m.reciprocal;  // how many q a word holds
  if (narrow >= kNarrowLazyBound && narrow >= 4 * levels + 3) return PathAvx512::kNarrowLazy;
  if (narrow >= kNarrowPassBound) return PathAvx512::kNarrowPass;
  if (narrow >= kNarrowLevelBound) return PathAvx512::kNarrowLevel;
  if (wide >= kWideLazyBound && wide >= 8 * levels + 5) return PathAvx512::kWideLazy;
  if (wide >= kWideLevelBound) return PathAvx512::kWideLevel;
  return PathAvx512::kPortable;
}

FHELIUM_INLINE __m512i spread(u64 x) { return _mm512_set1_epi64(static_cast<i64>(x)); }

/// x in [0, 2 bound) -> [0, bound): one of x and x - bound has not wrapped, and it is the smaller.
FHELIUM_INLINE __m512i reduce_once(__m512i x, __m512i bound) {
  return _mm512_min_epu64(x, _mm512_sub_epi64(x, bound));
}

/// What both have in common: lanes, memory, sums, and lifts of unsigned values.
struct Words8 {
  using Vector = __m512i;
  static constexpr int kLanes = 8;
  static constexpr int kTogether = 2;  // blocks that go through their levels together

  /// A fixed factor and its quotient, one or eight different ones.
  struct Twiddle {
    Vector value, quotient;
  };

  FHELIUM_METHOD static Vector load(const u64* p) { return _mm512_loadu_si512(p); }
  FHELIUM_METHOD static void store(u64* p, Vector x) { _mm512_storeu_si512(p, x); }
  FHELIUM_METHOD static Vector load_residues(const u64* p) { return load(p); }
  FHELIUM_METHOD static void store_residues(u64* p, Vector x) { store(p, x); }
  FHELIUM_METHOD static Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
  FHELIUM_METHOD static Vector subtract(Vector a, Vector b) { return _mm512_sub_epi64(a, b); }

  /// Row i, column c of an 8 x 8 matrix -> row c, column i: pairs, then quarters, then halves.
  FHELIUM_METHOD static void transpose(Vector* v) {
    Vector pair[8], quad[8];
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

  /// q, 2q, .. 32q.
  struct Multiples {
    Vector by_log[6];
    FHELIUM_METHOD explicit Multiples(const Modulus<u64>& m) {
      FHELIUM_UNROLL
      for (int k = 0; k < 6; ++k) by_log[k] = spread(m.q << k);
    }
  };
  /// y - x plus a multiple of q, not negative; x < bound q, a power of two.
  FHELIUM_METHOD static Vector difference(Vector y, Vector x, const Multiples& multiples,
                                          int bound) {
    return subtract(add(y, multiples.by_log[__builtin_ctz(static_cast<unsigned>(bound))]), x);
  }
};

/// 52-bit arithmetic, q < 2^50. Only the low 52 bits of a lazy value count: the multiplier reads no
/// others, so a wrapped subtraction needs no mask.
struct Narrow : Words8 {
  static constexpr int kWords = 1;    // words a twiddle: w = hi52(w' q) + 1, q not dividing w 2^52
  static constexpr int kProduct = 2;  // a product is below 2q

  Vector q, negative, reciprocal, mask, zero, one;

  FHELIUM_METHOD explicit Narrow(const Modulus<u64>& m)
      : q(spread(m.q)),
        negative(spread((u64{1} << 52) - m.q)),
        reciprocal(spread(m.reciprocal >> 12)),
        mask(spread((u64{1} << 52) - 1)),
        zero(_mm512_setzero_si512()),
        one(spread(1)) {}

  FHELIUM_METHOD Twiddle twiddle(Vector quotient) const {
    return {_mm512_madd52hi_epu64(one, quotient, q), quotient};
  }
  FHELIUM_METHOD Twiddle twiddle_spread(const u64* p) const { return twiddle(spread(*p)); }
  FHELIUM_METHOD Twiddle twiddle_load(const u64* p) const { return twiddle(load(p)); }

  /// A number of products, as what is added to a value and to a quotient.
  struct Lift {
    Vector value, minus;
    FHELIUM_METHOD Lift(const Modulus<u64>& m, int products)
        : value(spread(static_cast<u64>(products * kProduct) * m.q)),
          minus(spread(0 - static_cast<u64>(products * kProduct))) {}
  };
  FHELIUM_METHOD static Vector lifted(Vector x, const Lift& lift) { return add(x, lift.value); }

  /// x + (w y mod q), the product in [0, 2q).
  FHELIUM_METHOD Vector add_product(Vector x, Vector y, const Twiddle& w) const {
    const Vector estimate = _mm512_madd52hi_epu64(zero, w.quotient, y);
    const Vector sum = _mm512_madd52lo_epu64(x, w.value, y);
    return _mm512_madd52lo_epu64(sum, estimate, negative);
  }
  FHELIUM_METHOD Vector product(Vector y, const Twiddle& w) const {
    return add_product(zero, y, w);
  }
  /// x - w y is taken as 2x - (x + w y): one operation less.
  FHELIUM_METHOD void butterfly(Vector& x, Vector& y, const Twiddle& w) const {
    const Vector twice = add(x, x);
    x = add_product(x, y, w);
    y = subtract(twice, x);
  }
  FHELIUM_METHOD void butterfly_lifting(Vector& x, Vector& y, const Twiddle& w,
                                        const Lift& lift) const {
    const Vector twice = add(x, lifted(x, lift));
    x = add_product(x, y, w);
    y = subtract(twice, x);
  }

  /// x minus (its quotient by q, at most one short, plus `start`) times q.
  FHELIUM_METHOD Vector barrett(Vector x, Vector start) const {
    return _mm512_madd52lo_epu64(x, _mm512_madd52hi_epu64(start, x, reciprocal), negative);
  }
  /// Any lazy x -> [0, 2q), and the same lifted, which costs nothing.
  FHELIUM_METHOD Vector reduce(Vector x, int /*bound*/) const { return barrett(x, zero); }
  FHELIUM_METHOD Vector reduce_lifted(Vector x, const Lift& lift) const {
    return barrett(x, lift.minus);
  }

  /// A product -> [0, q).
  FHELIUM_METHOD Vector finish_product(Vector x) const {
    return reduce_once(_mm512_and_si512(x, mask), q);
  }
  /// Any lazy value -> [0, q).
  FHELIUM_METHOD Vector finish(Vector x) const { return finish_product(barrett(x, zero)); }
};

/// 64-bit arithmetic, q < 2^61. The quotient's estimate leaves out the lowest partial product and
/// two carries, so it is at most two short and a product is below 4q.
struct Wide : Words8 {
  static constexpr int kWords = 2;  // the quotient, then the value
  static constexpr int kProduct = 4;

  Vector q, negative, reciprocal;

  FHELIUM_METHOD explicit Wide(const Modulus<u64>& m)
      : q(spread(m.q)), negative(spread(0 - m.q)), reciprocal(spread(m.reciprocal)) {}

  FHELIUM_METHOD static Twiddle twiddle_spread(const u64* p) { return {spread(p[1]), spread(*p)}; }
  FHELIUM_METHOD static Twiddle twiddle_load(const u64* p) { return {load(p + kLanes), load(p)}; }

  struct Lift {
    Vector value;
    FHELIUM_METHOD Lift(const Modulus<u64>& m, int products)
        : value(spread(static_cast<u64>(products * kProduct) * m.q)) {}
  };
  FHELIUM_METHOD static Vector lifted(Vector x, const Lift& lift) { return add(x, lift.value); }

  /// floor(x y / 2^64) or up to two less.
  FHELIUM_METHOD static Vector high_estimate(Vector x, Vector y) {
    const Vector x_high = _mm512_srli_epi64(x, 32), y_high = _mm512_srli_epi64(y, 32);
    const Vector middle = add(_mm512_srli_epi64(_mm512_mul_epu32(x, y_high), 32),
                              _mm512_srli_epi64(_mm512_mul_epu32(x_high, y), 32));
    return add(_mm512_mul_epu32(x_high, y_high), middle);
  }

  FHELIUM_METHOD Vector product(Vector y, const Twiddle& w) const {
    return add(_mm512_mullo_epi64(w.value, y),
               _mm512_mullo_epi64(high_estimate(w.quotient, y), negative));
  }
  FHELIUM_METHOD void butterfly(Vector& x, Vector& y, const Twiddle& w) const {
    const Vector right = product(y, w);
    y = subtract(x, right);
    x = add(x, right);
  }
  FHELIUM_METHOD void butterfly_lifting(Vector& x, Vector& y, const Twiddle& w,
                                        const Lift& lift) const {
    const Vector right = product(y, w);
    y = subtract(lifted(x, lift), right);
    x = add(x, right);
  }

  /// x below `bound` q, a power of two up to 64 -> below 4q.
  FHELIUM_METHOD Vector reduce(Vector x, int bound) const {
    FHELIUM_UNROLL
    for (int shift = 5; shift >= 2; --shift)
      if (bound > 1 << shift)
        x = reduce_once(x, _mm512_slli_epi64(q, static_cast<unsigned>(shift)));
    return x;
  }

  FHELIUM_METHOD Vector finish_product(Vector x) const {
    return reduce_once(reduce_once(x, add(q, q)), q);
  }
  /// Any x -> [0, q): floor(2^64 / q) costs the quotient one more, so what is left is below 4q.
  FHELIUM_METHOD Vector finish(Vector x) const {
    return finish_product(add(x, _mm512_mullo_epi64(high_estimate(reciprocal, x), negative)));
  }
};

}  // namespace
}  // namespace fhelium
