// Residues eight at a time with AVX-512 IFMA, for translation units compiled for it. Moduli are
// below 2^50 and R = 2^52: products of two numbers below 2^52 come as a high and a low half of 52
// bits, each added to a 64-bit accumulator, so a sum of products needs one reduction at its end.
#pragma once
#include <immintrin.h>

#include "common/modular_arithmetic.h"

namespace fhelium {

constexpr i64 kLanes = 8;

/// Which lanes of a vector are in memory: all of them, or the first ones at the end of a row.
struct Whole {};
struct Part {
  __mmask8 lanes;
};
FHELIUM_INLINE Part first_lanes(i64 count) { return {(__mmask8)((1u << count) - 1)}; }

FHELIUM_INLINE __m512i load(Whole, const u64* p) { return _mm512_loadu_si512(p); }
FHELIUM_INLINE __m512i load(Part part, const u64* p) {
  return _mm512_maskz_loadu_epi64(part.lanes, p);
}
FHELIUM_INLINE void store(Whole, u64* p, __m512i x) { _mm512_storeu_si512(p, x); }
FHELIUM_INLINE void store(Part part, u64* p, __m512i x) {
  _mm512_mask_storeu_epi64(p, part.lanes, x);
}
FHELIUM_INLINE void stream(u64* p, __m512i x) { _mm512_stream_si512((__m512i*)p, x); }
FHELIUM_INLINE __m512i broadcast(u64 x) { return _mm512_set1_epi64((i64)x); }
FHELIUM_INLINE __m512i zero() { return _mm512_setzero_si512(); }
/// a b + c, rounded once.
FHELIUM_INLINE __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }

}  // namespace fhelium

#include "common/vector_rows.h"

namespace fhelium {

/// A modulus below 2^50 in every lane.
struct VectorModulus {
  __m512i q, inverse, reciprocal;  // q, q^-1 mod 2^52, floor(2^52 / q)
};

FHELIUM_INLINE VectorModulus in_lanes(const Modulus<u64>& m) {
  // The multiplier reads the low 52 bits of q^-1 mod 2^64.
  return {broadcast(m.q), broadcast(m.inverse), broadcast(m.reciprocal >> 12)};
}

/// high 2^52 + low, a sum of products; both halves may pass 52 bits.
struct Halves {
  __m512i high, low;
};

FHELIUM_INLINE Halves no_products() { return {zero(), zero()}; }

FHELIUM_INLINE void add_product(Halves& sum, __m512i a, __m512i b) {
  sum.low = _mm512_madd52lo_epu64(sum.low, a, b);
  sum.high = _mm512_madd52hi_epu64(sum.high, a, b);
}

/// x in (-q, q), as two's complement, or in [0, 2q) -> [0, q): of x and x +- q the smaller as an
/// unsigned word.
FHELIUM_INLINE __m512i lift_once(__m512i x, const VectorModulus& m) {
  return _mm512_min_epu64(x, _mm512_add_epi64(x, m.q));
}
FHELIUM_INLINE __m512i reduce_once(__m512i x, __m512i q) {
  return _mm512_min_epu64(x, _mm512_sub_epi64(x, q));
}

FHELIUM_INLINE __m512i add_modular(__m512i a, __m512i b, __m512i q) {
  return reduce_once(_mm512_add_epi64(a, b), q);
}
FHELIUM_INLINE __m512i add_modular(__m512i a, __m512i b, const VectorModulus& m) {
  return add_modular(a, b, m.q);
}
FHELIUM_INLINE __m512i subtract_modular(__m512i a, __m512i b, const VectorModulus& m) {
  return lift_once(_mm512_sub_epi64(a, b), m);
}
FHELIUM_INLINE __m512i negate_modular(__m512i a, const VectorModulus& m) {
  return _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(a, a), m.q, a);  // 0 stays 0
}

