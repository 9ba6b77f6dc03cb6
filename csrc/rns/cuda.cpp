// Coefficient-wise operators on CUDA tensors: the checks of the CPU's, then one launch.
#include "common/cuda_call.h"
#include "rns/cuda_kernels.h"
#include "rns/parameters.h"

namespace fhelium {
namespace {

// An operator: its names and its launcher.
struct Add {
  static constexpr auto kName = "add_standard", kNameInPlace = "add_standard_";
  static constexpr auto kLaunch = fhelium_cuda_add_standard;
};
struct Subtract {
  static constexpr auto kName = "subtract_standard", kNameInPlace = "subtract_standard_";
  static constexpr auto kLaunch = fhelium_cuda_subtract_standard;
};
struct Multiply {
  static constexpr auto kName = "multiply_montgomery", kNameInPlace = "multiply_montgomery_";
  static constexpr auto kLaunch = fhelium_cuda_multiply_montgomery;
};
struct Negate {
  static constexpr auto kName = "negate_standard", kNameInPlace = "negate_standard_";
  static constexpr auto kLaunch = fhelium_cuda_negate_standard;
};
struct ToMontgomery {
  static constexpr auto kName = "to_montgomery", kNameInPlace = "to_montgomery_";
  static constexpr auto kLaunch = fhelium_cuda_to_montgomery;
};
struct FromMontgomery {
  static constexpr auto kName = "from_montgomery", kNameInPlace = "from_montgomery_";
  static constexpr auto kLaunch = fhelium_cuda_from_montgomery;
};

// On lazy residues, in [0, 2q); int32 ones need q < 2^30, which the host does not see here.
struct AddLazy {
  static constexpr auto kName = "add_lazy", kNameInPlace = "add_lazy_";
  static constexpr auto kLaunch = fhelium_cuda_add_lazy;
};
struct SubtractLazy {
  static constexpr auto kName = "subtract_lazy", kNameInPlace = "subtract_lazy_";
  static constexpr auto kLaunch = fhelium_cuda_subtract_lazy;
};
struct MultiplyLazy {
  static constexpr auto kName = "multiply_montgomery_lazy",
                        kNameInPlace = "multiply_montgomery_lazy_";
  static constexpr auto kLaunch = fhelium_cuda_multiply_montgomery;
};
struct NegateLazy {
  static constexpr auto kName = "negate_lazy", kNameInPlace = "negate_lazy_";
  static constexpr auto kLaunch = fhelium_cuda_negate_lazy;
};
struct ReduceLazy {
  static constexpr auto kName = "reduce_lazy", kNameInPlace = "reduce_lazy_";
  static constexpr auto kLaunch = fhelium_cuda_reduce_lazy;
};

template <class Operator>
void run_binary(const CudaCall& call, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
                const Tensor& rns_params) {
  for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows a = device_rows(call, rows_of<Word>(lhs));
    const DeviceRows b = device_rows(call, broadcast_rows<Word>(rhs, lhs));
    const DeviceParameters parameters = device_parameters(call, rns_params, a.limbs);
    call.check_launch(Operator::kLaunch(kWordBits<Word>, &o, &a, &b, &parameters, call.stream()));
  });
}

template <class Operator>
Tensor binary(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const CudaCall call(Operator::kName, "lhs", lhs);
  check_residues(call, "lhs", lhs);
  check_broadcast(call, "rhs", rhs, lhs);
  Tensor out = empty_on(lhs, sizes_of(lhs));
  run_binary<Operator>(call, out, lhs, rhs, rns_params);
  return out;
}

template <class Operator>
void binary_in_place(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const CudaCall call(Operator::kNameInPlace, "lhs", lhs);
  check_residues(call, "lhs", lhs);
  check_broadcast(call, "rhs", rhs, lhs);
  check_destination(call, lhs);
  check_overlap(call, lhs, rhs);
  check_overlap(call, lhs, rns_params);
  run_binary<Operator>(call, lhs, lhs, rhs, rns_params);
}

template <class Operator>
void run_unary(const CudaCall& call, const Tensor& out, const Tensor& input,
               const Tensor& rns_params) {
  for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceRows in = device_rows(call, rows_of<Word>(input));
    const DeviceParameters parameters = device_parameters(call, rns_params, in.limbs);
    call.check_launch(Operator::kLaunch(kWordBits<Word>, &o, &in, &parameters, call.stream()));
  });
}

