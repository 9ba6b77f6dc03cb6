// A plaintext meets a ciphertext: onto component 0, or times every component. The rows are those
// of the RNS arithmetic.
#include "common/checks.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// [component, *batch, limb, N] against [*batch, limb, N], which repeats over missing and size-1
/// batch axes and, with a last axis of 1, holds one constant per limb.
void check_operands(const char* name, const Tensor& ciphertext, const Tensor& plaintext) {
  check_residues(name, "ciphertext", ciphertext, 3, "A ciphertext is [component, *batch, limb, N]");
  if (ciphertext.size(0) < 1)
    refuse(name, "ciphertext has shape " + to_string(sizes_of(ciphertext)),
           "It has at least one component", "Pass a whole ciphertext");
  if (plaintext.dim() >= ciphertext.dim())
    refuse(name,
           "plaintext has shape " + to_string(sizes_of(plaintext)) + " against the ciphertext's " +
               to_string(sizes_of(ciphertext)),
           "A plaintext has no component axis", "Pass [*batch, limb, N]");
  check_broadcast(name, "plaintext", plaintext, ciphertext);
}

/// out[0] = ciphertext[0] + plaintext; the other components are copied where out is another tensor.
void run_add(const char* name, const Tensor& out, const Tensor& ciphertext, const Tensor& plaintext,
             const Tensor& rns_params, bool copy_others) {
  for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), c = rows_of<Word>(ciphertext);
    const auto p = broadcast_rows<Word>(plaintext, ciphertext);
    const auto moduli = check_parameters<Word>(name, rns_params, c.limbs);
    const BinaryRow<Word> add = rns_kernels<Word>().add;
    const int64_t first_component = c.batches / ciphertext.size(0);
    const int64_t rows = copy_others ? c.batches : first_component;
    for_each_row(o.limbs, rows, o.degree, 0.7, [&](int64_t limb, int64_t batch) {
      Word* to = o.pointer(batch, limb);
      if (batch < first_component)
        add(to, o.step, c.pointer(batch, limb), c.step, p.pointer(batch, limb), p.step, o.degree,
            moduli[static_cast<size_t>(limb)]);
      else
        copy_row(to, o.step, c.pointer(batch, limb), c.step, o.degree);
    });
  });
}

Tensor add_plaintext(const Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  constexpr auto kName = "add_plaintext";
  check_operands(kName, ciphertext, plaintext);
  Tensor out = empty_on(ciphertext, sizes_of(ciphertext));
  run_add(kName, out, ciphertext, plaintext, rns_params, true);
  return out;
}

void add_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  constexpr auto kName = "add_plaintext_";
  check_operands(kName, ciphertext, plaintext);
  check_destination(kName, ciphertext);
  const Tensor written = select_first(ciphertext, 0);
  check_overlap(kName, written, plaintext);
  check_overlap(kName, written, rns_params);
  run_add(kName, ciphertext, ciphertext, plaintext, rns_params, false);
}

void run_multiply(const char* name, const Tensor& out, const Tensor& ciphertext,
                  const Tensor& plaintext, const Tensor& rns_params) {
  for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), c = rows_of<Word>(ciphertext);
    const auto p = broadcast_rows<Word>(plaintext, ciphertext);
    const auto moduli = check_parameters<Word>(name, rns_params, c.limbs);
    const BinaryRow<Word> multiply = rns_kernels<Word>().multiply_montgomery;
    for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
      multiply(o.pointer(batch, limb), o.step, c.pointer(batch, limb), c.step,
               p.pointer(batch, limb), p.step, o.degree, moduli[static_cast<size_t>(limb)]);
    });
  });
}

Tensor multiply_plaintext(const Tensor ciphertext, const Tensor plaintext,
                          const Tensor rns_params) {
  constexpr auto kName = "multiply_plaintext";
  check_operands(kName, ciphertext, plaintext);
  Tensor out = empty_on(ciphertext, sizes_of(ciphertext));
  run_multiply(kName, out, ciphertext, plaintext, rns_params);
  return out;
}

void multiply_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  constexpr auto kName = "multiply_plaintext_";
  check_operands(kName, ciphertext, plaintext);
  check_destination(kName, ciphertext);
  check_overlap(kName, ciphertext, plaintext);
  check_overlap(kName, ciphertext, rns_params);
  run_multiply(kName, ciphertext, ciphertext, plaintext, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("add_plaintext", FHELIUM_BOX(&fhelium::add_plaintext));
  m.impl("add_plaintext_", FHELIUM_BOX(&fhelium::add_plaintext_));
  m.impl("multiply_plaintext", FHELIUM_BOX(&fhelium::multiply_plaintext));
  m.impl("multiply_plaintext_", FHELIUM_BOX(&fhelium::multiply_plaintext_));
}
