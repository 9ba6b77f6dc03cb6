// 32-bit residues eight at a time, for translation units compiled for AVX2; AVX-512 machines take
// them as well. R = 2^32. Products have 64 bits: of the even lanes and of the odd ones.
#pragma once
#include <immintrin.h>

#include "common/modular_arithmetic.h"

namespace fhelium {

constexpr i64 kLanes = 8;

/// Which lanes of a vector are in memory: all of them, or the first ones at the end of a row.
struct Whole {};
struct Part {
  __m256i lanes;
};
FHELIUM_INLINE Part first_lanes(i64 count) {
  return {
      _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0))};
}

FHELIUM_INLINE __m256i load(Whole, const u32* p) { return _mm256_loadu_si256((const __m256i*)p); }
FHELIUM_INLINE __m256i load(Part part, const u32* p) {
  return _mm256_maskload_epi32((const int*)p, part.lanes);
}
FHELIUM_INLINE void store(Whole, u32* p, __m256i x) { _mm256_storeu_si256((__m256i*)p, x); }
FHELIUM_INLINE void store(Part part, u32* p, __m256i x) {
  _mm256_maskstore_epi32((int*)p, part.lanes, x);
}
FHELIUM_INLINE void stream(u32* p, __m256i x) { _mm256_stream_si256((__m256i*)p, x); }
FHELIUM_INLINE __m256i broadcast(u32 x) { return _mm256_set1_epi32((int)x); }

}  // namespace fhelium

#include "common/vector_rows.h"

namespace fhelium {

/// A modulus below 2^31 in every lane.
struct WordModulus {
  __m256i q, inverse, reciprocal;  // q, q^-1 mod 2^32, floor(2^32 / q)
};

FHELIUM_INLINE WordModulus in_lanes(const Modulus<u32>& m) {
  return {broadcast(m.q), broadcast(m.inverse), broadcast((u32)(m.reciprocal >> 32))};
}

/// x in (-q, q), as two's complement, or in [0, 2q) -> [0, q): of x and x +- q the smaller as an
/// unsigned word.
FHELIUM_INLINE __m256i lift_once(__m256i x, const WordModulus& m) {
  return _mm256_min_epu32(x, _mm256_add_epi32(x, m.q));
}
FHELIUM_INLINE __m256i reduce_once(__m256i x, __m256i q) {
  return _mm256_min_epu32(x, _mm256_sub_epi32(x, q));
}
FHELIUM_INLINE __m256i add_modular(__m256i a, __m256i b, const WordModulus& m) {
  return reduce_once(_mm256_add_epi32(a, b), m.q);
}
FHELIUM_INLINE __m256i subtract_modular(__m256i a, __m256i b, const WordModulus& m) {
  return lift_once(_mm256_sub_epi32(a, b), m);
}
FHELIUM_INLINE __m256i negate_modular(__m256i a, const WordModulus& m) {
  return reduce_once(_mm256_sub_epi32(m.q, a), m.q);  // q becomes 0
}

/// 64-bit numbers, or words of which the low halves count.
struct Pairs {
  __m256i even, odd;
};

FHELIUM_INLINE Pairs in_pairs(__m256i x) { return {x, _mm256_srli_epi64(x, 32)}; }
FHELIUM_INLINE Pairs in_pairs_all(u32 x) { return {broadcast(x), broadcast(x)}; }
FHELIUM_INLINE Pairs no_products() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }

FHELIUM_INLINE Pairs multiply(const Pairs& a, const Pairs& b) {
  return {_mm256_mul_epu32(a.even, b.even), _mm256_mul_epu32(a.odd, b.odd)};
}
FHELIUM_INLINE void add_product(Pairs& sum, const Pairs& a, const Pairs& b) {
  const Pairs product = multiply(a, b);
  sum = {_mm256_add_epi64(sum.even, product.even), _mm256_add_epi64(sum.odd, product.odd)};
}

/// The high halves as words.
FHELIUM_INLINE __m256i high_halves(const Pairs& x) {
  return _mm256_blend_epi32(_mm256_srli_epi64(x.even, 32), x.odd, 0xaa);
}

/// x R^-1 mod q in [0, q) for x < q R: both low halves agree.
FHELIUM_INLINE __m256i montgomery_reduce(const Pairs& x, const WordModulus& m) {
  const Pairs q = {m.q, m.q}, t = multiply(x, {m.inverse, m.inverse}), taken = multiply(t, q);
  const Pairs difference = {_mm256_sub_epi64(x.even, taken.even),
                            _mm256_sub_epi64(x.odd, taken.odd)};
  return lift_once(high_halves(difference), m);
}

/// a b R^-1 mod q in [0, q) for a b < q R.
FHELIUM_INLINE __m256i montgomery_multiply(const Pairs& a, const Pairs& b, const WordModulus& m) {
  return montgomery_reduce(multiply(a, b), m);
}

/// So many products of residues stay below q R: at least two.
FHELIUM_INLINE i64 most_products(const Modulus<u32>& m) { return (i64)(m.reciprocal >> 32); }

}  // namespace fhelium
