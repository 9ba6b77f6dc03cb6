// Samplers with AVX-512: sixteen ChaCha20 blocks at once, eight coefficients at once. As in the
// portable kernels, no branch and no index depends on a secret word.
#include "common/ifma.h"
#include "random/gaussian_table.h"
#include "random/kernels.h"

namespace fhelium {
namespace {

constexpr i64 kBlocks = 16;

// ---- ChaCha20 (RFC 8439) -----------------------------------------------------------------------

FHELIUM_INLINE __m512i in_all(u32 x) { return _mm512_set1_epi32((int)x); }
FHELIUM_INLINE __m512i add_words(__m512i x, __m512i y) { return _mm512_add_epi32(x, y); }

FHELIUM_INLINE void quarter_round(__m512i& a, __m512i& b, __m512i& c, __m512i& d) {
  a = _mm512_add_epi32(a, b), d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 16);
  c = _mm512_add_epi32(c, d), b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 12);
  a = _mm512_add_epi32(a, b), d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 8);
  c = _mm512_add_epi32(c, d), b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 7);
}

/// x[k] holds word k of sixteen blocks; afterwards x[k] holds the sixteen words of block k.
FHELIUM_INLINE void transpose(__m512i (&x)[16]) {
  __m512i pairs[16], fours[16];
#pragma GCC unroll 8
  for (int k = 0; k < 16; k += 2) {
    pairs[k] = _mm512_unpacklo_epi32(x[k], x[k + 1]);  // blocks 0, 1 of each four
    pairs[k + 1] = _mm512_unpackhi_epi32(x[k], x[k + 1]);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 16; k += 4) {  // fours[k + b]: words k .. k + 3 of block b of each four
    fours[k] = _mm512_unpacklo_epi64(pairs[k], pairs[k + 2]);
    fours[k + 1] = _mm512_unpackhi_epi64(pairs[k], pairs[k + 2]);
    fours[k + 2] = _mm512_unpacklo_epi64(pairs[k + 1], pairs[k + 3]);
    fours[k + 3] = _mm512_unpackhi_epi64(pairs[k + 1], pairs[k + 3]);
  }
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    const __m512i low0 = _mm512_shuffle_i32x4(fours[b], fours[4 + b], 0x44);
    const __m512i low1 = _mm512_shuffle_i32x4(fours[8 + b], fours[12 + b], 0x44);
    const __m512i high0 = _mm512_shuffle_i32x4(fours[b], fours[4 + b], 0xee);
    const __m512i high1 = _mm512_shuffle_i32x4(fours[8 + b], fours[12 + b], 0xee);
    x[b] = _mm512_shuffle_i32x4(low0, low1, 0x88);
    x[4 + b] = _mm512_shuffle_i32x4(low0, low1, 0xdd);
    x[8 + b] = _mm512_shuffle_i32x4(high0, high1, 0x88);
    x[12 + b] = _mm512_shuffle_i32x4(high0, high1, 0xdd);
  }
}

}  // namespace
}  // namespace fhelium

#include "random/vector_samplers.h"

namespace fhelium {
namespace {

void many_blocks(void* out, const StreamKey& key, const u32* nonce, u32 counter) {
  const __m512i ascending = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i counters = add_words(ascending, in_all(counter));
  __m512i x[16];
  block_words(x, key, nonce, counters);
  transpose(x);
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) _mm512_storeu_si512((char*)out + 64 * k, x[k]);
}

// ---- samplers ----------------------------------------------------------------------------------

FHELIUM_INLINE void store_values(Whole, u64* p, __m512i x) { store(Whole{}, p, x); }
FHELIUM_INLINE void store_values(Part part, u64* p, __m512i x) { store(part, p, x); }
FHELIUM_INLINE void store_values(Whole, u32* p, __m512i x) {
  _mm512_mask_cvtepi64_storeu_epi32(p, (__mmask8)0xff, x);
}
FHELIUM_INLINE void store_values(Part part, u32* p, __m512i x) {
  _mm512_mask_cvtepi64_storeu_epi32(p, part.lanes, x);
}

template <class Word>
void uniform_row(Word* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
                 const Modulus<u64>& m) {
  const u64 limit = m.q * m.reciprocal;
  const WordReduction reduction = word_reduction(m, false);
  const __m512i largest = broadcast(limit - 1);
  alignas(64) u64 words[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    draw(words, first + begin, key, position, 0);
    for_vectors(smaller(kTile, n - begin), [&](i64 k, auto lanes) {
      const __m512i word = load(lanes, words + k);
      store_values(lanes, out + begin + k, reduce_words(word, reduction));
      const __mmask8 rejected = _mm512_cmpgt_epu64_mask(word, largest);
      if (rejected) [[unlikely]]
        for (i64 lane = 0; lane < kLanes; ++lane)
          if (rejected >> lane & 1) {
            const i64 j = begin + k + lane;
            out[j] = (Word)reduce_word(redraw(first + j, key, position, limit), m);
          }
    });
  }
}

FHELIUM_INLINE Vector ternary_values(Vector words) {
  const Vector third = broadcast(0x5555555555555555u), two_thirds = broadcast(0xaaaaaaaaaaaaaaaau);
  const Vector one = broadcast(1), minus_one = broadcast(~(u64)0);
  const __mmask8 past1 = _mm512_cmpgt_epu64_mask(words, third);
  const __mmask8 past2 = _mm512_cmpgt_epu64_mask(words, two_thirds);
  const Vector value = _mm512_mask_add_epi64(minus_one, past1, minus_one, one);
  return _mm512_mask_add_epi64(value, past2, value, one);
}

/// The high words of the last thresholds are all alike.
constexpr u64 kLargestHigh = ~(u64)0 >> 1;

/// The thresholds in front of those, whose high words differ, and so much more that no word passes
/// what stands behind them: a table for four registers.
struct GaussianLookup {
  int count = 0;
  alignas(64) u64 high[32], low[32];

