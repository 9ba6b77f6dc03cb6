// A limb's twiddles on CUDA: pairs of a factor and its Shoup quotient, so that a butterfly reads
// one vector. Node r = m + i of the tree is psi^bitrev(r), as in the portable kernels, and the
// inverse reads the same words: psi^-bitrev(m + i) = -psi^bitrev(m + (m - 1 - i)).
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

template <class Word>
struct alignas(2 * sizeof(Word)) TwiddlePair {
  Word value, quotient;
};

/// Pairs of a row: N^-1 where the tree has no node 0, the nodes 1 .. N - 1, then the factor of the
/// inverse's last level, N^-1 psi^(N/2), and the pair (q, N) that says what the row is for.
FHELIUM_INLINE i64 scaled_root_pair(i64 degree) { return degree; }
FHELIUM_INLINE i64 modulus_pair(i64 degree) { return degree + 1; }
FHELIUM_INLINE i64 row_pairs(i64 degree) { return degree + 2; }

}  // namespace fhelium
