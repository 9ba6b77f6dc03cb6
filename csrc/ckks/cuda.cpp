// Automorphisms, key-switch inner products, rescaling and sums of products on CUDA tensors.
#include "ckks/checks.h"
#include "ckks/cuda_kernels.h"
#include "common/cuda_call.h"
#include "ntt/cuda_checks.h"

namespace fhelium {
namespace {

Tensor automorphism_coefficient(const Tensor input, int64_t galois_element,
                                const Tensor rns_params) {
  const CudaCall call("automorphism_coefficient", "input", input);
  check_automorphism(call, input, galois_element);
  Tensor out = empty_on(input, sizes_of(input));
  call.launch(fhelium_cuda_automorphism_coefficient, input, call.rows(out), call.rows(input),
              galois_element, call.parameters(rns_params, input));
  return out;
}

Tensor automorphism_ntt(const Tensor input, int64_t galois_element) {
  const CudaCall call("automorphism_ntt", "input", input);
  check_automorphism(call, input, galois_element);
  Tensor out = empty_on(input, sizes_of(input));
  call.launch(fhelium_cuda_automorphism_ntt, input, call.rows(out), call.rows(input),
              galois_element);
  return out;
}

Tensor key_switch_inner_product(const Tensor digits, const Tensor key, const Tensor rns_params) {
  const CudaCall call("key_switch_inner_product", "digits", digits);
  const Sizes shape = check_digits_and_key(call, digits, key);
  Tensor out = empty_on(digits, shape);
  constexpr int64_t kIdentity = 1;
  call.launch(fhelium_cuda_key_switch_inner_product, digits, call.rows(out), call.rows(digits),
              call.rows(key), kIdentity, call.parameters(rns_params, digits));
  return out;
}

/// q_0^-1 for the limbs that remain.
Tensor dense_inverse(const CudaCall& call, const Tensor& inverse, const Tensor& input,
                     int64_t remaining) {
  return dense_constants(call, "inverse", inverse, input.scalar_type(), {remaining},
                         "It holds one constant per limb");
}

template <class Launcher>
Tensor rescale(const CudaCall& call, const Launcher& launcher, const Tensor& input,
               const Tensor& inverse, const Tensor& rns_params) {
  check_residues(call, "input", input);
  const Sizes shape = check_limb_to_drop(call, input);
  const Tensor constants = dense_inverse(call, inverse, input, shape[shape.size() - 2]);
  Tensor out = empty_on(input, shape);
  call.launch(launcher, input, call.rows(out), call.rows(input), constants.const_data_ptr(),
              call.parameters(rns_params, input));
  return out;
}

Tensor rescale_nearest(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  const CudaCall call("rescale_nearest", "input", input);
  return rescale(call, fhelium_cuda_rescale_nearest, input, inverse, rns_params);
}

Tensor rescale_truncating(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  const CudaCall call("rescale_truncating", "input", input);
  return rescale(call, fhelium_cuda_rescale_truncating, input, inverse, rns_params);
}

/// Rescale NTT values, times a plaintext where there is one; operands are checked but for these.
Tensor rescale_values(const CudaCall& call, const Tensor& input, const Tensor* plaintext,
                      const Tensor& inverse, const Tensor& ntt_tables, const Tensor& rns_params) {
  const Sizes shape = check_limb_to_drop(call, input);
  const int64_t degree = check_degree(call, input), limbs = input.size(input.dim() - 2);
  const Tensor constants = dense_inverse(call, inverse, input, limbs - 1);
  check_twiddle_rows(call, "ntt_tables", ntt_tables, input, limbs);
  Tensor out = empty_on(input, shape);
  const DeviceRows in = call.rows(input);
  const DeviceRows factor = plaintext ? call.rows(*plaintext, input) : DeviceRows{};
  const Tensor workspace = empty_on(input, {in.batches, degree});
  call.launch(fhelium_cuda_rescale_ntt, input, call.rows(out), in, plaintext ? &factor : nullptr,
              constants.const_data_ptr(), ntt_tables.const_data_ptr(), ntt_tables.stride(0),
              call.parameters(rns_params, limbs), workspace.mutable_data_ptr());
  return out;
}

Tensor rescale_ntt(Tensor input, const Tensor inverse, const Tensor ntt_tables,
                   const Tensor rns_params) {
  const CudaCall call("rescale_ntt", "input", input);
  check_residues(call, "input", input);
  return rescale_values(call, input, nullptr, inverse, ntt_tables, rns_params);
}

Tensor multiply_plaintext_rescale(const Tensor ciphertext, const Tensor plaintext,
                                  const Tensor inverse, const Tensor ntt_tables,
                                  const Tensor rns_params) {
  const CudaCall call("multiply_plaintext_rescale", "ciphertext", ciphertext);
  check_plaintext(call, ciphertext, plaintext);
  return rescale_values(call, ciphertext, &plaintext, inverse, ntt_tables, rns_params);
}

Tensor sum_plaintext_products(std::vector<Tensor> ciphertexts, std::vector<Tensor> plaintexts,
                              const Tensor rns_params) {
  constexpr auto kName = "sum_plaintext_products";
  const CudaCall call(kName, "ciphertexts", ciphertexts.empty() ? rns_params : ciphertexts[0]);
  check_terms(call, ciphertexts, plaintexts);
  const Tensor& like = ciphertexts[0];
  Tensor out = empty_on(like, sizes_of(like));
  std::vector<DeviceRows> c, p;
  for (const Tensor& ciphertext : ciphertexts) c.push_back(call.rows(ciphertext));
  for (const Tensor& plaintext : plaintexts) p.push_back(call.rows(plaintext, like));
  call.launch(fhelium_cuda_sum_plaintext_products, like, call.rows(out), c.data(), p.data(),
              static_cast<int64_t>(c.size()), call.parameters(rns_params, like));
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CUDA, m) {
  m.impl("automorphism_coefficient", FHELIUM_BOX(&fhelium::automorphism_coefficient));
  m.impl("automorphism_ntt", FHELIUM_BOX(&fhelium::automorphism_ntt));
  m.impl("key_switch_inner_product", FHELIUM_BOX(&fhelium::key_switch_inner_product));
  m.impl("rescale_nearest", FHELIUM_BOX(&fhelium::rescale_nearest));
  m.impl("rescale_truncating", FHELIUM_BOX(&fhelium::rescale_truncating));
  m.impl("rescale_ntt", FHELIUM_BOX(&fhelium::rescale_ntt));
  m.impl("multiply_plaintext_rescale", FHELIUM_BOX(&fhelium::multiply_plaintext_rescale));
  m.impl("sum_plaintext_products", FHELIUM_BOX(&fhelium::sum_plaintext_products));
}
