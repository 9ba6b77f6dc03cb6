// The packed tables of some limbs, as an operator receives them.
#pragma once
#include <vector>

#include "common/torch_abi.h"
#include "ntt/kernels.h"

namespace fhelium {

template <class Word>
struct NttTables {
  const Word* data;
  int64_t stride;
  const Word* row(int64_t limb) const { return data + limb * stride; }
};

/// One packed table per limb, made for this ring, these moduli and these kernels, whose name is
/// `owner`.
template <class Word>
NttTables<Word> check_ntt_tables(const char* operation, const NttKernels<Word>& kernels,
                                 const char* owner, const Tensor& tables, int64_t degree,
                                 const std::vector<Modulus<Word>>& moduli);

/// The same for the active instruction set.
template <class Word>
NttTables<Word> check_ntt_tables(const char* operation, const Tensor& tables, int64_t degree,
                                 const std::vector<Modulus<Word>>& moduli);

}  // namespace fhelium