/// x < 2^52 -> a representative in [0, 2q): the estimated quotient is at most one short.
FHELIUM_INLINE __m512i reduce_lazy(__m512i x, const VectorModulus& m) {
  const __m512i quotient = _mm512_madd52hi_epu64(zero(), x, m.reciprocal);
  return _mm512_sub_epi64(x, _mm512_madd52lo_epu64(zero(), quotient, m.q));
}

/// Carry what the low half holds above 52 bits: the high half is then floor(sum / 2^52). The low
/// half keeps its upper bits, which no reduction reads.
FHELIUM_INLINE __m512i carried_high(const Halves& sum) {
  return _mm512_add_epi64(sum.high, _mm512_srli_epi64(sum.low, 52));
}

/// The sum's value times R^-1 modulo q, in (high - q, high]: with high = carried_high(sum) below q,
/// that is, a sum below q R, in (-q, q). Both low halves agree in their last 52 bits.
FHELIUM_INLINE __m512i montgomery_signed(__m512i high, __m512i low, const VectorModulus& m) {
  const __m512i t = _mm512_madd52lo_epu64(zero(), low, m.inverse);
  return _mm512_sub_epi64(high, _mm512_madd52hi_epu64(zero(), t, m.q));
}

/// a b R^-1 mod q in (-q, q) for a b < q R; a, b < 2^52.
FHELIUM_INLINE __m512i montgomery_multiply_signed(__m512i a, __m512i b, const VectorModulus& m) {
  Halves product = no_products();
  add_product(product, a, b);
  return montgomery_signed(product.high, product.low, m);
}

/// The same in [0, q).
FHELIUM_INLINE __m512i montgomery_multiply(__m512i a, __m512i b, const VectorModulus& m) {
  return lift_once(montgomery_multiply_signed(a, b, m), m);
}

/// After so many products of residues a sum is folded: their high halves are below 2^48, and with
/// a folded rest below 2^50 and the carries they stay below 2^52.
constexpr i64 kFoldEvery = 8;

/// Bring the high half below q and the low half below 2^52; the value modulo q stays.
FHELIUM_INLINE void fold(Halves& sum, const VectorModulus& m) {
  sum.high = reduce_once(reduce_lazy(carried_high(sum), m), m.q);
  sum.low = _mm512_and_si512(sum.low, broadcast(((u64)1 << 52) - 1));
}

/// What any 64-bit integer needs to come below q: x = x_1 2^52 + x_0 is x_0 (R mod q) + x_1 (R^2
/// mod q), divided by R, plus a constant that says what the top bit stands for.
struct WordReduction {
  VectorModulus modulus;
  __m512i one, square, offset;
};

/// Unsigned words, or signed ones shifted by 2^63 into unsigned ones.
FHELIUM_INLINE WordReduction word_reduction(const Modulus<u64>& m, bool is_signed) {
  const u64 shift = is_signed ? negate_modular(reduce_word((u64)1 << 63, m), m.q) : 0;
  return {in_lanes(m), broadcast(m.montgomery_one), broadcast(m.montgomery_square),
          broadcast(shift)};
}

/// The sum is at most (q - 1) (2 R + 2^12), so its high part at most (q - 1) (2 + 2^-40), and r
/// lies in (-q, 3 q).
FHELIUM_INLINE __m512i reduce_words(__m512i x, const WordReduction& by) {
  const __m512i low_bits = broadcast(((u64)1 << 52) - 1);
  Halves sum = {by.offset, zero()};
  add_product(sum, _mm512_and_si512(x, low_bits), by.one);
  add_product(sum, _mm512_srli_epi64(x, 52), by.square);
  const __m512i r = montgomery_signed(carried_high(sum), sum.low, by.modulus);
  const __m512i q = by.modulus.q, lifted = _mm512_add_epi64(r, q);  // in (0, 4 q)
  return reduce_once(reduce_once(lifted, _mm512_add_epi64(q, q)), q);
}

}  // namespace fhelium
