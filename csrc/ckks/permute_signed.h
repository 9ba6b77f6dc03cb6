// An automorphism of coefficients. A gather of the vector instruction sets takes longer than the
// loads that it stands for, so one kernel serves all.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// out[k] = the coefficient of X^k after X^j -> X^(j / inverse); n is a power of two and `inverse`
/// the inverse of the Galois element modulo 2n.
///
/// X^j goes to X^(j g) and X^n is -1. Position k is reached from j = k g^-1 mod 2n where that is
/// below n, else from j - n with the sign turned, because (j - n) g = k + n mod 2n for odd g.
template <class Word>
void permute_signed(Word* out, const Word* in, i64 step, i64 n, u64 inverse,
                    const Modulus<Word>& m) {
  const Word q = m.q;
  const u64 sign = (u64)n, low = sign - 1;
  u64 j = 0;
#pragma GCC unroll 4
  for (i64 k = 0; k < n; ++k, j += inverse) {
    const Word x = in[(i64)(j & low) * step];
    out[k] = (j & sign) ? negate_modular(x, q) : x;
  }
}

}  // namespace fhelium
