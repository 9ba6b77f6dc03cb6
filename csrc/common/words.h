// From the type of a residue tensor to the word that kernels and adapters are templates over.
#pragma once
#include "common/modular_arithmetic.h"
#include "common/torch_abi.h"

namespace fhelium {

/// The residue type of a word, and back.
template <class Word>
inline constexpr ScalarType kTypeOf = kWordBits<Word> == 32 ? kInt32 : kInt64;

inline bool is_residue_type(ScalarType dtype) { return dtype == kInt32 || dtype == kInt64; }

/// Call body(Word{}) with the word of a residue type, which has been checked.
template <class Body>
inline auto for_word_of(ScalarType dtype, const Body& body) {
  return dtype == kInt32 ? body(u32{}) : body(u64{});
}

template <class Body>
inline auto for_word_of(const Tensor& residues, const Body& body) {
  return for_word_of(residues.scalar_type(), body);
}

template <class Word>
inline const Word* data_of(const Tensor& tensor) {
  return static_cast<const Word*>(tensor.const_data_ptr());
}

template <class Word>
inline Word* mutable_data_of(const Tensor& tensor) {
  return static_cast<Word*>(tensor.mutable_data_ptr());
}

}  // namespace fhelium
