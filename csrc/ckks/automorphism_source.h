// The orders in which vectors read a row: as it lies, or as an automorphism moves it. That order is
// made with AVX2, whose vectors of eight positions serve AVX-512 as well.
#pragma once
#include <immintrin.h>

#include "ckks/kernels.h"
#include "common/number_theory.h"

namespace fhelium {

struct InOrder {};
struct Permuted {
  const uint32_t* source;  // from automorphism_source: as many neighbours as lanes, in some order
};

// In bit-reversed order the three low bits of a position are the top bits of r = r_0 + j n / 8, and
// g (r_0 + j n / 8) is g r_0 modulo n / 8 with a top part of its own: eight neighbours come from
// eight neighbours, in one of eight orders.
static inline void automorphism_source_in_eights(uint32_t* source, i64 n, u64 galois_element) {
  if (n < 8) {
    kCkksKernels64Portable.automorphism_source(source, n, galois_element);
    return;
  }
  const int bits = exact_log2(n) - 3;
  const u64 mask = ((u64)1 << bits) - 1;
  alignas(32) uint32_t orders[8][8];
  for (u64 top = 0; top < 8; ++top)
    for (u64 j = 0; j < 8; ++j)
      orders[top][j] = (uint32_t)reverse_bits((top + galois_element * reverse_bits(j, 3)) & 7, 3);
  for (u64 block = 0; block <= mask; ++block) {
    const u64 r = galois_element / 2 + galois_element * reverse_bits(block, bits);
    const auto first = (int)(8 * reverse_bits(r & mask, bits));
    const __m256i order = _mm256_load_si256((const __m256i*)orders[r >> bits & 7]);
    _mm256_storeu_si256((__m256i*)(source + 8 * block),
                        _mm256_add_epi32(order, _mm256_set1_epi32(first)));
  }
}

}  // namespace fhelium
