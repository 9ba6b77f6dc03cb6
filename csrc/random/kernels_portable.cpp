#include "random/gaussian_table.h"
#include "random/kernels.h"

namespace fhelium {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "streams are little-endian words");

constexpr i64 kWordsPerBlock = 8;  // 64-bit words
constexpr i64 kTile = 64;          // coefficients drawn at once: eight blocks

// ---- ChaCha20 (RFC 8439) -----------------------------------------------------------------------

constexpr int kLanes = 4;
typedef u32 Lanes __attribute__((vector_size(4 * kLanes)));  // the same word of four blocks

FHELIUM_INLINE Lanes rotate(Lanes x, int bits) { return (x << bits) | (x >> (32 - bits)); }

FHELIUM_INLINE void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
  a += b, d = rotate(d ^ a, 16);
  c += d, b = rotate(b ^ c, 12);
  a += b, d = rotate(d ^ a, 8);
  c += d, b = rotate(b ^ c, 7);
}

/// Blocks counter .. counter + 3.
void four_blocks(u32* out, const StreamKey& key, const u32* nonce, u32 counter) {
  const Lanes zero = {};
  Lanes start[16], x[16];
  start[0] = zero + 0x61707865u, start[1] = zero + 0x3320646eu;  // "expand 32-byte k"
  start[2] = zero + 0x79622d32u, start[3] = zero + 0x6b206574u;
  for (int k = 0; k < 8; ++k) start[4 + k] = zero + key.words[k];
  start[12] = Lanes{0, 1, 2, 3} + counter;
  for (int k = 0; k < 3; ++k) start[13 + k] = zero + nonce[k];
  for (int k = 0; k < 16; ++k) x[k] = start[k];
  for (int round = 0; round < 10; ++round) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (int k = 0; k < 16; ++k) {
    x[k] += start[k];
    for (int lane = 0; lane < kLanes; ++lane) out[lane * 16 + k] = x[k][lane];
  }
}

void blocks(u32* out, const StreamKey& key, const u32* nonce, u32 counter, i64 count) {
  for (; count >= kLanes; count -= kLanes, counter += kLanes, out += 16 * kLanes)
    four_blocks(out, key, nonce, counter);
  if (count == 0) return;
  u32 last[16 * kLanes];
  four_blocks(last, key, nonce, counter);
  for (i64 k = 0; k < 16 * count; ++k) out[k] = last[k];
}

/// Words [first, first + n) of one attempt; n <= kTile, first a multiple of 8.
void draw(u64* words, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
          u32 attempt) {
  u32 stream[2 * kTile];
  const u32 nonce[3] = {position.prime_id, position.index, position.component | attempt << 8};
  blocks(stream, key, nonce, static_cast<u32>(first / kWordsPerBlock),
         (n + kWordsPerBlock - 1) / kWordsPerBlock);
  for (i64 k = 0; k < n; ++k) words[k] = stream[2 * k] | static_cast<u64>(stream[2 * k + 1]) << 32;
}

// ---- samplers ----------------------------------------------------------------------------------

FHELIUM_INLINE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

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
      draw(words, first + begin, size, key, position, attempt);
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
    draw(words, first + begin, size, key, position, 0);
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
    draw(high, first + begin, size, key, position, 0);
    draw(low, first + begin, size, key, position, 1);
    for (i64 k = 0; k < size; ++k) {
      const u128 word = (static_cast<u128>(high[k]) << 64 | low[k]) >> 1;
      u64 below = 0;  // how many thresholds exceed the word
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

void rounded_gaussian_row(i64* out, i64 first, i64 n, const StreamKey& key,
                          const StreamPosition& position, const GaussianWidth& width) {
  u64 radius[kTile], angle[kTile], low[kTile] = {};
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    draw(radius, first + begin, size, key, position, 0);
    draw(angle, first + begin, size, key, position, 1);
    if (width.shift > 0) draw(low, first + begin, size, key, position, 2);
    for (i64 k = 0; k < size; ++k)
      out[begin + k] = rounded_gaussian(radius[k], angle[k], low[k], width);
  }
}

}  // namespace

const RandomKernels kRandomKernelsPortable = {
    blocks, uniform<u64>, uniform<u32>, ternary, gaussian, rounded_gaussian_row,
};

}  // namespace fhelium
