// ChaCha20 (RFC 8439), one block a thread: its sixteen words stay in registers.
#pragma once
#include "common/cuda.h"
#include "random/kernels.h"

namespace fhelium {

/// Where the coefficients of a thread's block stand: 64-bit word j of a stream is coefficient j.
inline constexpr u32 kWordsPerBlock = 8;

/// Little-endian words at any address.
__device__ __forceinline__ u32 word_of_bytes(const uint8_t* bytes) {
  return bytes[0] | (u32)bytes[1] << 8 | (u32)bytes[2] << 16 | (u32)bytes[3] << 24;
}

__device__ __forceinline__ StreamKey load_key(const uint8_t* bytes) {
  StreamKey key;
#pragma unroll
  for (int k = 0; k < 8; ++k) key.words[k] = word_of_bytes(bytes + 4 * k);
  return key;
}

__device__ __forceinline__ u32 rotate_left(u32 x, int bits) {
  return (x << bits) | (x >> (32 - bits));
}

__device__ __forceinline__ void quarter_round(u32& a, u32& b, u32& c, u32& d) {
  a += b, d = rotate_left(d ^ a, 16);
  c += d, b = rotate_left(b ^ c, 12);
  a += b, d = rotate_left(d ^ a, 8);
  c += d, b = rotate_left(b ^ c, 7);
}

/// The three words of a nonce.
struct Nonce {
  u32 words[3];
};

__device__ __forceinline__ void chacha20_block(u32 (&x)[16], const StreamKey& key,
                                               const Nonce& nonce, u32 counter) {
  const u32 start[4] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};  // "expand 32-byte k"
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = start[k];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[4 + k] = key.words[k];
  x[12] = counter;
#pragma unroll
  for (int k = 0; k < 3; ++k) x[13 + k] = nonce.words[k];
#pragma unroll 1
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
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] += start[k];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[4 + k] += key.words[k];
  x[12] += counter;
#pragma unroll
  for (int k = 0; k < 3; ++k) x[13 + k] += nonce.words[k];
}

/// The 64-bit words of one block of an attempt.
__device__ __forceinline__ void draw(u64 (&words)[kWordsPerBlock], const StreamKey& key,
                                     const StreamPosition& position, u32 attempt, u32 block) {
  u32 x[16];
  const Nonce nonce = {{position.prime_id, position.index, position.component | attempt << 8}};
  chacha20_block(x, key, nonce, block);
#pragma unroll
  for (u32 k = 0; k < kWordsPerBlock; ++k) words[k] = x[2 * k] | (u64)x[2 * k + 1] << 32;
}

}  // namespace fhelium
