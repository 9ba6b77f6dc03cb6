// Basis conversions on CUDA tensors. What constants and borders hold stays unread here: kernels
// clip borders, and wrong constants give wrong values.
#include "common/cuda_call.h"
#include "rns/cuda_kernels.h"
#include "rns/digits.h"

namespace fhelium {
namespace {

constexpr auto kPerLimb = "It holds one constant per limb";
constexpr auto kMatrixRule = "Its rows are the source primes, its columns the target limbs";

Tensor mod_up(const Tensor input, const Tensor digit_bounds, const Tensor digit_scale,
              const Tensor matrix, const Tensor correction, const Tensor rns_params) {
  const CudaCall call("mod_up", "input", input);
  check_residues(call, "input", input);
  check_axes(call, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  check_axes(call, "digit_bounds", digit_bounds, 1, "It is [D + 1]");
  const ScalarType dtype = input.scalar_type();
  const int64_t q_limbs = input.size(input.dim() - 2), limbs = rns_params.size(1);
  const int64_t digits = digit_bounds.size(0) - 1;
  if (limbs <= q_limbs || digits < 1 || digits > q_limbs)
    refuse(call,
           "there are " + std::to_string(digits) + " digits, rns_params has " +
               std::to_string(limbs) + " limbs, the input has " + std::to_string(q_limbs),
           "A digit has at least one of the input's primes, and special primes come after those",
           "Pass the digits and the parameters of basis QP at the input's depth");
  const Tensor bounds =
      dense_constants(call, "digit_bounds", digit_bounds, kInt64, {digits + 1}, "It is [D + 1]");
  const Tensor scale =
      dense_constants(call, "digit_scale", digit_scale, dtype, {q_limbs}, kPerLimb);
  const Tensor factors =
      dense_constants(call, "matrix", matrix, dtype, {q_limbs, limbs}, kMatrixRule);
  const Tensor products =
      dense_constants(call, "correction", correction, dtype, {digits, limbs}, kMatrixRule);
  Sizes shape = sizes_of(input);
  shape[shape.size() - 2] = limbs;
  shape.insert(shape.begin(), digits);
  Tensor out = empty_on(input, shape);
  call.launch(fhelium_cuda_mod_up, input, call.rows(out), call.rows(input),
              bounds.const_data_ptr<int64_t>(), digits, scale.const_data_ptr(),
              factors.const_data_ptr(), products.const_data_ptr(),
              call.parameters(rns_params, limbs));
  return out;
}

Tensor mod_down(const Tensor input, const Tensor special_scale, const Tensor matrix,
                const Tensor correction, const Tensor special_inverse, const Tensor rns_params) {
  const CudaCall call("mod_down", "input", input);
  check_residues(call, "input", input);
  const ScalarType dtype = input.scalar_type();
  const int64_t specials = check_specials(call, input, special_scale);
  const int64_t limbs = input.size(input.dim() - 2), q_limbs = limbs - specials;
  const auto per_limb = [&](const char* name, const Tensor& tensor, int64_t count) {
    return dense_constants(call, name, tensor, dtype, {count}, kPerLimb);
  };
  const Tensor scale = per_limb("special_scale", special_scale, specials);
  const Tensor factors =
      dense_constants(call, "matrix", matrix, dtype, {specials, q_limbs}, kMatrixRule);
  const Tensor product = per_limb("correction", correction, q_limbs);
  const Tensor inverse = per_limb("special_inverse", special_inverse, q_limbs);
  Sizes shape = sizes_of(input);
  shape[shape.size() - 2] = q_limbs;
  Tensor out = empty_on(input, shape);
  call.launch(fhelium_cuda_mod_down, input, call.rows(out), call.rows(input),
              scale.const_data_ptr(), factors.const_data_ptr(), product.const_data_ptr(),
              inverse.const_data_ptr(), call.parameters(rns_params, limbs));
  return out;
}

Tensor mixed_radix_digits(const Tensor input, const Tensor inverses, const Tensor rns_params) {
  const CudaCall call("mixed_radix_digits", "input", input);
  check_residues(call, "input", input);
  const int64_t limbs = input.size(input.dim() - 2);
  const Tensor inverse =
      dense_constants(call, "inverses", inverses, input.scalar_type(), {limbs, limbs}, kMatrixRule);
  Tensor out = empty_on(input, sizes_of(input));
  call.launch(fhelium_cuda_mixed_radix_digits, input, call.rows(out), call.rows(input),
              inverse.const_data_ptr(), call.parameters(rns_params, limbs));
  return out;
}

Tensor mixed_radix_extend(const Tensor digits, const Tensor radices, const Tensor digit_params,
                          const Tensor rns_params) {
  const CudaCall call("mixed_radix_extend", "digits", digits);
  check_residues(call, "digits", digits);
  check_axes(call, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  Sizes shape = sizes_of(digits);
  const int64_t count = shape[shape.size() - 2], limbs = rns_params.size(1);
  const Tensor radix = dense_constants(call, "radices", radices, digits.scalar_type(),
                                       {count + 1, limbs}, kMatrixRule);
  shape[shape.size() - 2] = limbs;
  Tensor out = empty_on(digits, shape);
  call.launch(fhelium_cuda_mixed_radix_extend, digits, call.rows(out), call.rows(digits),
              radix.const_data_ptr(), call.parameters(digit_params, count),
              call.parameters(rns_params, limbs));
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CUDA, m) {
  m.impl("mod_up", FHELIUM_BOX(&fhelium::mod_up));
  m.impl("mod_down", FHELIUM_BOX(&fhelium::mod_down));
  m.impl("mixed_radix_digits", FHELIUM_BOX(&fhelium::mixed_radix_digits));
  m.impl("mixed_radix_extend", FHELIUM_BOX(&fhelium::mixed_radix_extend));
}