template <class Operator>
Tensor unary(const Tensor input, const Tensor rns_params) {
  const CudaCall call(Operator::kName, "input", input);
  check_residues(call, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  run_unary<Operator>(call, out, input, rns_params);
  return out;
}

template <class Operator>
void unary_in_place(Tensor input, const Tensor rns_params) {
  const CudaCall call(Operator::kNameInPlace, "input", input);
  check_residues(call, "input", input);
  check_destination(call, input);
  check_overlap(call, input, rns_params);
  run_unary<Operator>(call, input, input, rns_params);
}

Tensor reduce_integers(const Tensor integers, const Tensor rns_params, ScalarType dtype) {
  const CudaCall call("reduce_integers", "integers", integers);
  check_axes(call, "integers", integers, 1, "Integers are [*batch, N]");
  check_axes(call, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  check_residue_type(call, dtype);
  Sizes shape = sizes_of(integers);
  shape.insert(shape.end() - 1, rns_params.size(1));
  Tensor out = empty_on(integers, shape, dtype);
  auto source = rows_of<i64>(insert_axis(integers, integers.dim() - 1));
  source.limb_stride = 0;  // one row for all limbs
  const DeviceRows in = device_rows(call, source);
  for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows o = device_rows(call, rows_of<Word>(out));
    const DeviceParameters parameters = device_parameters(call, rns_params, o.limbs);
    call.check_launch(
        fhelium_cuda_reduce_integers(kWordBits<Word>, &o, &in, &parameters, call.stream()));
  });
  return out;
}

Tensor count_out_of_range(const Tensor input, const Tensor rns_params) {
  const CudaCall call("count_out_of_range", "input", input);
  check_residues(call, "input", input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const DeviceRows in = device_rows(call, rows_of<Word>(input));
    const DeviceParameters parameters = device_parameters(call, rns_params, in.limbs);
    Tensor out = zeros_on(input, {in.limbs}, kInt64);
    call.check_launch(fhelium_cuda_count_out_of_range(
        kWordBits<Word>, out.mutable_data_ptr<int64_t>(), &in, &parameters, call.stream()));
    return out;
  });
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
  m.impl("add_standard", FHELIUM_BOX(&binary<Add>));
  m.impl("add_standard_", FHELIUM_BOX(&binary_in_place<Add>));
  m.impl("subtract_standard", FHELIUM_BOX(&binary<Subtract>));
  m.impl("subtract_standard_", FHELIUM_BOX(&binary_in_place<Subtract>));
  m.impl("multiply_montgomery", FHELIUM_BOX(&binary<Multiply>));
  m.impl("multiply_montgomery_", FHELIUM_BOX(&binary_in_place<Multiply>));
  m.impl("negate_standard", FHELIUM_BOX(&unary<Negate>));
  m.impl("negate_standard_", FHELIUM_BOX(&unary_in_place<Negate>));
  m.impl("to_montgomery", FHELIUM_BOX(&unary<ToMontgomery>));
  m.impl("to_montgomery_", FHELIUM_BOX(&unary_in_place<ToMontgomery>));
  m.impl("from_montgomery", FHELIUM_BOX(&unary<FromMontgomery>));
  m.impl("from_montgomery_", FHELIUM_BOX(&unary_in_place<FromMontgomery>));
  m.impl("add_lazy", FHELIUM_BOX(&binary<AddLazy>));
  m.impl("add_lazy_", FHELIUM_BOX(&binary_in_place<AddLazy>));
  m.impl("subtract_lazy", FHELIUM_BOX(&binary<SubtractLazy>));
  m.impl("subtract_lazy_", FHELIUM_BOX(&binary_in_place<SubtractLazy>));
  m.impl("multiply_montgomery_lazy", FHELIUM_BOX(&binary<MultiplyLazy>));
  m.impl("multiply_montgomery_lazy_", FHELIUM_BOX(&binary_in_place<MultiplyLazy>));
  m.impl("negate_lazy", FHELIUM_BOX(&unary<NegateLazy>));
  m.impl("negate_lazy_", FHELIUM_BOX(&unary_in_place<NegateLazy>));
  m.impl("reduce_lazy", FHELIUM_BOX(&unary<ReduceLazy>));
  m.impl("reduce_lazy_", FHELIUM_BOX(&unary_in_place<ReduceLazy>));
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
  m.impl("count_out_of_range", FHELIUM_BOX(&count_out_of_range));
}
