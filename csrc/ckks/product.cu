// Products of ciphertexts, and sums with plaintexts.
#include "ckks/cuda_kernels.h"
#include "ckks/product.cuh"

namespace fhelium {
namespace {

template <class Word>
__global__ void __launch_bounds__(kMapThreads)
    add_plaintext_kernel(const __grid_constant__ DeviceRows out,
                         const __grid_constant__ DeviceRows ciphertext,
                         const __grid_constant__ DeviceRows plaintext,
                         const __grid_constant__ DeviceParameters parameters, i64 added) {
  for_rows(out.batches, out.limbs, [&](i64 batch, i64 limb) {
    const Word q = prime_at<Word>(parameters, limb);
    Word* const to = row_at<Word>(out, batch, limb);
    const Word* const c = row_at<Word>(ciphertext, batch, limb);
    if (batch < added) {
      const Word* const p = row_at<Word>(plaintext, batch, limb);
      for_tile(out.degree, [&](i64 k) {
        to[k * out.step] = add_modular(c[k * ciphertext.step], p[k * plaintext.step], q);
      });
    } else {
      for_tile(out.degree, [&](i64 k) { to[k * out.step] = c[k * ciphertext.step]; });
    }
  });
}

template <class Word>
__global__ void __launch_bounds__(kMapThreads)
    square_kernel(const __grid_constant__ DeviceRows out, const __grid_constant__ DeviceRows input,
                  const __grid_constant__ DeviceParameters parameters) {
  const i64 batches = input.batches / 2;
  for_rows(batches, out.limbs, [&](i64 batch, i64 limb) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb);
    Word* const out0 = row_at<Word>(out, batch, limb);
    Word* const out1 = row_at<Word>(out, batches + batch, limb);
    Word* const out2 = row_at<Word>(out, 2 * batches + batch, limb);
    const Word* const in0 = row_at<Word>(input, batch, limb);
    const Word* const in1 = row_at<Word>(input, batches + batch, limb);
    for_tile(out.degree, [&](i64 k) {
      const Word a0 = in0[k * input.step], a1 = in1[k * input.step];
      const Word b0 = multiply_shifted(a0, m.montgomery_square, m);
      const Word b1 = multiply_shifted(a1, m.montgomery_square, m);
      out0[k * out.step] = multiply_shifted(a0, b0, m);
      out1[k * out.step] = multiply_shifted<Word>(2 * a0, b1, m);
      out2[k * out.step] = multiply_shifted(a1, b1, m);
    });
  });
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_add_plaintext(int word_bits, const DeviceRows& out, const DeviceRows& ciphertext,
                               const DeviceRows& plaintext, const DeviceParameters& parameters,
                               int64_t added, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return launch(add_plaintext_kernel<decltype(word)>, grid_over(out, kMapTile), dim3(kMapThreads),
                  0, stream, out, ciphertext, plaintext, parameters, added);
  });
}

int fhelium_cuda_ciphertext_product(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                                    const DeviceRows& rhs, const DeviceParameters& parameters,
                                    void* stream) {
  return for_word_bits(word_bits, [&](auto word) {
    return multiply_components<decltype(word)>(out, lhs, rhs, parameters, stream);
  });
}

int fhelium_cuda_ciphertext_square(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                   const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return launch(square_kernel<decltype(word)>, component_grid(out, 3), dim3(kMapThreads), 0,
                  stream, out, input, parameters);
  });
}
