// Coefficient-wise operators on standard and on lazy residues: one driver for two operands, one for
// one. An operator is a type with its names, its time per coefficient for the split over threads,
// its kernel, the one that writes past the caches if there is one, and the moduli that a kernel is
// given.
#pragma once
#include "common/checks.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// The kernel for these results; `fresh`: nobody has written to them.
template <class Operator, class Word>
auto row_for(const ResidueRows<Word>& out, bool fresh) {
  const RnsKernels<Word>& kernels = rns_kernels<Word>();
  if constexpr (requires { Operator::row_past_caches(kernels); })
    if (fresh && exceeds_caches(out)) return Operator::row_past_caches(kernels);
  return Operator::row(kernels);
}

template <class Operator>
void run_binary(const char* name, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
                const Tensor& rns_params) {
  for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), a = rows_of<Word>(lhs), b = broadcast_rows<Word>(rhs, lhs);
    const auto moduli = Operator::template moduli<Word>(name, rns_params, a.limbs);
    const BinaryRow<Word> row = row_for<Operator>(o, o.data != a.data);
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
  Tensor out = empty_result(lhs, sizes_of(lhs));
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
    const auto moduli = Operator::template moduli<Word>(name, rns_params, in.limbs);
    const UnaryRow<Word> row = row_for<Operator>(o, o.data != in.data);
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
  Tensor out = empty_result(input, sizes_of(input));
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

}  // namespace
}  // namespace fhelium
