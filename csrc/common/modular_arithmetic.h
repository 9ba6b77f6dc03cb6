// Modular arithmetic on 64-bit words: the meaning that every SIMD path and device must match bit
// for bit. Plain functions, no library: a kernel compiled for another instruction set includes it
// without leaving weak symbols behind.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define FHELIUM_INLINE __host__ __device__ __forceinline__
#else
#define FHELIUM_INLINE static inline __attribute__((always_inline))
#endif

namespace fhelium {

using u64 = uint64_t;
using i64 = int64_t;
using u128 = unsigned __int128;

/// One limb's constants, read once from a column of rns_params.
struct Modulus {
  u64 q;                  // the prime
  u64 inverse;            // q^-1 mod 2^64
  u64 bits;               // log2 R
  u64 montgomery_one;     // R mod q
  u64 montgomery_square;  // R^2 mod q
  u64 reciprocal;         // floor(2^64 / q)
  u64 degree_inverse;     // N^-1 R mod q
};

FHELIUM_INLINE u64 multiply_high(u64 a, u64 b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return (u64)(((u128)a * b) >> 64);
#endif
}

/// x in [0, 2q) -> [0, q).
FHELIUM_INLINE u64 reduce_once(u64 x, u64 q) { return x >= q ? x - q : x; }

FHELIUM_INLINE u64 add_modular(u64 a, u64 b, u64 q) { return reduce_once(a + b, q); }
// Residues are random, so a branch on a comparison would be wrong half the time: a mask is not.
FHELIUM_INLINE u64 subtract_modular(u64 a, u64 b, u64 q) {
  return a - b + (q & (0 - (u64)(a < b)));
}
FHELIUM_INLINE u64 negate_modular(u64 a, u64 q) { return a == 0 ? 0 : q - a; }

/// Any 64-bit x -> [0, q) (Barrett with floor(2^64/q): the estimate is at most one short).
FHELIUM_INLINE u64 reduce_word(u64 x, const Modulus& m) {
  const u64 r = x - multiply_high(x, m.reciprocal) * m.q;
  return reduce_once(r, m.q);
}

/// Any signed 64-bit x -> [0, q).
FHELIUM_INLINE u64 reduce_signed(i64 x, const Modulus& m) {
  if (x >= 0) return reduce_word((u64)x, m);
  return negate_modular(reduce_word(0 - (u64)x, m), m.q);
}

/// x R^-1 mod q in [0, q) for x < q R, R = 2^kBits (Montgomery 1985, subtractive form). The width
/// is a template argument so that a loop carries no branch on it. On 64-bit words 2^-52 is 2^12
/// times 2^-64: one shift, and the same reduction.
template <int kBits>
FHELIUM_INLINE u64 montgomery_reduce(u128 x, const Modulus& m) {
  static_assert(kBits == 52 || kBits == 64);
  x <<= 64 - kBits;
  const u64 t = (u64)x * m.inverse;
  return subtract_modular((u64)(x >> 64), multiply_high(t, m.q), m.q);
}

/// The same for any x < 2^64 R: the high word is brought below q first. So sums of up to 16
/// products of two factors below 2^62, one of them below q, need one reduction: 2^66 q <= 2^64 R.
template <int kBits>
FHELIUM_INLINE u64 montgomery_reduce_wide(u128 x, const Modulus& m) {
  x <<= 64 - kBits;
  const u64 high = reduce_word((u64)(x >> 64), m);
  return montgomery_reduce<64>(((u128)high << 64) | (u64)x, m);
}

template <int kBits>
FHELIUM_INLINE u64 montgomery_multiply(u64 a, u64 b, const Modulus& m) {
  return montgomery_reduce<kBits>((u128)a * b, m);
}

/// The same where R is known at run time only.
FHELIUM_INLINE u64 montgomery_reduce(u128 x, const Modulus& m) {
  return m.bits == 52 ? montgomery_reduce<52>(x, m) : montgomery_reduce<64>(x, m);
}

/// a b R^-1 mod q: standard x Montgomery -> standard.
FHELIUM_INLINE u64 montgomery_multiply(u64 a, u64 b, const Modulus& m) {
  return montgomery_reduce((u128)a * b, m);
}

FHELIUM_INLINE u64 to_montgomery(u64 x, const Modulus& m) {
  return montgomery_multiply(x, m.montgomery_square, m);
}

FHELIUM_INLINE u64 from_montgomery(u64 x, const Modulus& m) { return montgomery_reduce(x, m); }

/// Shoup's quotient of a fixed factor w < q: floor(w 2^64 / q).
FHELIUM_INLINE u64 shoup_quotient(u64 w, u64 q) { return (u64)(((u128)w << 64) / q); }

/// x w mod q in [0, 2q) for any 64-bit x (Shoup; Harvey 2014).
FHELIUM_INLINE u64 shoup_multiply_lazy(u64 x, u64 w, u64 quotient, u64 q) {
  return x * w - multiply_high(x, quotient) * q;
}

}  // namespace fhelium
