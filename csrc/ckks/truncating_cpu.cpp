// Rescaling that rounds down. It exists for comparison: kernels of the fast paths round to nearest.
#include "ckks/rescale.h"
#include "common/row_loop.h"

namespace fhelium {
namespace {

/// out = (in - [x]_q0) / q0 modulo q, with the remainder [x]_q0 in [0, q0).
template <int kBits, class Word>
void truncate_row(Word* out, const Word* in, const Word* dropped, i64 step, i64 n, Word inverse,
                  const Modulus<Word>& m) {
  for (i64 k = 0; k < n; ++k) {
    const Word remainder = reduce_word(dropped[k * step], m);
    const Word difference = subtract_modular(in[k * step], remainder, m.q);
    out[k] = montgomery_multiply<kBits, Word>(difference, inverse, m);
  }
}

Tensor rescale_truncating(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  constexpr auto kName = "rescale_truncating";
  check_residues(kName, "input", input);
  const Sizes shape = check_limb_to_drop(kName, input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto in = rows_of<Word>(input);
    const RescaleConstants<Word> constants(kName, inverse, rns_params, in.limbs);
    Tensor out = empty_on(input, shape);
    const auto o = rows_of<Word>(out);
    for_each_row(o.limbs, o.batches, o.degree, 3.0, [&](int64_t limb, int64_t batch) {
      const auto& m = constants.modulus(limb + 1);
      with_radix(m, [&](auto radix) {
        truncate_row<radix.kBits>(o.pointer(batch, limb), in.pointer(batch, limb + 1),
                                  in.pointer(batch, 0), in.step, o.degree,
                                  constants.inverse[static_cast<size_t>(limb)], m);
      });
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("rescale_truncating", FHELIUM_BOX(&fhelium::rescale_truncating));
}
