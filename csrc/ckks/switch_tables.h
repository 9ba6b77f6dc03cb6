// The tables of key switching as an operator receives them.
#pragma once
#include "ckks/switch_layout.h"
#include "common/torch_abi.h"

namespace fhelium {

/// A table of `key_switch_tables` for these residues, as it was made.
template <class Word>
SwitchTables<Word> check_switch_tables(const char* operation, const Tensor& tensor);

/// Make one from CPU tensors.
Tensor key_switch_tables(const Tensor digit_bounds, int64_t specials, const Tensor rns_params,
                         ScalarType dtype);

}  // namespace fhelium
