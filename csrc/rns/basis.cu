// ModUp and ModDown as a tiled product: a block makes the digits of a tile of coefficients once, in
// shared memory, and every target prime reads them there. All digits of a ModUp are one launch.
#include "common/grid.h"
#include "rns/basis.cuh"
#include "rns/cuda_kernels.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 128, kEach = 2, kTile = kThreads * kEach;

/// The digits of a thread's coefficients: column k, k + kThreads, ... of the block's tile, one word
/// of shared memory a digit. A thread reads what it wrote itself, so no barrier is needed.
template <class Word>
struct TileDigits {
  Word* shared;
  const DeviceParameters& parameters;
  i64 first;  // of the source primes
  int count;

  __device__ __forceinline__ Word& at(int i, u32 j) const {
    return shared[(u32)i * kTile + j * kThreads + threadIdx.x];
  }
  __device__ __forceinline__ Word prime(int i) const {
    return prime_at<Word>(parameters, first + i);
  }

  /// scale[i] is (D / d_i)^-1 mod d_i, Montgomery.
  __device__ __forceinline__ void fill(const DeviceRows& input, i64 batch, i64 k,
                                       const Word* scale) const {
    double sum[kEach] = {};
    for (int i = 0; i < count; ++i) {
      const Modulus<Word> m = modulus_at<Word>(parameters, first + i);
      const double reciprocal = rounded::divide(1.0, (double)(i64)m.q);
      const Word* row = row_at<const Word>(input, batch, first + i);
#pragma unroll
      for (u32 j = 0; j < kEach; ++j) {
        const i64 position = k + j * kThreads;
        const Word x = position < input.degree ? row[position * input.step] : 0;
        const Word y = multiply_shifted(x, scale[i], m);
        at(i, j) = y;
        sum[j] = add_fraction(sum[j], y, reciprocal);
      }
    }
#pragma unroll
    for (u32 j = 0; j < kEach; ++j)
      at(count, j) = centring_multiple<Word>(
          sum[j], count, [&](int i) { return at(i, j); }, [&](int i) { return prime(i); });
  }

  /// Whether the source primes add up beyond R of a target.
  __device__ __forceinline__ bool is_wide(const Modulus<Word>& m) const {
    u128 sum = 0;
    for (int i = 0; i < count; ++i) sum += prime(i);
    return sum > (u128)1 << m.bits;
  }

  /// A coefficient modulo m: factors[i * stride] is (D / d_i) mod q, `product` D mod q.
  __device__ __forceinline__ Word value(u32 j, const Word* factors, i64 stride, Word product,
                                        bool wide, const Modulus<Word>& m) const {
    const Word last = negate_modular(product, m.q);
    return take_up(
        count + 1, wide, [&](int i) { return at(i, j); },
        [&](int i) { return i < count ? factors[i * stride] : last; }, m);
  }
};

/// Constants of a conversion, dense: see the schemas of mod_up and mod_down.
template <class Word>
struct Constants {
  const Word *scale, *matrix, *correction, *inverse;
};

