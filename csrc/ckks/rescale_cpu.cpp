// Rescaling with rounding to nearest: of coefficients row by row, of NTT values in one call.
#include "ckks/rescale.h"
#include "common/row_loop.h"

namespace fhelium {
namespace {

Tensor rescale_nearest(const Tensor input, const Tensor inverse, const Tensor rns_params) {
  constexpr auto kName = "rescale_nearest";
  check_residues(kName, "input", input);
  const Sizes shape = check_limb_to_drop(kName, input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto in = rows_of<Word>(input);
    const RescaleConstants<Word> constants(kName, inverse, rns_params, in.limbs);
    Tensor out = empty_result(input, shape);
    const auto o = rows_of<Word>(out);
    const auto rescale = ckks_kernels<Word>().rescale;
    for_each_row(o.limbs, o.batches, o.degree, 3.0, [&](int64_t limb, int64_t batch) {
      rescale(o.pointer(batch, limb), in.pointer(batch, limb + 1), in.pointer(batch, 0), in.step,
              o.degree, constants.modulus(0).q, constants.inverse[static_cast<size_t>(limb)],
              constants.modulus(limb + 1));
    });
    return out;
  });
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
  m.impl("rescale_ntt", FHELIUM_BOX(&fhelium::rescale_ntt));
}
