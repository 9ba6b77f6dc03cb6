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
  const DeviceRows c = call.rows(ciphertext);
  call.launch(fhelium_cuda_add_plaintext, ciphertext, call.rows(out), c,
              call.rows(plaintext, ciphertext), call.parameters(rns_params, ciphertext),
              c.batches / ciphertext.size(0));
  return out;
}

/// out = launcher(ciphertext, plaintext) in every component that both have.
template <class Launcher>
void run(const CudaCall& call, const Launcher& launcher, const Tensor& out,
         const Tensor& ciphertext, const Tensor& plaintext, const Tensor& rns_params) {
  call.launch(launcher, ciphertext, call.rows(out), call.rows(ciphertext),
              call.rows(plaintext, ciphertext), call.parameters(rns_params, ciphertext));
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
  call.launch(fhelium_cuda_ciphertext_product, lhs, call.rows(out), call.rows(lhs), call.rows(rhs),
              call.parameters(rns_params, lhs));
  return out;
}

Tensor ciphertext_square(const Tensor input, const Tensor rns_params) {
  const CudaCall call("ciphertext_square", "input", input);
  const Sizes shape = check_two_components(call, "input", input);
  Tensor out = empty_on(input, shape);
  call.launch(fhelium_cuda_ciphertext_square, input, call.rows(out), call.rows(input),
              call.parameters(rns_params, input));
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
