// Residues four at a time in doubles, products by fused multiply-add, for translation units
// compiled for AVX2. Moduli are below 2^50. No rounding error ever enters a result: each operation
// below is exact or rounds a quotient whose remainder is then exact, so residues come out as on any
// other path.
#pragma once
#include <immintrin.h>

#include "common/modular_arithmetic.h"

namespace fhelium {

constexpr i64 kLanes = 4;

/// Which lanes of a vector are in memory: all of them, or the first ones at the end of a row.
struct Whole {};
struct Part {
  __m256i lanes;
};
FHELIUM_INLINE Part first_lanes(i64 count) {
  return {_mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0))};
}

FHELIUM_INLINE __m256i load(Whole, const u64* p) { return _mm256_loadu_si256((const __m256i*)p); }
FHELIUM_INLINE __m256i load(Part part, const u64* p) {
  return _mm256_maskload_epi64((const long long*)p, part.lanes);
}
/// 32-bit words in 64-bit lanes.
FHELIUM_INLINE __m128i narrowed(__m256i x) {
  const __m256i low_halves = _mm256_set_epi32(6, 4, 2, 0, 6, 4, 2, 0);
  return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(x, low_halves));
}
FHELIUM_INLINE __m256i load(Whole, const u32* p) {
  return _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)p));
}
FHELIUM_INLINE __m256i load(Part part, const u32* p) {
  return _mm256_cvtepu32_epi64(_mm_maskload_epi32((const int*)p, narrowed(part.lanes)));
}
FHELIUM_INLINE void store(Whole, u32* p, __m256i x) { _mm_storeu_si128((__m128i*)p, narrowed(x)); }
FHELIUM_INLINE void store(Part part, u32* p, __m256i x) {
  _mm_maskstore_epi32((int*)p, narrowed(part.lanes), narrowed(x));
}
FHELIUM_INLINE void store(Whole, u64* p, __m256i x) { _mm256_storeu_si256((__m256i*)p, x); }
FHELIUM_INLINE void store(Part part, u64* p, __m256i x) {
  _mm256_maskstore_epi64((long long*)p, part.lanes, x);
}
FHELIUM_INLINE void stream(u64* p, __m256i x) { _mm256_stream_si256((__m256i*)p, x); }
FHELIUM_INLINE __m256i broadcast(u64 x) { return _mm256_set1_epi64x((i64)x); }
FHELIUM_INLINE __m256d broadcast(double x) { return _mm256_set1_pd(x); }
/// a b + c, rounded once.
FHELIUM_INLINE __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }

}  // namespace fhelium

#include "common/vector_rows.h"

