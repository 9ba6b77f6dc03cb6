// Division by the first prime of the chain, to the nearest or rounded down.
#include "ckks/cuda_kernels.h"
#include "ckks/rescale.cuh"
#include "common/grid.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 256;

/// Row `limb` of out belongs to limb + 1 of the input and of the parameters.
template <class Word, bool kNearest>
__global__ void __launch_bounds__(kThreads)
    rescale_kernel(DeviceRows out, DeviceRows input, const Word* inverse,
                   DeviceParameters parameters) {
  const i64 k = (i64)blockIdx.x * kThreads + threadIdx.x;
  if (k >= out.degree) return;
  const Word q0 = prime_at<Word>(parameters, 0);
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb + 1);
    for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z) {
      const Word dropped = row_at<const Word>(input, batch, 0)[k * input.step];
      const Word x = row_at<const Word>(input, batch, limb + 1)[k * input.step];
      const Word difference = subtract_modular(x, rescale_remainder<kNearest>(dropped, q0, m), m.q);
      row_at<Word>(out, batch, limb)[k * out.step] = multiply_shifted(difference, inverse[limb], m);
    }
  }
}

template <bool kNearest>
int rescale(int word_bits, const DeviceRows& out, const DeviceRows& input, const void* inverse,
            const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return launch(rescale_kernel<Word, kNearest>, grid_over(out, kThreads), dim3(kThreads), 0,
                  stream, out, input, static_cast<const Word*>(inverse), parameters);
  });
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_rescale_nearest(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                 const void* inverse, const DeviceParameters& parameters,
                                 void* stream) {
  return rescale<true>(word_bits, out, input, inverse, parameters, stream);
}

int fhelium_cuda_rescale_truncating(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                    const void* inverse, const DeviceParameters& parameters,
                                    void* stream) {
  return rescale<false>(word_bits, out, input, inverse, parameters, stream);
}
