// Coefficient-wise operators on CUDA tensors: the checks of the CPU's, then one launch.
#include "common/cuda_call.h"
#include "common/names.h"
#include "rns/cuda_kernels.h"
#include "rns/parameters.h"

namespace fhelium {
namespace {

template <auto kLaunch>
void launch_binary(const CudaCall& call, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
                   const Tensor& rns_params) {
  call.launch(kLaunch, lhs, call.rows(out), call.rows(lhs), call.rows(rhs, lhs),
              call.parameters(rns_params, lhs));
}

template <Name kName, auto kLaunch>
Tensor binary(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const CudaCall call(kName.text, "lhs", lhs);
  check_residues(call, "lhs", lhs);
  check_broadcast(call, "rhs", rhs, lhs);
  Tensor out = empty_on(lhs, sizes_of(lhs));
  launch_binary<kLaunch>(call, out, lhs, rhs, rns_params);
  return out;
}

template <Name kName, auto kLaunch>
void binary_in_place(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const CudaCall call(kName.text, "lhs", lhs);
  check_residues(call, "lhs", lhs);
  check_broadcast(call, "rhs", rhs, lhs);
  check_destination(call, lhs);
  check_overlap(call, lhs, rhs);
  check_overlap(call, lhs, rns_params);
  launch_binary<kLaunch>(call, lhs, lhs, rhs, rns_params);
}

template <Name kName, auto kLaunch>
Tensor unary(const Tensor input, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  call.launch(kLaunch, input, call.rows(out), call.rows(input), call.parameters(rns_params, input));
  return out;
}

template <Name kName, auto kLaunch>
void unary_in_place(Tensor input, const Tensor rns_params) {
  const CudaCall call(kName.text, "input", input);
  check_residues(call, "input", input);
  check_destination(call, input);
  check_overlap(call, input, rns_params);
  const DeviceRows rows = call.rows(input);
  call.launch(kLaunch, input, rows, rows, call.parameters(rns_params, input));
}

/// Both forms of an operator on two operands, and on one.
template <Name kName, auto kLaunch, class Library>
void register_binary(Library& m) {
  m.impl(kName.text, FHELIUM_BOX((&binary<kName, kLaunch>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&binary_in_place<in_place(kName), kLaunch>)));
}
template <Name kName, auto kLaunch, class Library>
void register_unary(Library& m) {
  m.impl(kName.text, FHELIUM_BOX((&unary<kName, kLaunch>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&unary_in_place<in_place(kName), kLaunch>)));
}

Tensor reduce_integers(const Tensor integers, const Tensor rns_params, ScalarType dtype) {
  const CudaCall call("reduce_integers", "integers", integers);
  check_axes(call, "integers", integers, 1, "Integers are [*batch, N]");
  check_axes(call, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  check_residue_type(call, dtype);
  Sizes shape = sizes_of(integers);
  shape.insert(shape.end() - 1, rns_params.size(1));
  Tensor out = empty_on(integers, shape, dtype);
  DeviceRows source = call.rows(insert_axis(integers, integers.dim() - 1));
  source.limb_stride = 0;  // one row for all limbs
  call.launch(fhelium_cuda_reduce_integers, out, call.rows(out), source,
              call.parameters(rns_params, out));
  return out;
}

Tensor count_out_of_range(const Tensor input, const Tensor rns_params) {
  const CudaCall call("count_out_of_range", "input", input);
  check_residues(call, "input", input);
  Tensor out = zeros_on(input, {input.size(input.dim() - 2)}, kInt64);
  call.launch(fhelium_cuda_count_out_of_range, input, out.mutable_data_ptr<int64_t>(),
              call.rows(input), call.parameters(rns_params, input));
  return out;
}

/// Made once for each basis, so it may wait: the host checks the moduli.
Tensor rns_parameters_cuda(const Tensor moduli, int64_t degree) {
  const CudaCall call("rns_parameters", "moduli", moduli);
  return on_device_of(moduli, rns_parameters(on_cpu(moduli), degree));
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CUDA, m) {
  using namespace fhelium;
  m.impl("rns_parameters", FHELIUM_BOX(&rns_parameters_cuda));
  register_binary<"add_standard", fhelium_cuda_add_standard>(m);
  register_binary<"subtract_standard", fhelium_cuda_subtract_standard>(m);
  register_binary<"multiply_montgomery", fhelium_cuda_multiply_montgomery>(m);
  register_unary<"negate_standard", fhelium_cuda_negate_standard>(m);
  register_unary<"to_montgomery", fhelium_cuda_to_montgomery>(m);
  register_unary<"from_montgomery", fhelium_cuda_from_montgomery>(m);
  register_binary<"add_lazy", fhelium_cuda_add_lazy>(m);
  register_binary<"subtract_lazy", fhelium_cuda_subtract_lazy>(m);
  register_binary<"multiply_montgomery_lazy", fhelium_cuda_multiply_lazy>(m);
  register_unary<"negate_lazy", fhelium_cuda_negate_lazy>(m);
  register_unary<"reduce_lazy", fhelium_cuda_reduce_lazy>(m);
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
  m.impl("count_out_of_range", FHELIUM_BOX(&count_out_of_range));
}