namespace fhelium {

/// x where its sign bit is clear, else y.
FHELIUM_INLINE __m256i unless_negative(__m256i x, __m256i y) {
  return _mm256_castpd_si256(
      _mm256_blendv_pd(_mm256_castsi256_pd(x), _mm256_castsi256_pd(y), _mm256_castsi256_pd(x)));
}

// ---- integers in doubles -----------------------------------------------------------------------

/// The low bits of x + 1.5 2^52 are x, and the sum rounds to an integer.
constexpr double kUnit = 0x1.8p52;

/// Between words and doubles, |x| < 2^51.
FHELIUM_INLINE __m256d to_doubles(__m256i x) {
  const __m256i shifted = _mm256_add_epi64(x, _mm256_castpd_si256(broadcast(kUnit)));
  return _mm256_sub_pd(_mm256_castsi256_pd(shifted), broadcast(kUnit));
}
FHELIUM_INLINE __m256i to_words(__m256d x) {
  const __m256i shifted = _mm256_castpd_si256(_mm256_add_pd(x, broadcast(kUnit)));
  return _mm256_sub_epi64(shifted, _mm256_castpd_si256(broadcast(kUnit)));
}

FHELIUM_INLINE __m256d round_nearest(__m256d x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// a b rounded to the nearest integer, |a b| < 2^51: the only rounding.
FHELIUM_INLINE __m256d round_product(__m256d a, __m256d b) {
  return _mm256_sub_pd(_mm256_fmadd_pd(a, b, broadcast(kUnit)), broadcast(kUnit));
}

/// A modulus below 2^50 in every lane, and its inverse to 2^-53 of itself.
struct DoubleModulus {
  __m256d q, inverse;
  __m256i words;  // q again
};

template <class Word>
FHELIUM_INLINE DoubleModulus in_lanes(const Modulus<Word>& m) {
  const double q = (double)(i64)m.q;
  return {broadcast(q), broadcast(1.0 / q), broadcast((u64)m.q)};
}

/// x - q round(x / q) of an integer |x| < 2^52, |x / q| < 2^51: exact, at most q / 2 + |x| 2^-53.
FHELIUM_INLINE __m256d reduce(__m256d x, const DoubleModulus& m) {
  return _mm256_fnmadd_pd(round_product(x, m.inverse), m.q, x);
}

/// (-q, q) -> [0, q). A comparison, not the sign bit: -0 is not negative.
FHELIUM_INLINE __m256d lift_once(__m256d x, const DoubleModulus& m) {
  const __m256d negative = _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ);
  return _mm256_add_pd(x, _mm256_and_pd(negative, m.q));
}

/// The same as words: of the shifted words x and x + q the one that is not negative.
FHELIUM_INLINE __m256i to_residues(__m256d x, const DoubleModulus& m) {
  const __m256i unit = _mm256_castpd_si256(broadcast(kUnit));
  const __m256i words = _mm256_castpd_si256(_mm256_add_pd(x, broadcast(kUnit)));
  const __m256i lifted = _mm256_sub_epi64(words, _mm256_sub_epi64(unit, m.words));
  return unless_negative(_mm256_sub_epi64(words, unit), lifted);
}

// ---- sums of residues, as words ----------------------------------------------------------------

/// x in [0, 2q) -> [0, q).
FHELIUM_INLINE __m256i reduce_once(__m256i x, const DoubleModulus& m) {
  return unless_negative(_mm256_sub_epi64(x, m.words), x);
}
FHELIUM_INLINE __m256i add_modular(__m256i a, __m256i b, const DoubleModulus& m) {
  return reduce_once(_mm256_add_epi64(a, b), m);
}
FHELIUM_INLINE __m256i subtract_modular(__m256i a, __m256i b, const DoubleModulus& m) {
  const __m256i difference = _mm256_sub_epi64(a, b);
  return unless_negative(difference, _mm256_add_epi64(difference, m.words));
}
FHELIUM_INLINE __m256i negate_modular(__m256i a, const DoubleModulus& m) {
  const __m256i is_zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
  return _mm256_andnot_si256(is_zero, _mm256_sub_epi64(m.words, a));
}

// ---- products with a fixed factor --------------------------------------------------------------

/// w of [0, q) as the representative of (-q / 2, q / 2).
FHELIUM_INLINE double centred(u64 w, u64 q) {
  return w > q / 2 ? -(double)(i64)(q - w) : (double)(i64)w;
}

/// A centred factor w and v = w / q rounded, |v - w / q| <= 2^-55.
struct Factor {
  __m256d value, ratio;
};

FHELIUM_INLINE Factor fixed_factor(u64 w, u64 q) {
  const double value = centred(w, q);
  return {broadcast(value), broadcast(value / (double)(i64)q)};
}

/// What multiplies by w R^-1, for a w in Montgomery form: the standard factor.
template <class Word>
FHELIUM_INLINE Factor montgomery_factor(Word w, const Modulus<Word>& m) {
  constexpr int kBits = kWordBits<Word> == 64 ? 52 : 32;
  return fixed_factor(montgomery_reduce<kBits>((WideOf<Word>)w, m), m.q);
}

/// y w modulo q for an integer |y| <= 2^52: with b = y v rounded to an integer (one rounding), h =
/// y w rounded and l = y w - h exactly,
///   |y w - b q| <= q / 2 + |y| q 2^-55 <= 5/8 q,
///   h - b q = (y w - b q) - l is an integer and |l| <= |y w| 2^-53 <= q / 4, so it is below 2^53
///   and exact, as is its sum with l.
/// The result is y w - b q, at most 5/8 q, and at most 17/32 q for |y| < 2^50.
FHELIUM_INLINE __m256d multiply(__m256d y, const Factor& w, const DoubleModulus& m) {
  const __m256d high = _mm256_mul_pd(y, w.value), low = _mm256_fmsub_pd(y, w.value, high);
  const __m256d quotient = round_product(y, w.ratio);
  return _mm256_add_pd(_mm256_fnmadd_pd(quotient, m.q, high), low);
}

// ---- products of residues ----------------------------------------------------------------------

/// a b modulo q in (-q, q) for residues: as above, with the quotient h / q, |h / q| < 2^50, wrong
/// by at most 1/2 + 2^50 (2^-53 + 2^-53) = 3/4; |l| <= 2^47.
FHELIUM_INLINE __m256d multiply(__m256d a, __m256d b, const DoubleModulus& m) {
  const __m256d high = _mm256_mul_pd(a, b), low = _mm256_fmsub_pd(a, b, high);
  const __m256d quotient = round_product(high, m.inverse);
  return _mm256_add_pd(_mm256_fnmadd_pd(quotient, m.q, high), low);
}

/// a b R^-1 modulo q in (-q, q) for residues, given R^-1: a b is h 2^52 + l with |l| <= 2^51, both
/// exact, and so h + l R^-1. |h| <= q^2 2^-52 + 1/2 <= q / 4 + 1/2 (0 while q^2 < 2^51), and the
/// product with R^-1 is at most 9/16 q.
FHELIUM_INLINE __m256d montgomery_multiply(__m256d a, __m256d b, const Factor& radix_inverse,
                                           const DoubleModulus& m) {
  const __m256d offset = broadcast(0x1.8p104);  // whose unit is 2^52
  const __m256d high = _mm256_sub_pd(_mm256_fmadd_pd(a, b, offset), offset);
  const __m256d low = multiply(_mm256_fmsub_pd(a, b, high), radix_inverse, m);
  return _mm256_fmadd_pd(high, broadcast(0x1p-52), low);
}

// ---- sums of products --------------------------------------------------------------------------

/// The value (high - offset) + low, exactly. With b the bits of q the offset is 1.25 2^(52 + b). A
/// sum whose terms have absolute values adding up to at most 3 2^(50 + b) keeps `high` within
/// [2^(51 + b), 2^(53 + b)], where it is a multiple of 2^(b - 1): a term rounds it by at most
/// 2^(b - 1), and its change is exact. `low` takes up what was rounded off, exactly while it stays
/// below 2^53, that is for fewer than 2^(54 - b) terms.
struct Sum {
  __m256d high, low;
};

struct SumModulus : DoubleModulus {
  __m256d offset;
};

FHELIUM_INLINE int bit_length(u64 q) { return 64 - __builtin_clzll(q); }

template <class Word>
FHELIUM_INLINE SumModulus in_sums(const Modulus<Word>& m) {
  const u64 exponent = (u64)(1023 + 52 + bit_length(m.q)) << 52, quarter = (u64)1 << 50;
  return {in_lanes(m), _mm256_castsi256_pd(broadcast(exponent | quarter))};
}

/// So many products of residues fill the room.
FHELIUM_INLINE i64 most_products(const Modulus<u64>& m) { return (i64)3 << (50 - bit_length(m.q)); }

FHELIUM_INLINE Sum no_products(const SumModulus& m) { return {m.offset, _mm256_setzero_pd()}; }

FHELIUM_INLINE void add_product(Sum& sum, __m256d a, __m256d b) {
  const __m256d high = _mm256_fmadd_pd(a, b, sum.high);
  sum.low = _mm256_add_pd(sum.low, _mm256_fmadd_pd(a, b, _mm256_sub_pd(sum.high, high)));
  sum.high = high;
}

/// Make room for more terms: take round(value / q) q away, and from `low` all but 2^(b - 1).
FHELIUM_INLINE void fold(Sum& sum, const SumModulus& m) {
  const __m256d value = _mm256_sub_pd(m.offset, sum.high);
  add_product(sum, round_nearest(_mm256_mul_pd(value, m.inverse)), m.q);
  const __m256d high = _mm256_add_pd(sum.high, sum.low);
  sum.low = _mm256_add_pd(sum.low, _mm256_sub_pd(sum.high, high));
  sum.high = high;
}

/// A representative of the sum modulo q. The quotient, of the size of value / q <= 3 2^50, is wrong
/// by at most 1/2 and two relative errors of 2^-53: the result is at most 5/4 q, and below q for a
/// value / q up to 15/8 2^50.
FHELIUM_INLINE __m256d reduce(const Sum& sum, const SumModulus& m) {
  const __m256d value = _mm256_sub_pd(sum.high, m.offset);
  const __m256d ratio = _mm256_fmadd_pd(value, m.inverse, _mm256_mul_pd(sum.low, m.inverse));
  const __m256d rest = _mm256_fnmadd_pd(round_nearest(ratio), m.q, value);
  return _mm256_add_pd(rest, sum.low);
}

// ---- any 64-bit word ---------------------------------------------------------------------------

/// Words to representatives in (-q, q): a high part, a multiple of 2^32, and a low part below 2^32
/// are doubles. The first quotient leaves at most q / 2 + 2^64 2^-52 of the high part, an integer.
template <bool kSigned>
FHELIUM_INLINE __m256d reduce_words(__m256i x, const DoubleModulus& m) {
  // 2^84 has unit 2^32, 2^52 has unit 1; a flipped sign bit adds 2^63.
  const __m256i high_bits = _mm256_castpd_si256(broadcast(kSigned ? 0x1.00000800p84 : 0x1p84));
  const __m256d high_words =
      _mm256_castsi256_pd(_mm256_xor_si256(_mm256_srli_epi64(x, 32), high_bits));
  const __m256d high = _mm256_sub_pd(high_words, broadcast(kSigned ? 0x1.00000800p84 : 0x1p84));
  const __m256i low_bits = _mm256_castpd_si256(broadcast(0x1p52));
  const __m256d low =
      _mm256_sub_pd(_mm256_castsi256_pd(_mm256_blend_epi32(x, low_bits, 0xaa)), broadcast(0x1p52));
  const __m256d quotient = round_nearest(_mm256_mul_pd(high, m.inverse));
  return reduce(_mm256_add_pd(_mm256_fnmadd_pd(quotient, m.q, high), low), m);
}

}  // namespace fhelium
