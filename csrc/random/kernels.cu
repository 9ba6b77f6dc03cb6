// The samplers, a ChaCha20 block and so eight coefficients a thread. Streams are addressed by
// position: the values are those of the CPU, byte for byte.
#include "common/grid.h"
#include "random/chacha20.cuh"
#include "random/cuda_kernels.h"
#include "random/gaussian_table.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    blocks_kernel(uint8_t* out, const uint8_t* key, const uint8_t* nonce_bytes, u32 counter,
                  i64 blocks) {
  const i64 block = (i64)blockIdx.x * kThreads + threadIdx.x;
  if (block >= blocks) return;
  const Nonce nonce = {
      {word_of_bytes(nonce_bytes), word_of_bytes(nonce_bytes + 4), word_of_bytes(nonce_bytes + 8)}};
  u32 x[16];
  chacha20_block(x, load_key(key), nonce, counter + (u32)block);
  u32* to = reinterpret_cast<u32*>(out) + 16 * block;
#pragma unroll
  for (int k = 0; k < 16; ++k) to[k] = x[k];
}

/// The host does not see prime ids here: one that is none would draw the values of another stream.
__device__ __forceinline__ bool is_prime_id(i64 id) { return id >= 0 && id < (i64)kNoPrime; }

/// A word is accepted below the largest multiple of q: its remainder is then exactly uniform. The
/// values are public, so the rejections may show in the running time. Where an id or a modulus is
/// wrong, words that are no residues stand instead of values.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    uniform_kernel(DeviceRows out, const uint8_t* key_bytes, const i64* prime_ids, u32 component,
                   u32 first_index, DeviceParameters parameters) {
  const u32 block = blockIdx.x * kThreads + threadIdx.x;
  const i64 first = (i64)block * kWordsPerBlock;
  if (first >= out.degree) return;
  const StreamKey key = load_key(key_bytes);
  const u32 room = out.degree < (i64)kWordsPerBlock ? (u32)out.degree : kWordsPerBlock;
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb);
    const u64 limit = m.q * m.reciprocal;
    for (i64 index = blockIdx.z; index < out.batches; index += gridDim.z) {
      const StreamPosition position = {(u32)prime_ids[limb], first_index + (u32)index, component};
      Word* to = row_at<Word>(out, index, limb) + first * out.step;
      u32 waiting = (1u << room) - 1;
      // The attempts no modulus needs are left out: a wrong one must not loop.
      const u32 attempts = is_prime_id(prime_ids[limb]) ? 1u << 10 : 0;
      for (u32 attempt = 0; waiting != 0 && attempt < attempts; ++attempt) {
        u64 words[kWordsPerBlock];
        draw(words, key, position, attempt, block);
#pragma unroll
        for (u32 k = 0; k < kWordsPerBlock; ++k) {
          if (!(waiting >> k & 1) || words[k] >= limit) continue;
          to[k * out.step] = reduce_word(words[k], m);
          waiting &= ~(1u << k);
        }
      }
#pragma unroll
      for (u32 k = 0; k < kWordsPerBlock; ++k)
        if (waiting >> k & 1) to[k * out.step] = ~(Word)0;
    }
  }
}

struct Ternary {
  static constexpr int kAttempts = 1;
  /// floor(3 w / 2^64) - 1: each value has probability 1/3 up to 2^-64.
  __device__ __forceinline__ i64 operator()(u64 word) const {
    return (i64)multiply_high(word, (u64)3) - 1;
  }
};

/// Magnitude by inversion of the cumulative table, all of which is read; the lowest random bit is
/// the sign.
struct Gaussian {
  static constexpr int kAttempts = 2;

  /// How many thresholds from the given one on exceed the word.
  template <int kThreshold = 0>
  __device__ __forceinline__ static i64 above(u128 word) {
    if constexpr (kThreshold == kGaussianThresholds) {
      return 0;
    } else {
      constexpr u64 kHigh = kGaussianTable[kThreshold][0], kLow = kGaussianTable[kThreshold][1];
      constexpr u128 kValue = (u128)kHigh << 64 | kLow;
      return (i64)((word - kValue) >> 127) + above<kThreshold + 1>(word);  // the borrow
    }
  }
  __device__ __forceinline__ i64 operator()(u64 high, u64 low) const {
    const i64 magnitude = kGaussianThresholds - above(((u128)high << 64 | low) >> 1);
    const i64 sign = (i64)(low & 1);
    return (magnitude ^ -sign) + sign;
  }
};

