// Operations with a key switch, each one call: the adapters between tensors and rows.
#include "ckks/checks.h"
#include "ckks/switch_sources.h"
#include "common/checks.h"
#include "common/number_theory.h"

namespace fhelium {
namespace {

/// The constants, tables and shapes that every call brings.
struct Arguments {
  const char* name;
  const Tensor &switch_tables, &ntt_tables;
  bool from_ntt, to_ntt, rescale;
};

/// [components, *batch, limb, N] of the table's limbs.
template <class Word>
void check_input(const Arguments& arguments, const Tensor& input, int64_t components,
                 const SwitchTables<Word>& t) {
  const int64_t limbs = input.size(input.dim() - 2);
  if (input.size(0) != components)
    refuse(arguments.name,
           "the input has " + std::to_string(input.size(0)) + " components, needed are " +
               std::to_string(components),
           "Component 0 is the first axis", "Pass a ciphertext of that many components");
  if (limbs != t.q_limbs())
    refuse(arguments.name,
           "the input has " + std::to_string(limbs) + " limbs, the tables are for " +
               std::to_string(t.q_limbs()),
           "Tables and residues have one depth", "Pass the tables of this depth");
  if (arguments.rescale && limbs < 2)
    refuse(arguments.name, "the input has 1 limb, needed are at least 2",
           "Row 0 is dropped and at least one limb remains", "The modulus chain is exhausted");
}

/// The last rows and digits of a key over the full chain, [digit, 2, limb + K, N].
template <class Word>
KeyRows<Word> check_key(const Arguments& arguments, Tensor& key, const SwitchTables<Word>& t,
                        int64_t degree) {
  check_residues(arguments.name, "key", key, 4, "A switching key is [digit, 2, limb + K, N]");
  if (key.dim() != 4 || key.scalar_type() != kTypeOf<Word> || key.size(0) < t.digits ||
      key.size(1) != 2 || key.size(2) < t.limbs || key.size(3) != degree)
    refuse(arguments.name,
           "the key has shape " + to_string(sizes_of(key)) + ", this depth needs at least " +
               to_string({t.digits, 2, t.limbs, degree}) + " of the input's type",
           "A key covers the full chain; deeper ciphertexts use its last digits and limbs",
           "Make the key with the ciphertext's parameters");
  if (key.stride(3) != 1) key = fhelium::contiguous(key);
  const int64_t digits = key.size(0) - t.digits, limbs = key.size(2) - t.limbs;
  return {data_of<Word>(key) + digits * key.stride(0) + limbs * key.stride(2), key.stride(0),
          key.stride(1), key.stride(2)};
}

/// A fresh result for each key, and everything the steps read. `keys` keeps copies alive.
template <class Word>
SwitchCall<Word> prepare(const Arguments& arguments, const Tensor& input, int64_t components,
                         std::vector<Tensor>& keys, std::vector<Tensor>& outs) {
  const auto t = check_switch_tables<Word>(arguments.name, arguments.switch_tables);
  check_input(arguments, input, components, t);
  Sizes shape = sizes_of(input);
  const int64_t degree = shape.back();
  const std::vector<Modulus<Word>> moduli(t.moduli, t.moduli + t.limbs);
  const auto ntt = check_ntt_tables<Word>(arguments.name, arguments.ntt_tables, degree, moduli);
  shape[0] = 2;
  if (arguments.rescale) --shape[shape.size() - 2];
  SwitchCall<Word> call = {t, ntt, degree, 1, arguments.rescale, arguments.to_ntt, {}};
  for (size_t axis = 1; axis + 2 < shape.size(); ++axis) call.batches *= shape[axis];
  for (Tensor& key : keys) {
    const KeyRows<Word> rows = check_key(arguments, key, t, degree);
    outs.push_back(empty_result(input, shape));
    call.results.push_back({rows, nullptr, rows_of<Word>(outs.back())});
  }
  return call;
}

template <class Word>
SourceRows<Word> source_rows(const SwitchCall<Word>& call, bool from_ntt) {
  return {call.constants, call.ntt, call.degree, call.batches, from_ntt};
}

/// Both forms of an automorphism; `positions` has room for N where it is not the identity.
Automorphism automorphism_of(const char* name, int64_t element, int64_t degree,
                             std::vector<uint32_t>& positions) {
  check_galois_element(name, element, degree);
  const auto g = static_cast<u64>(element);
  if (g == 1) return {1, 1, nullptr};
  positions.resize(static_cast<size_t>(degree));
  return {g, inverse_modulo_word(g) & static_cast<u64>(2 * degree - 1), positions.data()};
}

constexpr auto kComponents = "A ciphertext is [component, *batch, limb, N]";

Tensor relinearize(Tensor input, const Tensor key, const Tensor switch_tables,
                   const Tensor ntt_tables, bool from_ntt, bool to_ntt) {
  const Arguments arguments = {"relinearize", switch_tables, ntt_tables, from_ntt, to_ntt, false};
  check_residues(arguments.name, "input", input, 3, kComponents);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    std::vector<Tensor> keys = {key}, outs;
    const auto in = plain_rows<Word>(input);
    const auto call = prepare<Word>(arguments, input, 3, keys, outs);
    switch_keys(call, ThirdComponent<Word>{source_rows(call, from_ntt), in});
    return outs[0];
  });
}

