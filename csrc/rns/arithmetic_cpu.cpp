// Coefficient-wise operators: one driver for two operands, one for one.
#include "common/checks.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

// An operator: its names, its kernel, and its time per coefficient for the split over threads.
struct Add {
  static constexpr auto kName = "add_standard", kNameInPlace = "add_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static constexpr BinaryRow<Word> RnsKernels<Word>::* kRow = &RnsKernels<Word>::add;
};
struct Subtract {
  static constexpr auto kName = "subtract_standard", kNameInPlace = "subtract_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static constexpr BinaryRow<Word> RnsKernels<Word>::* kRow = &RnsKernels<Word>::subtract;
};
struct Multiply {
  static constexpr auto kName = "multiply_montgomery", kNameInPlace = "multiply_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static constexpr BinaryRow<Word> RnsKernels<Word>::* kRow =
      &RnsKernels<Word>::multiply_montgomery;
};
struct Negate {
  static constexpr auto kName = "negate_standard", kNameInPlace = "negate_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static constexpr UnaryRow<Word> RnsKernels<Word>::* kRow = &RnsKernels<Word>::negate;
};
struct ToMontgomery {
  static constexpr auto kName = "to_montgomery", kNameInPlace = "to_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static constexpr UnaryRow<Word> RnsKernels<Word>::* kRow = &RnsKernels<Word>::to_montgomery;
};
struct FromMontgomery {
  static constexpr auto kName = "from_montgomery", kNameInPlace = "from_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static constexpr UnaryRow<Word> RnsKernels<Word>::* kRow = &RnsKernels<Word>::from_montgomery;
};

template <class Operator>
void run_binary(const char* name, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
                const Tensor& rns_params) {
  for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), a = rows_of<Word>(lhs), b = broadcast_rows<Word>(rhs, lhs);
    const auto moduli = check_parameters<Word>(name, rns_params, a.limbs);
    const BinaryRow<Word> row = rns_kernels<Word>().*Operator::template kRow<Word>;
    for_each_row(o.limbs, o.batches, o.degree, Operator::kNanoseconds,
                 [&](int64_t limb, int64_t batch) {
                   row(o.pointer(batch, limb), o.step, a.pointer(batch, limb), a.step,
                       b.pointer(batch, limb), b.step, o.degree, moduli[static_cast<size_t>(limb)]);
                 });
  });
}

template <class Operator>
Tensor binary(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues(Operator::kName, "lhs", lhs);
  check_broadcast(Operator::kName, "rhs", rhs, lhs);
  Tensor out = empty_on(lhs, sizes_of(lhs));
  run_binary<Operator>(Operator::kName, out, lhs, rhs, rns_params);
  return out;
}

template <class Operator>
void binary_in_place(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues(Operator::kNameInPlace, "lhs", lhs);
  check_broadcast(Operator::kNameInPlace, "rhs", rhs, lhs);
  check_destination(Operator::kNameInPlace, lhs);
  check_overlap(Operator::kNameInPlace, lhs, rhs);
  check_overlap(Operator::kNameInPlace, lhs, rns_params);
  run_binary<Operator>(Operator::kNameInPlace, lhs, lhs, rhs, rns_params);
}

template <class Operator>
void run_unary(const char* name, const Tensor& out, const Tensor& input, const Tensor& rns_params) {
  for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const auto moduli = check_parameters<Word>(name, rns_params, in.limbs);
    const UnaryRow<Word> row = rns_kernels<Word>().*Operator::template kRow<Word>;
    for_each_row(o.limbs, o.batches, o.degree, Operator::kNanoseconds,
                 [&](int64_t limb, int64_t batch) {
                   row(o.pointer(batch, limb), o.step, in.pointer(batch, limb), in.step, o.degree,
                       moduli[static_cast<size_t>(limb)]);
                 });
  });
}

template <class Operator>
Tensor unary(const Tensor input, const Tensor rns_params) {
  check_residues(Operator::kName, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  run_unary<Operator>(Operator::kName, out, input, rns_params);
  return out;
}

template <class Operator>
void unary_in_place(Tensor input, const Tensor rns_params) {
  check_residues(Operator::kNameInPlace, "input", input);
  check_destination(Operator::kNameInPlace, input);
  check_overlap(Operator::kNameInPlace, input, rns_params);
  run_unary<Operator>(Operator::kNameInPlace, input, input, rns_params);
}

Tensor reduce_integers(const Tensor integers, const Tensor rns_params, ScalarType dtype) {
  constexpr auto kName = "reduce_integers";
  check_axes(kName, "integers", integers, 1, "Integers are [*batch, N]");
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  check_residue_type(kName, dtype);
  Sizes shape = sizes_of(integers);
  shape.insert(shape.end() - 1, rns_params.size(1));
  Tensor out = empty_on(integers, shape, dtype);
  const Tensor with_limb_axis = insert_axis(integers, integers.dim() - 1);
  // An integer word is no residue word, but its rows lie in the same way.
  const auto in = rows_of<i64>(with_limb_axis);
  for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out);
    const auto moduli = check_parameters<Word>(kName, rns_params, o.limbs);
    const auto row = rns_kernels<Word>().reduce_integers;
    for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
      row(o.pointer(batch, limb), o.step, in.pointer(batch, 0), in.step, o.degree,
          moduli[static_cast<size_t>(limb)]);
    });
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  using namespace fhelium;
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
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
}
