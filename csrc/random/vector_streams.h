// What the samplers of every instruction set share: streams in tiles of some ChaCha20 blocks. A
// kernel file includes this once it has said, of vectors of one 32-bit word of each of kBlocks
// blocks, in_all(word), add_words(x, y) and quarter_round(a, b, c, d); it then defines many_blocks.
#pragma once
#include "random/kernels.h"

namespace fhelium {
namespace {

constexpr i64 kWordsPerBlock = 8;                // 64-bit words
constexpr i64 kTile = kBlocks * kWordsPerBlock;  // coefficients drawn at once

/// Blocks counter .. counter + kBlocks - 1 to out.
void many_blocks(void* out, const StreamKey& key, const u32* nonce, u32 counter);

/// x[k] = word k of as many blocks as the counters name (RFC 8439).
template <class Vector>
FHELIUM_INLINE void block_words(Vector (&x)[16], const StreamKey& key, const u32* nonce,
                                const Vector& counters) {
  u32 start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};  // "expand 32-byte k"
  for (int k = 0; k < 8; ++k) start[4 + k] = key.words[k];
  for (int k = 0; k < 3; ++k) start[13 + k] = nonce[k];
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) x[k] = k == 12 ? counters : in_all(start[k]);
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
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) x[k] = add_words(x[k], k == 12 ? counters : in_all(start[k]));
}

void blocks(u32* out, const StreamKey& key, const u32* nonce, u32 counter, i64 count) {
  for (; count >= kBlocks; count -= kBlocks, counter += kBlocks, out += 16 * kBlocks)
    many_blocks(out, key, nonce, counter);
  if (count == 0) return;
  u32 last[16 * kBlocks];
  many_blocks(last, key, nonce, counter);
  for (i64 k = 0; k < 16 * count; ++k) out[k] = last[k];
}

/// Words [first, first + kTile) of one attempt; first is a multiple of 8.
void draw(u64* words, i64 first, const StreamKey& key, const StreamPosition& position,
          u32 attempt) {
  const u32 nonce[3] = {position.prime_id, position.index, position.component | attempt << 8};
  many_blocks(words, key, nonce, (u32)(first / kWordsPerBlock));
}

FHELIUM_INLINE i64 smaller(i64 a, i64 b) { return a < b ? a : b; }

/// The compiler makes vectors of the loop: the function has no branch and no library call.
void rounded_gaussian_row(i64* out, i64 first, i64 n, const StreamKey& key,
                          const StreamPosition& position, const GaussianWidth& width) {
  alignas(64) u64 radius[kTile], angle[kTile], low[kTile] = {};
  alignas(64) i64 values[kTile];
  const GaussianWidth own = width;
  for (i64 begin = 0; begin < n; begin += kTile) {
    draw(radius, first + begin, key, position, 0);
    draw(angle, first + begin, key, position, 1);
    if (own.shift > 0) draw(low, first + begin, key, position, 2);
    for (i64 k = 0; k < kTile; ++k) values[k] = rounded_gaussian(radius[k], angle[k], low[k], own);
    const i64 size = smaller(kTile, n - begin);
    for (i64 k = 0; k < size; ++k) out[begin + k] = values[k];
  }
}

}  // namespace
}  // namespace fhelium
