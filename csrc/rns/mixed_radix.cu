// Mixed-radix digits and their extension to other primes: a thread a coefficient, the arithmetic of
// rns/mixed_radix_cpu.cpp.
#include "common/grid.h"
#include "rns/cuda_kernels.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 256;

/// Digits stand in `out` as they are found; a thread reads those that it wrote itself.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    digits_kernel(DeviceRows out, DeviceRows input, const Word* inverses,
                  DeviceParameters parameters) {
  const i64 k = (i64)blockIdx.x * kThreads + threadIdx.x, limbs = out.limbs;
  if (k >= out.degree) return;
  for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z)
    for (i64 i = 0; i < limbs; ++i) {
      const Modulus<Word> m = modulus_at<Word>(parameters, i);
      Word digit = row_at<const Word>(input, batch, i)[k * input.step];
      for (i64 j = 0; j < i; ++j) {
        const Word v = row_at<const Word>(out, batch, j)[k * out.step];
        const Word difference = subtract_modular(digit, reduce_word(v, m), m.q);
        digit = multiply_shifted(difference, inverses[j * limbs + i], m);
      }
      row_at<Word>(out, batch, i)[k * out.step] = digit;
    }
}

/// Whether the digits' number exceeds (D - 1) / 2, whose digits are (d_i - 1) / 2: the last digit
/// that differs decides.
template <class Word>
__device__ __forceinline__ bool exceeds_half(const DeviceRows& digits, i64 batch, i64 k,
                                             const DeviceParameters& parameters) {
  for (i64 i = digits.limbs - 1; i >= 0; --i) {
    const Word half = prime_at<Word>(parameters, i) / 2;
    const Word digit = row_at<const Word>(digits, batch, i)[k * digits.step];
    if (digit != half) return digit > half;
  }
  return false;
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    extend_kernel(DeviceRows out, DeviceRows digits, const Word* radices,
                  DeviceParameters digit_parameters, DeviceParameters parameters) {
  const i64 k = (i64)blockIdx.x * kThreads + threadIdx.x, limbs = out.limbs;
  if (k >= out.degree) return;
  for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z) {
    const bool above = exceeds_half<Word>(digits, batch, k, digit_parameters);
    for (i64 limb = blockIdx.y; limb < limbs; limb += gridDim.y) {
      const Modulus<Word> m = modulus_at<Word>(parameters, limb);
      const auto times_radix = [&](Word x, i64 i) {
        return multiply_shifted(x, radices[i * limbs + limb], m);
      };
      Word sum = 0;
      for (i64 i = 0; i < digits.limbs; ++i) {
        const Word v = row_at<const Word>(digits, batch, i)[k * digits.step];
        sum = add_modular(sum, times_radix(reduce_word(v, m), i), m.q);
      }
      if (above) sum = subtract_modular(sum, times_radix(1, digits.limbs), m.q);
      row_at<Word>(out, batch, limb)[k * out.step] = sum;
    }
  }
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_mixed_radix_digits(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                    const void* inverses, const DeviceParameters& parameters,
                                    void* stream) {
  if (has_no_rows(out)) return 0;
  dim3 grid = grid_over(out, kThreads);
  grid.y = 1;  // a digit needs those before it
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return launch(digits_kernel<Word>, grid, dim3(kThreads), 0, stream, out, input,
                  static_cast<const Word*>(inverses), parameters);
  });
}

int fhelium_cuda_mixed_radix_extend(int word_bits, const DeviceRows& out, const DeviceRows& digits,
                                    const void* radices, const DeviceParameters& digit_parameters,
                                    const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return launch(extend_kernel<Word>, grid_over(out, kThreads), dim3(kThreads), 0, stream, out,
                  digits, static_cast<const Word*>(radices), digit_parameters, parameters);
  });
}
