// Tables of the transforms, made once per context from the primitive roots.
#include <algorithm>

#include "common/pool.h"
#include "ntt/packed.h"
#include "ntt/twiddles.h"

namespace fhelium {

template <class Word>
Tensor make_tables(const char* operation, const NttKernels<Word>& kernels, const Tensor& roots,
                   int64_t degree, const Tensor& rns_params) {
  check_degree(operation, degree, 16);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const auto moduli = check_parameters<Word>(operation, rns_params, limbs);
  const auto values = check_roots(operation, roots, degree, moduli);
  int64_t words = 0;
  for (const Modulus<Word>& m : moduli) words = std::max(words, kernels.table_words(degree, m));
  Tensor out = empty_in_huge_pages(roots, {limbs, words});
  Word* data = mutable_data_of<Word>(out);
  parallel_for(0, limbs, std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const Modulus<Word>& m = moduli[static_cast<size_t>(j)];
      kernels.build_table(data + j * words, degree, values[static_cast<size_t>(j)], m);
      std::fill(data + j * words + kernels.table_words(degree, m), data + (j + 1) * words, 0);
    }
  });
  return out;
}

template Tensor make_tables(const char*, const NttKernels<u64>&, const Tensor&, int64_t,
                            const Tensor&);

namespace {

Tensor ntt_tables(const Tensor roots, int64_t degree, const Tensor rns_params) {
  constexpr auto kName = "ntt_tables";
  check_residues(kName, "roots", roots, 1, kRootsRule);
  return for_word_of(roots, [&](auto word) {
    return make_tables(kName, ntt_kernels<decltype(word)>(), roots, degree, rns_params);
  });
}

Tensor compact_twiddles(const Tensor roots, int64_t degree, const Tensor rns_params) {
  return make_compact_twiddles("compact_twiddles", roots, degree, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  m.impl("ntt_tables", FHELIUM_BOX(&fhelium::ntt_tables));
  m.impl("radix2_twiddles", FHELIUM_BOX(&fhelium::radix2_twiddles));
  m.impl("compact_twiddles", FHELIUM_BOX(&fhelium::compact_twiddles));
}