/// What a device's memory says is clipped to what was launched: wrong borders give wrong values.
__device__ __forceinline__ i64 clip(i64 x, i64 least, i64 most) {
  return x < least ? least : x > most ? most : x;
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    mod_up_kernel(DeviceRows out, DeviceRows input, const i64* bounds, int most_primes,
                  Constants<Word> constants, DeviceParameters parameters) {
  const i64 digit = blockIdx.y, limbs = out.limbs, k = (i64)blockIdx.x * kTile + threadIdx.x;
  const i64 first = clip(bounds[digit], 0, input.limbs - 1);
  const i64 past = clip(bounds[digit + 1], first + 1,
                        first + most_primes < input.limbs ? first + most_primes : input.limbs);
  const TileDigits<Word> digits = {shared_memory<Word>(), parameters, first, (int)(past - first)};
  for (i64 batch = blockIdx.z; batch < input.batches; batch += gridDim.z) {
    digits.fill(input, batch, k, constants.scale + first);
    for (i64 limb = 0; limb < limbs; ++limb) {
      Word* to = row_at<Word>(out, digit * input.batches + batch, limb);
      const bool own = first <= limb && limb < past;
      const Word* from = row_at<const Word>(input, batch, own ? limb : first);
      const Modulus<Word> m = modulus_at<Word>(parameters, limb);
      const bool wide = digits.is_wide(m);
#pragma unroll
      for (u32 j = 0; j < kEach; ++j) {
        const i64 position = k + j * kThreads;
        if (position >= input.degree) continue;
        to[position * out.step] =
            own ? from[position * input.step]
                : digits.value(j, constants.matrix + first * limbs + limb, limbs,
                               constants.correction[digit * limbs + limb], wide, m);
      }
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    mod_down_kernel(DeviceRows out, DeviceRows input, Constants<Word> constants,
                    DeviceParameters parameters) {
  const i64 limbs = out.limbs, k = (i64)blockIdx.x * kTile + threadIdx.x;
  const TileDigits<Word> digits = {shared_memory<Word>(), parameters, limbs,
                                   (int)(input.limbs - limbs)};
  for (i64 batch = blockIdx.z; batch < input.batches; batch += gridDim.z) {
    digits.fill(input, batch, k, constants.scale);
    for (i64 limb = blockIdx.y; limb < limbs; limb += gridDim.y) {
      Word* to = row_at<Word>(out, batch, limb);
      const Word* from = row_at<const Word>(input, batch, limb);
      const Modulus<Word> m = modulus_at<Word>(parameters, limb);
      const bool wide = digits.is_wide(m);
#pragma unroll
      for (u32 j = 0; j < kEach; ++j) {
        const i64 position = k + j * kThreads;
        if (position >= input.degree) continue;
        const Word rest =
            digits.value(j, constants.matrix + limb, limbs, constants.correction[limb], wide, m);
        const Word difference = subtract_modular(from[position * input.step], rest, m.q);
        to[position * out.step] = multiply_shifted(difference, constants.inverse[limb], m);
      }
    }
  }
}

template <class Word>
size_t shared_bytes(i64 primes) {
  return (size_t)(primes + 1) * kTile * sizeof(Word);
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_mod_up(int word_bits, const DeviceRows& out, const DeviceRows& input,
                        const int64_t* digit_bounds, int64_t digits, const void* digit_scale,
                        const void* matrix, const void* correction,
                        const DeviceParameters& parameters, void* stream) {
  if (out.batches == 0 || out.degree == 0) return 0;
  const i64 room = input.limbs - digits + 1;  // every digit has a prime
  const int most = (int)(room < kMaxSourcePrimes ? room : kMaxSourcePrimes);
  const dim3 grid(tiles_of(input.degree, kTile), (unsigned)digits, capped(input.batches));
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    const Constants<Word> constants = {static_cast<const Word*>(digit_scale),
                                       static_cast<const Word*>(matrix),
                                       static_cast<const Word*>(correction), nullptr};
    return launch(mod_up_kernel<Word>, grid, dim3(kThreads), shared_bytes<Word>(most), stream, out,
                  input, digit_bounds, most, constants, parameters);
  });
}

int fhelium_cuda_mod_down(int word_bits, const DeviceRows& out, const DeviceRows& input,
                          const void* special_scale, const void* matrix, const void* correction,
                          const void* special_inverse, const DeviceParameters& parameters,
                          void* stream) {
  if (out.batches == 0 || out.degree == 0) return 0;
  const dim3 grid(tiles_of(input.degree, kTile), 1, capped(input.batches));
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    const Constants<Word> constants = {
        static_cast<const Word*>(special_scale), static_cast<const Word*>(matrix),
        static_cast<const Word*>(correction), static_cast<const Word*>(special_inverse)};
    return launch(mod_down_kernel<Word>, grid, dim3(kThreads),
                  shared_bytes<Word>(input.limbs - out.limbs), stream, out, input, constants,
                  parameters);
  });
}
