// Number theory on single words that adapters use while they build constants and tables. Scalar
// code outside the inner loops; plain functions, so that every translation unit may include it.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// x^-1 mod 2^64 of an odd x.
FHELIUM_INLINE u64 inverse_modulo_word(u64 x) {
  u64 y = x;  // right to 3 bits for odd x; each Newton step doubles that
  for (int i = 0; i < 5; ++i) y *= 2 - x * y;
  return y;
}

FHELIUM_INLINE u64 multiply_modular(u64 a, u64 b, u64 q) { return (u64)((u128)a * b % q); }

FHELIUM_INLINE u64 power_modular(u64 base, u64 exponent, u64 q) {
  u64 result = 1 % q;
  for (base %= q; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply_modular(result, base, q);
    base = multiply_modular(base, base, q);
  }
  return result;
}

/// The same modulus for 64-bit words, with the constants of R = 2^52.
FHELIUM_INLINE Modulus<u64> widened(const Modulus<u32>& m) {
  const u64 q = m.q, one = ((u64)1 << 52) % q;
  return {.q = q,
          .inverse = inverse_modulo_word(q),
          .montgomery_one = one,
          .montgomery_square = one * one % q,
          .degree_inverse = ((u64)m.degree_inverse << 20) % q,  // from R = 2^32
          .reciprocal = m.reciprocal,
          .bits = 52};
}

/// x^-1 mod a prime q by Fermat; meaningless where q is composite or divides x.
FHELIUM_INLINE u64 inverse_modular(u64 x, u64 q) { return power_modular(x, q - 2, q); }

FHELIUM_INLINE bool is_power_of_two(i64 n) { return n >= 1 && (n & (n - 1)) == 0; }

/// log2 of a power of two.
FHELIUM_INLINE int exact_log2(i64 n) {
#if defined(__CUDA_ARCH__)
  return __ffsll(n) - 1;
#else
  return __builtin_ctzll((u64)n);
#endif
}

/// The low `bits` bits of x in reverse order; 0 for bits = 0.
FHELIUM_INLINE u64 reverse_bits(u64 x, int bits) {
  if (bits == 0) return 0;
#if defined(__CUDA_ARCH__)
  return __brevll(x) >> (64 - bits);
#else
  x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
  x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((x & 0x0f0f0f0f0f0f0f0fu) << 4);
  return __builtin_bswap64(x) >> (64 - bits);
#endif
}

}  // namespace fhelium
