// Coefficient-wise operators: one driver for two operands, one for one.
#include "common/checks.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

struct BinaryOperator {
  const char *name, *name_in_place;
  BinaryRow RnsKernels::* row;
  double nanoseconds;  // per coefficient, for the split over threads
};
constexpr BinaryOperator kAdd = {"add_standard", "add_standard_", &RnsKernels::add, 0.7};
constexpr BinaryOperator kSubtract = {"subtract_standard", "subtract_standard_",
                                      &RnsKernels::subtract, 0.7};
constexpr BinaryOperator kMultiply = {"multiply_montgomery", "multiply_montgomery_",
                                      &RnsKernels::multiply_montgomery, 1.5};

struct UnaryOperator {
  const char *name, *name_in_place;
  UnaryRow RnsKernels::* row;
  double nanoseconds;
};
constexpr UnaryOperator kNegate = {"negate_standard", "negate_standard_", &RnsKernels::negate, 0.7};
constexpr UnaryOperator kToMontgomery = {"to_montgomery", "to_montgomery_",
                                         &RnsKernels::to_montgomery, 1.5};
constexpr UnaryOperator kFromMontgomery = {"from_montgomery", "from_montgomery_",
                                           &RnsKernels::from_montgomery, 1.5};

void run_binary(const BinaryOperator& op, const char* name, const Tensor& out, const Tensor& lhs,
                const Tensor& rhs, const std::vector<Modulus>& moduli) {
  const ResidueRows o = rows_of(out), a = rows_of(lhs), b = broadcast_rows(name, "rhs", rhs, lhs);
  const BinaryRow row = rns_kernels().*op.row;
  for_each_row(o.limbs, o.batches, o.degree, op.nanoseconds, [&](int64_t limb, int64_t batch) {
    row(o.pointer(batch, limb), o.step, a.pointer(batch, limb), a.step, b.pointer(batch, limb),
        b.step, o.degree, moduli[static_cast<size_t>(limb)]);
  });
}

std::vector<Modulus> check_binary(const char* name, const Tensor& lhs, const Tensor& rhs,
                                  const Tensor& rns_params) {
  check_residues(name, "lhs", lhs);
  check_residues(name, "rhs", rhs);
  broadcast_rows(name, "rhs", rhs, lhs);
  return check_parameters(name, rns_params, lhs.size(lhs.dim() - 2));
}

template <const BinaryOperator& kOperator>
Tensor binary(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const auto moduli = check_binary(kOperator.name, lhs, rhs, rns_params);
  Tensor out = empty_on(lhs, sizes_of(lhs));
  run_binary(kOperator, kOperator.name, out, lhs, rhs, moduli);
  return out;
}

template <const BinaryOperator& kOperator>
void binary_in_place(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  const auto moduli = check_binary(kOperator.name_in_place, lhs, rhs, rns_params);
  check_destination(kOperator.name_in_place, lhs);
  check_overlap(kOperator.name_in_place, lhs, rhs);
  check_overlap(kOperator.name_in_place, lhs, rns_params);
  run_binary(kOperator, kOperator.name_in_place, lhs, lhs, rhs, moduli);
}

void run_unary(const UnaryOperator& op, const Tensor& out, const Tensor& input,
               const std::vector<Modulus>& moduli) {
  const ResidueRows o = rows_of(out), in = rows_of(input);
  const UnaryRow row = rns_kernels().*op.row;
  for_each_row(o.limbs, o.batches, o.degree, op.nanoseconds, [&](int64_t limb, int64_t batch) {
    row(o.pointer(batch, limb), o.step, in.pointer(batch, limb), in.step, o.degree,
        moduli[static_cast<size_t>(limb)]);
  });
}

std::vector<Modulus> check_unary(const char* name, const Tensor& input, const Tensor& rns_params) {
  check_residues(name, "input", input);
  return check_parameters(name, rns_params, input.size(input.dim() - 2));
}

template <const UnaryOperator& kOperator>
Tensor unary(const Tensor input, const Tensor rns_params) {
  const auto moduli = check_unary(kOperator.name, input, rns_params);
  Tensor out = empty_on(input, sizes_of(input));
  run_unary(kOperator, out, input, moduli);
  return out;
}

template <const UnaryOperator& kOperator>
void unary_in_place(Tensor input, const Tensor rns_params) {
  const auto moduli = check_unary(kOperator.name_in_place, input, rns_params);
  check_destination(kOperator.name_in_place, input);
  check_overlap(kOperator.name_in_place, input, rns_params);
  run_unary(kOperator, input, input, moduli);
}

Tensor reduce_integers(const Tensor integers, const Tensor rns_params) {
  constexpr auto kName = "reduce_integers";
  check_axes(kName, "integers", integers, 1, "Integers are [*batch, N]");
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  const auto moduli = check_parameters(kName, rns_params, rns_params.size(1));
  Sizes shape = sizes_of(integers);
  shape.insert(shape.end() - 1, rns_params.size(1));
  Tensor out = empty_on(integers, shape);
  const ResidueRows o = rows_of(out);
  const Tensor with_limb_axis = insert_axis(integers, integers.dim() - 1);
  const ResidueRows in = rows_of(with_limb_axis);
  const UnaryRow row = rns_kernels().reduce_integers;
  for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
    row(o.pointer(batch, limb), o.step, in.pointer(batch, 0), in.step, o.degree,
        moduli[static_cast<size_t>(limb)]);
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  using namespace fhelium;
  m.impl("add_standard", FHELIUM_BOX(&binary<kAdd>));
  m.impl("add_standard_", FHELIUM_BOX(&binary_in_place<kAdd>));
  m.impl("subtract_standard", FHELIUM_BOX(&binary<kSubtract>));
  m.impl("subtract_standard_", FHELIUM_BOX(&binary_in_place<kSubtract>));
  m.impl("multiply_montgomery", FHELIUM_BOX(&binary<kMultiply>));
  m.impl("multiply_montgomery_", FHELIUM_BOX(&binary_in_place<kMultiply>));
  m.impl("negate_standard", FHELIUM_BOX(&unary<kNegate>));
  m.impl("negate_standard_", FHELIUM_BOX(&unary_in_place<kNegate>));
  m.impl("to_montgomery", FHELIUM_BOX(&unary<kToMontgomery>));
  m.impl("to_montgomery_", FHELIUM_BOX(&unary_in_place<kToMontgomery>));
  m.impl("from_montgomery", FHELIUM_BOX(&unary<kFromMontgomery>));
  m.impl("from_montgomery_", FHELIUM_BOX(&unary_in_place<kFromMontgomery>));
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
}
