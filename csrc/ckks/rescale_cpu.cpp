// Rescaling: of coefficients row by row, rounding to nearest or down; of NTT values in one call.
#include "ckks/rescale.h"
#include "common/row_loop.h"

namespace fhelium {
namespace {

/// Call row(out, in, dropped, step, n, q0, inverse, m) for the limbs that remain.
template <class Row>
Tensor rescaled(const char* name, const Tensor& input, const Tensor& inverse,
                const Tensor& rns_params, const Row& row) {
  check_residues(name, "input", input);
  const Sizes shape = check_limb_to_drop(name, input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto in = rows_of<Word>(input);
    const RescaleConstants<Word> constants(name, inverse, rns_params, in.limbs);
    Tensor out = empty_result(input, shape);
    const auto o = rows_of<Word>(out);
    for_each_row(o.limbs, o.batches, o.degree, 3.0, [&](int64_t limb, int64_t batch) {
      row(o.pointer(batch, limb), in.pointer(batch, limb + 1), in.pointer(batch, 0), in.step,
          o.degree, constants.modulus(0).q, constants.inverse[static_cast<size_t>(limb)],
          constants.modulus(limb + 1));
    });
    return out;
  });
}

Tensor rescale_nearest(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  return rescaled("rescale_nearest", input, inverse, rns_params,
                  []<class Word>(Word* out, const auto&... rest) {
                    ckks_kernels<Word>().rescale(out, rest...);
                  });
}

/// out = (in - [x]_q0) / q0 modulo q, with the remainder [x]_q0 in [0, q0). It exists for
/// comparison: kernels of the fast paths round to nearest.
template <class Word>
void truncate_row(Word* out, const Word* in, const Word* dropped, i64 step, i64 n, Word /*q0*/,
                  Word inverse, const Modulus<Word>& m) {
  with_radix(m, [&](auto radix) {
    for (i64 k = 0; k < n; ++k) {
      const Word remainder = reduce_word(dropped[k * step], m);
      const Word difference = subtract_modular(in[k * step], remainder, m.q);
      out[k] = montgomery_multiply<radix.kBits, Word>(difference, inverse, m);
    }
  });
}

Tensor rescale_truncating(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  return rescaled("rescale_truncating", input, inverse, rns_params,
                  []<class Word>(Word* out, const auto&... rest) { truncate_row(out, rest...); });
}

Tensor rescale_ntt(Tensor input, const Tensor inverse, const Tensor ntt_tables,
                   const Tensor rns_params) {
  constexpr auto kName = "rescale_ntt";
  check_residues(kName, "input", input);
  const Sizes shape = check_limb_to_drop(kName, input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto in = plain_rows<Word>(input);
    const RescaleConstants<Word> constants(kName, inverse, rns_params, in.limbs);
    const auto table = check_ntt_tables<Word>(kName, ntt_tables, in.degree, constants.moduli);
    Tensor out = empty_result(input, shape);
    rescale_values(
        rows_of<Word>(out), constants, table,
        [&](int64_t batch, int64_t limb, Word*) -> const Word* { return in.pointer(batch, limb); });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("rescale_nearest", FHELIUM_BOX(&fhelium::rescale_nearest));
  m.impl("rescale_truncating", FHELIUM_BOX(&fhelium::rescale_truncating));
  m.impl("rescale_ntt", FHELIUM_BOX(&fhelium::rescale_ntt));
}
