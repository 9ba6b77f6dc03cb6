// Galois automorphisms in either domain.
#include "ckks/automorphism.cuh"
#include "ckks/cuda_kernels.h"
#include "common/grid.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 256;

template <class Word>
__global__ void __launch_bounds__(kThreads)
    coefficient_kernel(DeviceRows out, DeviceRows input, u32 inverse, int log_degree,
                       DeviceParameters parameters) {
  const u32 k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= out.degree) return;
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Word q = prime_at<Word>(parameters, limb);
    for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z) {
      const Word* from = row_at<const Word>(input, batch, limb);
      row_at<Word>(out, batch, limb)[k * out.step] = moved_coefficient(
          k, inverse, log_degree, q, [&](u32 position) { return from[position * input.step]; });
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    ntt_kernel(DeviceRows out, DeviceRows input, u32 galois_element, int log_degree) {
  const u32 k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= out.degree) return;
  const i64 source = (i64)ntt_source(k, galois_element, log_degree) * input.step;
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y)
    for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z)
      row_at<Word>(out, batch, limb)[k * out.step] = row_at<const Word>(input, batch, limb)[source];
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_automorphism_coefficient(int word_bits, const DeviceRows& out,
                                          const DeviceRows& input, int64_t galois_element,
                                          const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  const u32 inverse = (u32)(inverse_modulo_word((u64)galois_element) & (u64)(2 * out.degree - 1));
  return for_word_bits(word_bits, [&](auto word) {
    return launch(coefficient_kernel<decltype(word)>, grid_over(out, kThreads), dim3(kThreads), 0,
                  stream, out, input, inverse, exact_log2(out.degree), parameters);
  });
}

int fhelium_cuda_automorphism_ntt(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                  int64_t galois_element, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return launch(ntt_kernel<decltype(word)>, grid_over(out, kThreads), dim3(kThreads), 0, stream,
                  out, input, (u32)galois_element, exact_log2(out.degree));
  });
}
