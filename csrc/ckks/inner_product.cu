// The inner product of a key switch: digits of the NTT domain with both halves of the key.
#include "ckks/automorphism.cuh"
#include "ckks/cuda_kernels.h"
#include "ckks/inner_product.cuh"
#include "common/grid.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 256;

/// Digits are read where the automorphism says, g = 1 where there is none.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    inner_product_kernel(DeviceRows out, DeviceRows digits, DeviceRows key, u32 galois_element,
                         int log_degree, DeviceParameters parameters) {
  const u32 k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= out.degree) return;
  const i64 batches = out.batches / 2;
  const int count = (int)(digits.batches / batches);
  const i64 source = galois_element == 1 ? k : ntt_source(k, galois_element, log_degree);
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb);
    for (i64 batch = blockIdx.z; batch < batches; batch += gridDim.z) {
      const auto digit = [&](int d) {
        return row_at<const Word>(digits, d * batches + batch, limb)[source * digits.step];
      };
      for (int half = 0; half < 2; ++half) {
        const auto key_word = [&](int d) {
          return row_at<const Word>(key, 2 * d + half, limb)[k * key.step];
        };
        row_at<Word>(out, half * batches + batch, limb)[k * out.step] =
            sum_of_products(count, digit, key_word, m);
      }
    }
  }
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_key_switch_inner_product(int word_bits, const DeviceRows& out,
                                          const DeviceRows& digits, const DeviceRows& key,
                                          int64_t galois_element,
                                          const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  // Without an automorphism the degree may be any.
  const int log_degree = galois_element == 1 ? 0 : exact_log2(out.degree);
  return for_word_bits(word_bits, [&](auto word) {
    return launch(inner_product_kernel<decltype(word)>, grid_over(out, kThreads), dim3(kThreads), 0,
                  stream, out, digits, key, (u32)galois_element, log_degree, parameters);
  });
}
