// Small integers, a byte each, as residues: masks and errors. Plain loops, of which every
// instruction set's translation unit makes its own vectors.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {
namespace {

/// x in (-q, q) -> [0, q).
template <class Word>
FHELIUM_INLINE Word lift_small(int8_t x, Word q) {
  const auto wide = static_cast<typename WordTraits<Word>::Signed>(x);
  return static_cast<Word>(wide) + (q & static_cast<Word>(wide >> (kWordBits<Word> - 1)));
}

template <class Word>
void reduce_small(Word* __restrict out, const int8_t* __restrict in, i64 n,
                  const Modulus<Word>& m) {
  const Word q = m.q;
  for (i64 k = 0; k < n; ++k) out[k] = lift_small(in[k], q);
}

template <class Word>
void add_small(Word* __restrict x, const int8_t* __restrict in, i64 n, const Modulus<Word>& m) {
  const Word q = m.q;
  for (i64 k = 0; k < n; ++k) {
    const Word sum = x[k] + lift_small(in[k], q), less = sum - q;
    x[k] = sum < less ? sum : less;  // below q the difference wraps around
  }
}

}  // namespace
}  // namespace fhelium
