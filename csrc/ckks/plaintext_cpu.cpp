// A plaintext meets a ciphertext: onto component 0, or times every component, alone, with the
// rescaling that follows, or in a sum. The rows are those of the RNS arithmetic.
#include "ckks/checks.h"
#include "ckks/rescale.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// out[0] = ciphertext[0] + plaintext; the other components are copied where out is another tensor.
void run_add(const char* name, const Tensor& out, const Tensor& ciphertext, const Tensor& plaintext,
             const Tensor& rns_params, bool copy_others) {
  for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out), c = rows_of<Word>(ciphertext);
    const auto p = broadcast_rows<Word>(plaintext, ciphertext);
    const auto moduli = check_parameters<Word>(name, rns_params, c.limbs);
    const auto& kernels = rns_kernels<Word>();
    const bool past = copy_others && exceeds_caches(o);
    const BinaryRow<Word> add = past ? kernels.past_caches.add : kernels.add;
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
  check_plaintext(kName, ciphertext, plaintext);
  Tensor out = empty_result(ciphertext, sizes_of(ciphertext));
  run_add(kName, out, ciphertext, plaintext, rns_params, true);
  return out;
}

void add_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  constexpr auto kName = "add_plaintext_";
  check_plaintext(kName, ciphertext, plaintext);
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
    const auto& kernels = rns_kernels<Word>();
    const bool past = o.data != c.data && exceeds_caches(o);
    const BinaryRow<Word> multiply =
        past ? kernels.past_caches.multiply_montgomery : kernels.multiply_montgomery;
    for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
      multiply(o.pointer(batch, limb), o.step, c.pointer(batch, limb), c.step,
               p.pointer(batch, limb), p.step, o.degree, moduli[static_cast<size_t>(limb)]);
    });
  });
}

Tensor multiply_plaintext(const Tensor ciphertext, const Tensor plaintext,
                          const Tensor rns_params) {
  constexpr auto kName = "multiply_plaintext";
  check_plaintext(kName, ciphertext, plaintext);
  Tensor out = empty_result(ciphertext, sizes_of(ciphertext));
  run_multiply(kName, out, ciphertext, plaintext, rns_params);
  return out;
}

void multiply_plaintext_(Tensor ciphertext, const Tensor plaintext, const Tensor rns_params) {
  constexpr auto kName = "multiply_plaintext_";
  check_plaintext(kName, ciphertext, plaintext);
  check_destination(kName, ciphertext);
  check_overlap(kName, ciphertext, plaintext);
  check_overlap(kName, ciphertext, rns_params);
  run_multiply(kName, ciphertext, ciphertext, plaintext, rns_params);
}

Tensor multiply_plaintext_rescale(const Tensor ciphertext, const Tensor plaintext,
                                  const Tensor inverse, const Tensor ntt_tables,
                                  const Tensor rns_params) {
  constexpr auto kName = "multiply_plaintext_rescale";
  check_plaintext(kName, ciphertext, plaintext);
  const Sizes shape = check_limb_to_drop(kName, ciphertext);
  return for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const auto c = rows_of<Word>(ciphertext), p = broadcast_rows<Word>(plaintext, ciphertext);
    const RescaleConstants<Word> constants(kName, inverse, rns_params, c.limbs);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, c.degree, constants.moduli);
    Tensor out = empty_result(ciphertext, shape);
    const BinaryRow<Word> multiply = rns_kernels<Word>().multiply_montgomery;
    rescale_values(rows_of<Word>(out), constants, table,
                   [&](int64_t batch, int64_t limb, Word* room) {
                     multiply(room, 1, c.pointer(batch, limb), c.step, p.pointer(batch, limb),
                              p.step, c.degree, constants.modulus(limb));
                     return room;
                   });
    return out;
  });
}

/// The inner product of a key switch with plaintexts as its digits and components as its key: two
/// components take up each plaintext once, and a sum is reduced once.
Tensor sum_plaintext_products(std::vector<Tensor> ciphertexts, std::vector<Tensor> plaintexts,
                              const Tensor rns_params) {
  constexpr auto kName = "sum_plaintext_products";
  check_terms(kName, ciphertexts, plaintexts);
  const Tensor like = ciphertexts[0];
  return for_word_of(like, [&](auto word) {
    using Word = decltype(word);
    const auto count = static_cast<int64_t>(ciphertexts.size()), components = like.size(0);
    std::vector<ResidueRows<Word>> c, p;
    for (Tensor& ciphertext : ciphertexts) c.push_back(plain_rows<Word>(ciphertext));
    for (Tensor& plaintext : plaintexts) {
      plain_rows<Word>(plaintext);
      p.push_back(broadcast_rows<Word>(plaintext, like));
    }
    const auto moduli = check_parameters<Word>(kName, rns_params, c[0].limbs);
    Tensor out = empty_result(like, sizes_of(like));
    const auto o = rows_of<Word>(out);
    const int64_t batches = o.batches / components;
    const double cost = (1.0 + static_cast<double>(count)) * static_cast<double>(components);
    const auto inner_product = ckks_kernels<Word>().inner_product;
    for_each_row(o.limbs, batches, o.degree, cost, [&](int64_t limb, int64_t batch) {
      std::vector<KeySwitchTerm<Word>> terms(static_cast<size_t>(count));
      std::vector<Word> spare(components % 2 == 0 ? 0 : static_cast<size_t>(o.degree));
      for (int64_t first = 0; first < components; first += 2) {
        const bool alone = first + 1 == components;
        const int64_t row0 = first * batches + batch, row1 = alone ? row0 : row0 + batches;
        for (size_t i = 0; i < terms.size(); ++i)
          terms[i] = {p[i].pointer(batch, limb), c[i].pointer(row0, limb),
                      c[i].pointer(row1, limb)};
        inner_product(o.pointer(row0, limb), alone ? spare.data() : o.pointer(row1, limb),
                      terms.data(), count, 1, 1, o.degree, moduli[static_cast<size_t>(limb)]);
      }
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("add_plaintext", FHELIUM_BOX(&fhelium::add_plaintext));
  m.impl("add_plaintext_", FHELIUM_BOX(&fhelium::add_plaintext_));
  m.impl("multiply_plaintext", FHELIUM_BOX(&fhelium::multiply_plaintext));
  m.impl("multiply_plaintext_", FHELIUM_BOX(&fhelium::multiply_plaintext_));
  m.impl("multiply_plaintext_rescale", FHELIUM_BOX(&fhelium::multiply_plaintext_rescale));
  m.impl("sum_plaintext_products", FHELIUM_BOX(&fhelium::sum_plaintext_products));
}
