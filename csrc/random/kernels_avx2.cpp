// Samplers with AVX2: eight ChaCha20 blocks at once, four coefficients at once. As in the portable
// kernels, no branch and no index depends on a secret word.
#include "common/fma.h"
#include "random/gaussian_table.h"
#include "random/kernels.h"

namespace fhelium {
namespace {

constexpr i64 kBlocks = 8;

// ---- ChaCha20 (RFC 8439) -----------------------------------------------------------------------

FHELIUM_INLINE __m256i in_all(u32 x) { return _mm256_set1_epi32((int)x); }
FHELIUM_INLINE __m256i add_words(__m256i x, __m256i y) { return _mm256_add_epi32(x, y); }

/// Rotations by whole bytes are permutations of bytes.
FHELIUM_INLINE __m256i rotate16(__m256i x) {
  return _mm256_shuffle_epi8(
      x, _mm256_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8,
                         11, 10, 5, 4, 7, 6, 1, 0, 3, 2));
}
FHELIUM_INLINE __m256i rotate8(__m256i x) {
  return _mm256_shuffle_epi8(
      x, _mm256_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3, 14, 13, 12, 15, 10,
                         9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3));
}
template <int kBits>
FHELIUM_INLINE __m256i rotate(__m256i x) {
  return _mm256_or_si256(_mm256_slli_epi32(x, kBits), _mm256_srli_epi32(x, 32 - kBits));
}

FHELIUM_INLINE void quarter_round(__m256i& a, __m256i& b, __m256i& c, __m256i& d) {
  a = _mm256_add_epi32(a, b), d = rotate16(_mm256_xor_si256(d, a));
  c = _mm256_add_epi32(c, d), b = rotate<12>(_mm256_xor_si256(b, c));
  a = _mm256_add_epi32(a, b), d = rotate8(_mm256_xor_si256(d, a));
  c = _mm256_add_epi32(c, d), b = rotate<7>(_mm256_xor_si256(b, c));
}

/// x[k] holds word k of eight blocks; afterwards x[k] holds the eight words of block k.
FHELIUM_INLINE void transpose(__m256i* x) {
  __m256i pairs[8], fours[8];
#pragma GCC unroll 4
  for (int k = 0; k < 8; k += 2) {
    pairs[k] = _mm256_unpacklo_epi32(x[k], x[k + 1]);  // blocks 0, 1 of each four
    pairs[k + 1] = _mm256_unpackhi_epi32(x[k], x[k + 1]);
  }
#pragma GCC unroll 2
  for (int k = 0; k < 8; k += 4) {  // fours[k + b]: words k .. k + 3 of block b of each four
    fours[k] = _mm256_unpacklo_epi64(pairs[k], pairs[k + 2]);
    fours[k + 1] = _mm256_unpackhi_epi64(pairs[k], pairs[k + 2]);
    fours[k + 2] = _mm256_unpacklo_epi64(pairs[k + 1], pairs[k + 3]);
    fours[k + 3] = _mm256_unpackhi_epi64(pairs[k + 1], pairs[k + 3]);
  }
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    x[b] = _mm256_permute2x128_si256(fours[b], fours[4 + b], 0x20);
    x[4 + b] = _mm256_permute2x128_si256(fours[b], fours[4 + b], 0x31);
  }
}

}  // namespace
}  // namespace fhelium

#include "random/vector_samplers.h"

namespace fhelium {
namespace {

void many_blocks(void* out, const StreamKey& key, const u32* nonce, u32 counter) {
  const __m256i ascending = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  const __m256i counters = add_words(ascending, in_all(counter));
  __m256i x[16];
  block_words(x, key, nonce, counters);
  transpose(x);
  transpose(x + 8);
#pragma GCC unroll 8
  for (int b = 0; b < 8; ++b) {
    _mm256_storeu_si256((__m256i*)((char*)out + 64 * b), x[b]);
    _mm256_storeu_si256((__m256i*)((char*)out + 64 * b + 32), x[8 + b]);
  }
}

// ---- samplers ----------------------------------------------------------------------------------

/// Compared as signed words these are ordered as the unsigned ones.
FHELIUM_INLINE __m256i ordered(__m256i x) { return _mm256_xor_si256(x, broadcast((u64)1 << 63)); }
FHELIUM_INLINE __m256i ordered(u64 x) { return broadcast(x ^ (u64)1 << 63); }

template <class Word>
void uniform_row(Word* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
                 const Modulus<u64>& modulus) {
  const u64 limit = modulus.q * modulus.reciprocal;
  const DoubleModulus m = in_lanes(modulus);
  const __m256i largest = ordered(limit - 1);
  alignas(32) u64 words[kTile], values[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    draw(words, first + begin, key, position, 0);
    __m256i rejected = _mm256_setzero_si256();
    for (i64 k = 0; k < kTile; k += kLanes) {
      const __m256i word = load(Whole{}, words + k);
      store(Whole{}, values + k, to_residues(reduce_words<false>(word, m), m));
      rejected = _mm256_or_si256(rejected, _mm256_cmpgt_epi64(ordered(word), largest));
    }
    for (i64 k = 0; k < size; ++k) out[begin + k] = (Word)values[k];
    if (!_mm256_testz_si256(rejected, rejected)) [[unlikely]]
      for (i64 k = 0; k < size; ++k)
        if (words[k] >= limit) {
          const u64 word = redraw(first + begin + k, key, position, limit);
          out[begin + k] = (Word)reduce_word(word, modulus);
        }
  }
}

FHELIUM_INLINE Vector ternary_values(Vector words) {
  const Vector third = ordered(0x5555555555555555u), two_thirds = ordered(0xaaaaaaaaaaaaaaaau);
  const Vector word = ordered(words);
  const Vector past =
      _mm256_add_epi64(_mm256_cmpgt_epi64(word, third), _mm256_cmpgt_epi64(word, two_thirds));
  return _mm256_sub_epi64(broadcast(~(u64)0), past);
}

FHELIUM_INLINE void magnitudes(Vector (&found)[kTogether], const Vector (&high)[kTogether],
                               const Vector (&low)[kTogether]) {
  Vector word_high[kTogether], word_low[kTogether];
#pragma GCC unroll 4
  for (int v = 0; v < kTogether; ++v) {
    word_high[v] = _mm256_srli_epi64(high[v], 1);
    word_low[v] =
        ordered(_mm256_or_si256(_mm256_slli_epi64(high[v], 63), _mm256_srli_epi64(low[v], 1)));
    found[v] = broadcast((u64)kGaussianThresholds);
  }
  for (int t = 0; t < kGaussianThresholds; ++t) {
    const Vector bound_high = broadcast(kGaussianTable[t][0]);
    const Vector bound_low = ordered(kGaussianTable[t][1]);
    // Below the threshold: the high word less the borrow is.
#pragma GCC unroll 4
    for (int v = 0; v < kTogether; ++v) {
      const Vector borrow = _mm256_cmpgt_epi64(bound_low, word_low[v]);
      const Vector rest = _mm256_add_epi64(word_high[v], borrow);
      found[v] = _mm256_add_epi64(found[v], _mm256_cmpgt_epi64(bound_high, rest));
    }
  }
}

FHELIUM_INLINE Vector with_sign(Vector magnitude, Vector low) {
  const Vector sign =
      _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(low, broadcast((u64)1)));
  return _mm256_sub_epi64(_mm256_xor_si256(magnitude, sign), sign);
}

}  // namespace

const RandomKernels kRandomKernelsAvx2 = kVectorKernels;

}  // namespace fhelium
