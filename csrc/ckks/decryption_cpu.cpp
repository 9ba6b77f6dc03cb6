// Decryption in one call: c_0 + c_1 s + c_2 s^2 + ..
#include "common/checks.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "common/stages.h"
#include "ntt/tables.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// The components of one ciphertext in one limb, and what that limb works with.
template <class Word>
struct DecryptionRow {
  const Modulus<Word>& m;
  const Word* table;
  const Word* secret;
  i64 secret_step, step, degree;

  void multiply(Word* x) const {
    rns_kernels<Word>().multiply_montgomery(x, 1, x, 1, secret, secret_step, degree, m);
  }
  void add(Word* x, const Word* y, i64 y_step) const {
    rns_kernels<Word>().add(x, 1, x, 1, y, y_step, degree, m);
  }
  void to_ntt(Word* out, const Word* in) const {
    ntt_kernels<Word>().forward(out, in, step, degree, table, m, nullptr);
  }
  void to_coefficients(Word* x) const {
    ntt_kernels<Word>().inverse(x, x, 1, degree, table, m, nullptr);
  }
};

/// Horner's rule in s, so that no power of the secret is needed; components[0] is added where it
/// stands, in coefficients too. `spare` is a row for components behind c_1 that are coefficients.
template <class Word>
void decrypt_row(Word* out, const Word* const* components, int64_t count, bool from_ntt,
                 Word* spare, const DecryptionRow<Word>& row) {
  if (from_ntt)
    copy_row(out, 1, components[count - 1], row.step, row.degree);
  else
    row.to_ntt(out, components[count - 1]);
  row.multiply(out);
  for (int64_t c = count - 2; c > 0; --c) {
    if (from_ntt) {
      row.add(out, components[c], row.step);
    } else {
      row.to_ntt(spare, components[c]);
      row.add(out, spare, 1);
    }
    row.multiply(out);
  }
  if (from_ntt) row.add(out, components[0], row.step);
  row.to_coefficients(out);
  if (!from_ntt) row.add(out, components[0], row.step);
}

Tensor decrypt_residues(const Tensor ciphertext, const Tensor secret, const Tensor ntt_tables,
                        const Tensor rns_params, bool from_ntt) {
  constexpr auto kName = "decrypt_residues";
  check_residues(kName, "ciphertext", ciphertext, 3, "It is [component, *batch, limb, N]");
  Sizes shape = sizes_of(ciphertext);
  const int64_t count = shape[0], limbs = shape[shape.size() - 2], degree = shape.back();
  if (count < 2)
    refuse(kName, "ciphertext has " + std::to_string(count) + " components",
           "The secret opens two or more", "Pass the whole ciphertext");
  check_shape(kName, "secret", secret, ciphertext.scalar_type(), {limbs, degree},
              "The secret has the limbs of the ciphertext");
  shape.erase(shape.begin());
  return for_word_of(ciphertext, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, degree, moduli);
    Tensor out = empty_on(ciphertext, shape);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(ciphertext), s = rows_of<Word>(secret);
    const int64_t rows = limbs * o.batches;
    const double cost = 5.0 * static_cast<double>(rows * degree * count);
    const int64_t participants = participants_for(cost);
    Workspace space(static_cast<size_t>(participants) * Workspace::room_for<Word>(degree));
    std::vector<Word*> spare;
    for (int64_t who = 0; who < participants; ++who) spare.push_back(space.take<Word>(degree));
    run_stages(participants,
               Stage{rows, [&](int64_t item, int64_t who) {
                       const int64_t limb = item / o.batches, batch = item % o.batches;
                       std::vector<const Word*> components;
                       for (int64_t c = 0; c < count; ++c)
                         components.push_back(in.pointer(c * o.batches + batch, limb));
                       const DecryptionRow<Word> row = {moduli[static_cast<size_t>(limb)],
                                                        table.row(limb),
                                                        s.pointer(0, limb),
                                                        s.step,
                                                        in.step,
                                                        degree};
                       decrypt_row(o.pointer(batch, limb), components.data(), count, from_ntt,
                                   spare[static_cast<size_t>(who)], row);
                     }});
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("decrypt_residues", FHELIUM_BOX(&fhelium::decrypt_residues));
}
