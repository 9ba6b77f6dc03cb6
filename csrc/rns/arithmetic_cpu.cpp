// Coefficient-wise operators, on standard residues and on lazy ones, which lie in [0, 2q). Sums and
// differences of lazy residues are those of standard ones for a modulus of 2q, and so are their
// kernels. Results are exact, the same on every path; reduce_lazy goes back to [0, q), and so does
// a product.
#include "common/checks.h"
#include "common/names.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

// ---- operators: the kernel of each in a table ---------------------------------------------------

constexpr auto kAdd = [](const auto& table) -> decltype(table.add) { return table.add; };
constexpr auto kSubtract = [](const auto& table) -> decltype(table.subtract) {
  return table.subtract;
};
constexpr auto kNegate = [](const auto& table) -> decltype(table.negate) { return table.negate; };
constexpr auto kMultiply = [](const auto& table) -> decltype(table.multiply_montgomery) {
  return table.multiply_montgomery;
};
constexpr auto kMultiplyLazy = [](const auto& table) -> decltype(table.multiply_lazy) {
  return table.multiply_lazy;
};
constexpr auto kToMontgomery = [](const auto& table) -> decltype(table.to_montgomery) {
  return table.to_montgomery;
};
constexpr auto kFromMontgomery = [](const auto& table) -> decltype(table.from_montgomery) {
  return table.from_montgomery;
};
constexpr auto kReduce = []<class Word>(const RnsKernels<Word>&) -> UnaryRow<Word> {
  return [](Word* out, i64 out_step, const Word* in, i64 in_step, i64 n, const Modulus<Word>& m) {
    const Word zero = 0;  // x + 0 mod q
    rns_kernels<Word>().add(out, out_step, in, in_step, &zero, 0, n, m);
  };
};

/// Nanoseconds of a coefficient, for the split over threads.
constexpr double kCost = 1.0;

/// The kernel for these results; `fresh`: nobody has written to them.
template <auto kKernel, class Word>
auto row_for(const ResidueRows<Word>& out, bool fresh) {
  const RnsKernels<Word>& kernels = rns_kernels<Word>();
  if constexpr (requires { kKernel(kernels.past_caches); })
    if (fresh && exceeds_caches(out)) return kKernel(kernels.past_caches);
  return kKernel(kernels);
}

// ---- operands: what their rows are, and so the moduli that a kernel is given -------------------

enum class Rows { kStandard, kLazy, kLazyOfDoubledModulus };

template <Rows kRows, class Word>
std::vector<Modulus<Word>> moduli_of(const char* name, const Tensor& rns_params, int64_t limbs) {
  auto moduli = check_parameters<Word>(name, rns_params, limbs);
  if constexpr (kRows == Rows::kStandard) return moduli;
  for (Modulus<Word>& m : moduli) {  // a sum of two lazy residues stays below 4q, a product q R
    if (m.q >> (kWordBits<Word> - 2) != 0)
      refuse(name, "a limb has q = " + std::to_string(m.q) + ", at most 2^30 fits int32",
             "Lazy residues need room for 4q", "Use the standard operators, or int64 residues");
    if (kRows == Rows::kLazyOfDoubledModulus) m.q *= 2;
  }
  return moduli;
}

// ---- both forms of an operator on two operands, and on one -------------------------------------

template <auto kKernel, Rows kRows>
void run_binary(const char* name, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
                const Tensor& rns_params) {
  for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), a = rows_of<Word>(lhs), b = broadcast_rows<Word>(rhs, lhs);
    const auto moduli = moduli_of<kRows, Word>(name, rns_params, a.limbs);
    const BinaryRow<Word> row = row_for<kKernel>(o, o.data != a.data);
    for_each_row(o.limbs, o.batches, o.degree, kCost, [&](int64_t limb, int64_t batch) {
      row(o.pointer(batch, limb), o.step, a.pointer(batch, limb), a.step, b.pointer(batch, limb),
          b.step, o.degree, moduli[static_cast<size_t>(limb)]);
    });
  });
}

template <Name kName, auto kKernel, Rows kRows>
Tensor binary(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues(kName.text, "lhs", lhs);
  check_broadcast(kName.text, "rhs", rhs, lhs);
  Tensor out = empty_result(lhs, sizes_of(lhs));
  run_binary<kKernel, kRows>(kName.text, out, lhs, rhs, rns_params);
  return out;
}

template <Name kName, auto kKernel, Rows kRows>
void binary_in_place(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues(kName.text, "lhs", lhs);
  check_broadcast(kName.text, "rhs", rhs, lhs);
  check_destination(kName.text, lhs);
  check_overlap(kName.text, lhs, rhs);
  check_overlap(kName.text, lhs, rns_params);
  run_binary<kKernel, kRows>(kName.text, lhs, lhs, rhs, rns_params);
}

template <auto kKernel, Rows kRows>
void run_unary(const char* name, const Tensor& out, const Tensor& input, const Tensor& rns_params) {
  for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const auto moduli = moduli_of<kRows, Word>(name, rns_params, in.limbs);
    const UnaryRow<Word> row = row_for<kKernel>(o, o.data != in.data);
    for_each_row(o.limbs, o.batches, o.degree, kCost, [&](int64_t limb, int64_t batch) {
      row(o.pointer(batch, limb), o.step, in.pointer(batch, limb), in.step, o.degree,
          moduli[static_cast<size_t>(limb)]);
    });
  });
}

template <Name kName, auto kKernel, Rows kRows>
Tensor unary(const Tensor input, const Tensor rns_params) {
  check_residues(kName.text, "input", input);
  Tensor out = empty_result(input, sizes_of(input));
  run_unary<kKernel, kRows>(kName.text, out, input, rns_params);
  return out;
}

template <Name kName, auto kKernel, Rows kRows>
void unary_in_place(Tensor input, const Tensor rns_params) {
  check_residues(kName.text, "input", input);
  check_destination(kName.text, input);
  check_overlap(kName.text, input, rns_params);
  run_unary<kKernel, kRows>(kName.text, input, input, rns_params);
}

template <Name kName, auto kKernel, Rows kRows = Rows::kStandard>
void register_binary(auto& m) {
  m.impl(kName.text, FHELIUM_BOX((&binary<kName, kKernel, kRows>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&binary_in_place<in_place(kName), kKernel, kRows>)));
}
template <Name kName, auto kKernel, Rows kRows = Rows::kStandard>
void register_unary(auto& m) {
  m.impl(kName.text, FHELIUM_BOX((&unary<kName, kKernel, kRows>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&unary_in_place<in_place(kName), kKernel, kRows>)));
}

// ---- integers ----------------------------------------------------------------------------------

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
  constexpr auto kLazy = Rows::kLazy, kDoubled = Rows::kLazyOfDoubledModulus;
  register_binary<"add_standard", kAdd>(m);
  register_binary<"subtract_standard", kSubtract>(m);
  register_binary<"multiply_montgomery", kMultiply>(m);
  register_unary<"negate_standard", kNegate>(m);
  register_unary<"to_montgomery", kToMontgomery>(m);
  register_unary<"from_montgomery", kFromMontgomery>(m);
  register_binary<"add_lazy", kAdd, kDoubled>(m);
  register_binary<"subtract_lazy", kSubtract, kDoubled>(m);
  register_binary<"multiply_montgomery_lazy", kMultiplyLazy, kLazy>(m);
  register_unary<"negate_lazy", kNegate, kDoubled>(m);
  register_unary<"reduce_lazy", kReduce, kLazy>(m);
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
}
