#include "random/gaussian_table.h"
#include "random/kernels.h"

namespace fhelium {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "streams are little-endian words");

constexpr i64 kBlocks = 4;

// ---- ChaCha20 (RFC 8439) -----------------------------------------------------------------------

typedef u32 Lanes __attribute__((vector_size(4 * kBlocks)));  // the same word of four blocks

FHELIUM_INLINE Lanes in_all(u32 x) { return Lanes{} + x; }
FHELIUM_INLINE Lanes add_words(Lanes x, Lanes y) { return x + y; }
FHELIUM_INLINE Lanes rotate(Lanes x, int bits) { return (x << bits) | (x >> (32 - bits)); }

FHELIUM_INLINE void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
  a += b, d = rotate(d ^ a, 16);
  c += d, b = rotate(b ^ c, 12);
  a += b, d = rotate(d ^ a, 8);
  c += d, b = rotate(b ^ c, 7);
}

}  // namespace
}  // namespace fhelium

#include "random/vector_streams.h"

namespace fhelium {
namespace {

void many_blocks(void* out, const StreamKey& key, const u32* nonce, u32 counter) {
  Lanes x[16];
  block_words(x, key, nonce, Lanes{0, 1, 2, 3} + counter);
  for (int k = 0; k < 16; ++k)
    for (int block = 0; block < kBlocks; ++block) {
      const u32 word = x[k][block];
      __builtin_memcpy((char*)out + 64 * block + 4 * k, &word, sizeof word);
    }
}

// ---- samplers ----------------------------------------------------------------------------------

/// Accept a word below the largest multiple of q: its remainder is then exactly uniform. The values
/// are public, so the rejections may show in the running time.
template <class Word>
void uniform(Word* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
             const Modulus<Word>& m) {
  const u64 limit = m.q * m.reciprocal;
  u64 words[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    bool waiting[kTile];
    for (i64 k = 0; k < size; ++k) waiting[k] = true;
    i64 left = size;
    // A word is accepted with probability above 3/4: the 24 bits of the attempt do not run out.
    for (u32 attempt = 0; left > 0; ++attempt) {
      draw(words, first + begin, key, position, attempt);
      for (i64 k = 0; k < size; ++k) {
        if (!waiting[k] || words[k] >= limit) continue;
        out[begin + k] = reduce_word(words[k], m);
        waiting[k] = false;
        --left;
      }
    }
  }
}

void ternary(i64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position) {
  u64 words[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    draw(words, first + begin, key, position, 0);
    // floor(3 w / 2^64): each value has probability 1/3 up to 2^-64.
    for (i64 k = 0; k < size; ++k)
      out[begin + k] = static_cast<i64>(multiply_high(words[k], 3)) - 1;
  }
}

/// Magnitude by inversion of the cumulative table, read in full whatever the value; its lowest
/// random bit is the sign, which zero ignores, so zero keeps its single weight.
void gaussian(i64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position) {
  u64 high[kTile], low[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    draw(high, first + begin, key, position, 0);
    draw(low, first + begin, key, position, 1);
    for (i64 k = 0; k < size; ++k) {
      const u128 word = (static_cast<u128>(high[k]) << 64 | low[k]) >> 1;
      u64 below = 0;  // how many thresholds exceed the word
#pragma GCC unroll 8
      for (int t = 0; t < kGaussianThresholds; ++t) {
        const u128 threshold = static_cast<u128>(kGaussianTable[t][0]) << 64 | kGaussianTable[t][1];
        below += static_cast<u64>((word - threshold) >> 127);  // the borrow
      }
      const i64 magnitude = kGaussianThresholds - static_cast<i64>(below);
      const i64 sign = static_cast<i64>(low[k] & 1);
      out[begin + k] = (magnitude ^ -sign) + sign;
    }
  }
}

}  // namespace

const RandomKernels kRandomKernelsPortable = {
    blocks, uniform<u64>, uniform<u32>, ternary, gaussian, rounded_gaussian_row,
};

}  // namespace fhelium
