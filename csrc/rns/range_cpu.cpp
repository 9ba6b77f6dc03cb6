// The check that stored words are residues.
#include <atomic>

#include "common/checks.h"
#include "common/row_loop.h"

namespace fhelium {
namespace {

// For q < 2^(w-1) the top bit of x | (q - 1 - x) is set exactly where x is no residue: from 2^(w-1)
// on it is x's own, from q to 2^(w-1) that of the difference. Every instruction set has these
// operations on vectors of words, while many have no unsigned comparison; so one kernel reads at
// the speed of memory everywhere and needs no place in a table of kernels.
template <class Word>
i64 count_in_row(const Word* in, i64 step, i64 n, Word q) {
  u64 count = 0;
  const auto add = [&count, largest = q - 1](Word x) {
    count += (x | (largest - x)) >> (kWordBits<Word> - 1);
  };
  if (step == 1) {
    for (i64 k = 0; k < n; ++k) add(in[k]);
  } else {
    for (i64 k = 0; k < n; ++k) add(in[k * step]);
  }
  return (i64)count;
}

Tensor count_out_of_range(const Tensor input, const Tensor rns_params) {
  constexpr auto kName = "count_out_of_range";
  check_residues(kName, "input", input);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto in = rows_of<Word>(input);
    const auto moduli = check_parameters<Word>(kName, rns_params, in.limbs);
    Tensor out = zeros_on(input, {in.limbs}, kInt64);
    int64_t* totals = out.mutable_data_ptr<int64_t>();
    for_each_row(in.limbs, in.batches, in.degree, 0.4, [&](int64_t limb, int64_t batch) {
      const i64 count = count_in_row(in.pointer(batch, limb), in.step, in.degree,
                                     moduli[static_cast<size_t>(limb)].q);
      std::atomic_ref(totals[limb]) += count;
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("count_out_of_range", FHELIUM_BOX(&fhelium::count_out_of_range));
}