  constexpr GaussianLookup() : high(), low() {
    while (kGaussianTable[count][0] != kLargestHigh) ++count;
    for (int t = 0; t < 32; ++t) {
      high[t] = t < count ? kGaussianTable[t][0] : ~(u64)0;
      low[t] = t < count ? kGaussianTable[t][1] : 0;
    }
  }
};
constexpr GaussianLookup kLookup;
static_assert(kLookup.count < 32);

/// table[index] for index < 32.
FHELIUM_INLINE __m512i look_up(const u64 (&table)[32], __m512i index) {
  const auto part = [&](int k) { return _mm512_load_si512(table + k); };
  const __m512i front = _mm512_permutex2var_epi64(part(0), index, part(8));
  const __m512i back = _mm512_permutex2var_epi64(part(16), index, part(24));
  return _mm512_mask_blend_epi64(_mm512_cmpgt_epu64_mask(index, broadcast(15)), front, back);
}

/// First the high words alone are compared; at most the next threshold can have the same one, but
/// for the last ones, which all have.
FHELIUM_INLINE void magnitudes(Vector (&found)[kTogether], const Vector (&high)[kTogether],
                               const Vector (&low)[kTogether]) {
  const Vector one = broadcast(1);
  Vector word_high[kTogether], word_low[kTogether];
  __mmask8 last[kTogether];
#pragma GCC unroll 4
  for (int v = 0; v < kTogether; ++v) {
    word_high[v] = _mm512_srli_epi64(high[v], 1);
    word_low[v] = _mm512_or_si512(_mm512_slli_epi64(high[v], 63), _mm512_srli_epi64(low[v], 1));
    found[v] = zero();
  }
  const auto count = [&](int v, __mmask8 reached) {
    found[v] = _mm512_mask_add_epi64(found[v], reached, found[v], one);
  };
  for (int t = 0; t < kLookup.count; ++t) {
    const Vector bound = broadcast(kLookup.high[t]);
    for (int v = 0; v < kTogether; ++v) count(v, _mm512_cmpgt_epu64_mask(word_high[v], bound));
  }
  for (int v = 0; v < kTogether; ++v) {
    const __mmask8 tie = _mm512_cmpeq_epu64_mask(word_high[v], look_up(kLookup.high, found[v]));
    count(v, _mm512_mask_cmpge_epu64_mask(tie, word_low[v], look_up(kLookup.low, found[v])));
    last[v] = _mm512_cmpeq_epu64_mask(word_high[v], broadcast(kLargestHigh));
  }
  for (int t = kLookup.count; t < kGaussianThresholds; ++t) {
    const Vector bound = broadcast(kGaussianTable[t][1]);
    for (int v = 0; v < kTogether; ++v)
      count(v, _mm512_mask_cmpge_epu64_mask(last[v], word_low[v], bound));
  }
}

FHELIUM_INLINE Vector with_sign(Vector magnitude, Vector low) {
  const Vector sign = _mm512_sub_epi64(zero(), _mm512_and_si512(low, broadcast(1)));
  return _mm512_sub_epi64(_mm512_xor_si512(magnitude, sign), sign);
}

}  // namespace

const RandomKernels kRandomKernelsAvx512 = kVectorKernels;

}  // namespace fhelium
