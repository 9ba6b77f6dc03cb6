// Where an automorphism X -> X^g takes its values from: see ckks/kernels_portable.cpp.
#pragma once
#include "common/cuda.h"
#include "common/number_theory.h"

namespace fhelium {

/// The position, in bit-reversed evaluation order, of the value that g brings to position i.
__device__ __forceinline__ u32 ntt_source(u32 i, u32 galois_element, int log_degree) {
  const u32 r = galois_element / 2 + galois_element * (u32)reverse_bits(i, log_degree);
  return (u32)reverse_bits(r & ((1u << log_degree) - 1), log_degree);
}

/// Coefficient k after the automorphism whose inverse element modulo 2N is given: read(position),
/// with the sign turned where the exponent has passed N.
template <class Word, class Read>
__device__ __forceinline__ Word moved_coefficient(u32 k, u32 inverse, int log_degree, Word q,
                                                  const Read& read) {
  const u32 j = k * inverse, n = 1u << log_degree;
  const Word x = read(j & (n - 1));
  return j & n ? negate_modular(x, q) : x;
}

}  // namespace fhelium