Tensor switch_galois(Tensor input, int64_t galois_element, const Tensor key,
                     const Tensor switch_tables, const Tensor ntt_tables, bool from_ntt,
                     bool to_ntt) {
  const Arguments arguments = {"switch_galois", switch_tables, ntt_tables, from_ntt, to_ntt, false};
  check_residues(arguments.name, "input", input, 3, kComponents);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    std::vector<Tensor> keys = {key}, outs;
    const auto in = plain_rows<Word>(input);
    const auto call = prepare<Word>(arguments, input, 2, keys, outs);
    std::vector<uint32_t> positions;
    const Automorphism by = automorphism_of(arguments.name, galois_element, call.degree, positions);
    if (!positions.empty())
      ckks_kernels<Word>().automorphism_source(positions.data(), call.degree, by.element);
    switch_keys(call, MovedComponent<Word>{source_rows(call, from_ntt), in, by});
    return outs[0];
  });
}

std::vector<Tensor> switch_hoisted(Tensor input, const std::vector<int64_t> galois_elements,
                                   std::vector<Tensor> keys, const Tensor switch_tables,
                                   const Tensor ntt_tables, bool from_ntt, bool to_ntt) {
  const Arguments arguments = {"switch_hoisted", switch_tables, ntt_tables,
                               from_ntt,         to_ntt,        false};
  check_residues(arguments.name, "input", input, 3, kComponents);
  if (keys.size() != galois_elements.size() || keys.empty())
    refuse(arguments.name,
           "there are " + std::to_string(keys.size()) + " keys and " +
               std::to_string(galois_elements.size()) + " Galois elements",
           "Each element has its key", "Pass as many of one as of the other, at least one");
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    std::vector<Tensor> outs;
    const auto in = plain_rows<Word>(input);
    auto call = prepare<Word>(arguments, input, 2, keys, outs);
    std::vector<std::vector<uint32_t>> positions(keys.size());
    std::vector<Automorphism> by;
    for (size_t r = 0; r < keys.size(); ++r) {
      by.push_back(automorphism_of(arguments.name, galois_elements[r], call.degree, positions[r]));
      if (positions[r].empty()) continue;
      ckks_kernels<Word>().automorphism_source(positions[r].data(), call.degree, by[r].element);
      call.results[r].positions = by[r].positions;
    }
    switch_keys(call, HoistedComponent<Word>{source_rows(call, from_ntt), in, by.data()});
    return outs;
  });
}

Tensor multiply_relinearize_rescale(Tensor lhs, Tensor rhs, const Tensor key,
                                    const Tensor switch_tables, const Tensor ntt_tables) {
  const Arguments arguments = {
      "multiply_relinearize_rescale", switch_tables, ntt_tables, true, true, true};
  check_residues(arguments.name, "lhs", lhs, 3, kComponents);
  check_shape(arguments.name, "rhs", rhs, lhs.scalar_type(), sizes_of(lhs),
              "Both operands have one shape");
  return for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    std::vector<Tensor> keys = {key}, outs;
    const bool is_square =
        lhs.const_data_ptr() == rhs.const_data_ptr() && strides_of(lhs) == strides_of(rhs);
    const auto a = plain_rows<Word>(lhs), b = plain_rows<Word>(rhs);
    const auto call = prepare<Word>(arguments, lhs, 2, keys, outs);
    switch_keys(call, ProductComponent<Word>{source_rows(call, true), a, b, is_square});
    return outs[0];
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("key_switch_tables", FHELIUM_BOX(&fhelium::key_switch_tables));
  m.impl("relinearize", FHELIUM_BOX(&fhelium::relinearize));
  m.impl("switch_galois", FHELIUM_BOX(&fhelium::switch_galois));
  m.impl("switch_hoisted", FHELIUM_BOX(&fhelium::switch_hoisted));
  m.impl("multiply_relinearize_rescale", FHELIUM_BOX(&fhelium::multiply_relinearize_rescale));
}
