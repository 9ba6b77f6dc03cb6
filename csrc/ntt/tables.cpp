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
  const auto limbs = check_roots<Word>(operation, roots, degree, rns_params);
  int64_t words = 0;
  for (const Modulus<Word>& m : limbs.moduli)
    words = std::max(words, kernels.table_words(degree, m));
  Tensor out = empty_in_huge_pages(roots, {limbs.count(), words});
  Word* data = mutable_data_of<Word>(out);
  limbs.for_each(degree, [&](int64_t j, Word root, const Modulus<Word>& m) {
    Word* table = data + j * words;
    kernels.build_table(table, degree, root, m);
    std::fill(table + kernels.table_words(degree, m), table + words, 0);
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
