// Products of ciphertexts, and plaintexts that meet ciphertexts, on CUDA tensors.
#include "ckks/checks.h"
#include "ckks/cuda_kernels.h"
#include "common/cuda_call.h"
#include "rns/cuda_kernels.h"

namespace fhelium {
namespace {

Tensor add_plaintext(const Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  const CudaCall call("add_plaintext", "ciphertext", ciphertext);
  check_plaintext(call, ciphertext, plaintext);
  Tensor out = empty_on(ciphertext, sizes_of(ciphertext));
  for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows c = device_rows(call, rows_of<Word>(ciphertext));
    const DeviceRows p = device_rows(call, broadcast_rows<Word>(plaintext, ciphertext));
    const DeviceParameters parameters = device_parameters(call, rns_params, c.limbs);
    call.check_launch(fhelium_cuda_add_plaintext(kWordBits<Word>, &o, &c, &p, &parameters,
                                                 c.batches / ciphertext.size(0), call.stream()));
  });
  return out;
}

/// out = launcher(ciphertext, plaintext) in every component that both have.
template <class Launcher>
void run(const CudaCall& call, const Launcher& launcher, const Tensor& out,
         const Tensor& ciphertext, const Tensor& plaintext, const Tensor& rns_params) {
  for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows c = device_rows(call, rows_of<Word>(ciphertext));
    const DeviceRows p = device_rows(call, broadcast_rows<Word>(plaintext, ciphertext));
    const DeviceParameters parameters = device_parameters(call, rns_params, c.limbs);
    call.check_launch(launcher(kWordBits<Word>, &o, &c, &p, &parameters, call.stream()));
  });
}

void add_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  const CudaCall call("add_plaintext_", "ciphertext", ciphertext);
  check_plaintext(call, ciphertext, plaintext);
  check_destination(call, ciphertext);
  const Tensor written = select_first(ciphertext, 0);
  check_overlap(call, written, plaintext);
  check_overlap(call, written, rns_params);
  run(call, fhelium_cuda_add_standard, written, written, plaintext, rns_params);
}

Tensor multiply_plaintext(const Tensor ciphertext, const Tensor plaintext,
                          const Tensor rns_params) {
  const CudaCall call("multiply_plaintext", "ciphertext", ciphertext);
  check_plaintext(call, ciphertext, plaintext);
  Tensor out = empty_on(ciphertext, sizes_of(ciphertext));
  run(call, fhelium_cuda_multiply_montgomery, out, ciphertext, plaintext, rns_params);
  return out;
}

void multiply_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  const CudaCall call("multiply_plaintext_", "ciphertext", ciphertext);
  check_plaintext(call, ciphertext, plaintext);
  check_destination(call, ciphertext);
  check_overlap(call, ciphertext, plaintext);
  check_overlap(call, ciphertext, rns_params);
  run(call, fhelium_cuda_multiply_montgomery, ciphertext, ciphertext, plaintext, rns_params);
}

Tensor ciphertext_product(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const CudaCall call("ciphertext_product", "lhs", lhs);
  const Sizes shape = check_two_components(call, "lhs", lhs);
  check_same_shape(call, lhs, rhs);
  Tensor out = empty_on(lhs, shape);
  for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows a = device_rows(call, rows_of<Word>(lhs));
    const DeviceRows b = device_rows(call, rows_of<Word>(rhs));
    const DeviceParameters parameters = device_parameters(call, rns_params, a.limbs);
    call.check_launch(
        fhelium_cuda_ciphertext_product(kWordBits<Word>, &o, &a, &b, &parameters, call.stream()));
  });
  return out;
}

Tensor ciphertext_square(const Tensor input, const Tensor rns_params) {
  const CudaCall call("ciphertext_square", "input", input);
  const Sizes shape = check_two_components(call, "input", input);
  Tensor out = empty_on(input, shape);
  for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows in = device_rows(call, rows_of<Word>(input));
    const DeviceParameters parameters = device_parameters(call, rns_params, in.limbs);
    call.check_launch(
        fhelium_cuda_ciphertext_square(kWordBits<Word>, &o, &in, &parameters, call.stream()));
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CUDA, m) {
  m.impl("add_plaintext", FHELIUM_BOX(&fhelium::add_plaintext));
  m.impl("add_plaintext_", FHELIUM_BOX(&fhelium::add_plaintext_));
  m.impl("multiply_plaintext", FHELIUM_BOX(&fhelium::multiply_plaintext));
  m.impl("multiply_plaintext_", FHELIUM_BOX(&fhelium::multiply_plaintext_));
  m.impl("ciphertext_product", FHELIUM_BOX(&fhelium::ciphertext_product));
  m.impl("ciphertext_square", FHELIUM_BOX(&fhelium::ciphertext_square));
}
