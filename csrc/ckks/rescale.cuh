// The remainder of a division by the first prime of the chain.
#pragma once
#include "common/cuda.h"

namespace fhelium {

/// The remainder modulo m, in the sense of (x - r) / q0: r is centred where kNearest. With
/// h = (q0 - 1) / 2 and t = x + h mod q0 it is t - h.
template <bool kNearest, class Word>
__device__ __forceinline__ Word rescale_remainder(Word x, Word q0, const Modulus<Word>& m) {
  if constexpr (!kNearest) return reduce_word(x, m);
  const Word half = (q0 - 1) / 2, t = add_modular(x, half, q0);
  return subtract_modular(reduce_word(t, m), reduce_word(half, m), m.q);
}

}  // namespace fhelium