struct RoundedGaussian {
  static constexpr int kAttempts = 3;
  GaussianWidth width;
  __device__ __forceinline__ i64 operator()(u64 radius, u64 angle, u64 low) const {
    return rounded_gaussian(radius, angle, low, width);
  }
};

/// Integers that belong to no prime.
template <class Sample>
__global__ void __launch_bounds__(kThreads)
    integers_kernel(i64* out, const uint8_t* key_bytes, u32 component, i64 count, i64 degree,
                    Sample sample) {
  const u32 block = blockIdx.x * kThreads + threadIdx.x;
  const i64 first = (i64)block * kWordsPerBlock;
  if (first >= degree) return;
  const StreamKey key = load_key(key_bytes);
  for (i64 index = blockIdx.y; index < count; index += gridDim.y) {
    const StreamPosition position = {kNoPrime, (u32)index, component};
    u64 words[3][kWordsPerBlock];
#pragma unroll
    for (int attempt = 0; attempt < Sample::kAttempts; ++attempt)
      draw(words[attempt], key, position, (u32)attempt, block);
    i64* to = out + index * degree + first;
#pragma unroll
    for (u32 k = 0; k < kWordsPerBlock; ++k) {
      if (first + k >= degree) continue;
      if constexpr (Sample::kAttempts == 1) to[k] = sample(words[0][k]);
      if constexpr (Sample::kAttempts == 2) to[k] = sample(words[0][k], words[1][k]);
      if constexpr (Sample::kAttempts == 3) to[k] = sample(words[0][k], words[1][k], words[2][k]);
    }
  }
}

template <class Sample>
int integers(i64* out, const void* key, int64_t component, int64_t count, int64_t degree,
             void* stream, const Sample& sample) {
  if (count == 0) return 0;
  return launch(integers_kernel<Sample>,
                dim3(tiles_of(degree, kThreads * kWordsPerBlock), capped(count)), dim3(kThreads), 0,
                stream, out, static_cast<const uint8_t*>(key), (u32)component, count, degree,
                sample);
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_chacha20_blocks(void* out, const void* key, const void* nonce, int64_t counter,
                                 int64_t blocks, void* stream) {
  if (blocks == 0) return 0;
  return launch(blocks_kernel, dim3(tiles_of(blocks, kThreads)), dim3(kThreads), 0, stream,
                static_cast<uint8_t*>(out), static_cast<const uint8_t*>(key),
                static_cast<const uint8_t*>(nonce), (u32)counter, blocks);
}

int fhelium_cuda_sample_uniform(int word_bits, const DeviceRows& out, const void* key,
                                const int64_t* prime_ids, int64_t component, int64_t first_index,
                                const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return launch(uniform_kernel<decltype(word)>, grid_over(out, kThreads * kWordsPerBlock),
                  dim3(kThreads), 0, stream, out, static_cast<const uint8_t*>(key), prime_ids,
                  (u32)component, (u32)first_index, parameters);
  });
}

int fhelium_cuda_sample_ternary(int64_t* out, const void* key, int64_t component, int64_t count,
                                int64_t degree, void* stream) {
  return integers(out, key, component, count, degree, stream, Ternary{});
}

int fhelium_cuda_sample_gaussian(int64_t* out, const void* key, int64_t component, int64_t count,
                                 int64_t degree, void* stream) {
  return integers(out, key, component, count, degree, stream, Gaussian{});
}

int fhelium_cuda_sample_rounded_gaussian(int64_t* out, const void* key, int64_t component,
                                         int64_t count, int64_t degree, double scaled,
                                         int64_t shift, void* stream) {
  const RoundedGaussian sample = {{scaled, (int)shift}};
  return integers(out, key, component, count, degree, stream, sample);
}
