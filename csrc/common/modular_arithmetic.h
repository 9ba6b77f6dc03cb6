// Modular arithmetic on words of 32 or 64 bits: the meaning that every SIMD path and device must
// match bit for bit. Plain functions, no library: a kernel compiled for another instruction set
// includes it without leaving weak symbols behind.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define FHELIUM_INLINE __host__ __device__ __forceinline__
#else
#define FHELIUM_INLINE static inline __attribute__((always_inline))
#define FHELIUM_METHOD inline __attribute__((always_inline))
#endif

namespace fhelium {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;
using u128 = unsigned __int128;

/// The two types a residue is stored in. A modulus leaves the top bits free: one, so that a sum of
/// two residues fits, and on 64 bits one more, so that a butterfly may leave 4q.
template <class Word>
struct WordTraits;
template <>
struct WordTraits<u32> {
  using Wide = u64;
  using Signed = int32_t;
  static constexpr int kBits = 32, kModulusBits = 31;
};
template <>
struct WordTraits<u64> {
  using Wide = u128;
  using Signed = i64;
  static constexpr int kBits = 64, kModulusBits = 62;
};

/// Twice the bits of a word: products and sums of products.
template <class Word>
using WideOf = typename WordTraits<Word>::Wide;
template <class Word>
inline constexpr int kWordBits = WordTraits<Word>::kBits;

/// So many products of two residues stay below 2^(2 w) on words of w bits: 4 on 32, 16 on 64.
template <class Word>
inline constexpr i64 kMaxProducts =
    (i64)1 << 2 * (WordTraits<Word>::kBits - WordTraits<Word>::kModulusBits);

/// One limb's constants, read once from a column of rns_params.
template <class Word>
struct Modulus {
  Word q;                  // the prime, below 2^kModulusBits
  Word inverse;            // q^-1 mod 2^w
  Word montgomery_one;     // R mod q
  Word montgomery_square;  // R^2 mod q
  Word degree_inverse;     // N^-1 R mod q
  u64 reciprocal;          // floor(2^64 / q)
  int bits;                // log2 R: 32 on 32-bit words, else 52 or 64
};

FHELIUM_INLINE u32 multiply_high(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
FHELIUM_INLINE u64 multiply_high(u64 a, u64 b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return (u64)(((u128)a * b) >> 64);
#endif
}

/// x in [0, 2q) -> [0, q).
template <class Word>
FHELIUM_INLINE Word reduce_once(Word x, Word q) {
  return x >= q ? x - q : x;
}

template <class Word>
FHELIUM_INLINE Word add_modular(Word a, Word b, Word q) {
  return reduce_once<Word>(a + b, q);
}
// Residues are random, so a branch on a comparison would be wrong half the time: a mask is not.
template <class Word>
FHELIUM_INLINE Word subtract_modular(Word a, Word b, Word q) {
  return a - b + (q & (0 - (Word)(a < b)));
}
template <class Word>
FHELIUM_INLINE Word negate_modular(Word a, Word q) {
  return a == 0 ? 0 : q - a;
}

/// Any 64-bit x -> [0, q) (Barrett with floor(2^64/q): the estimate is at most one short).
template <class Word>
FHELIUM_INLINE Word reduce_word(u64 x, const Modulus<Word>& m) {
  const u64 r = x - multiply_high(x, m.reciprocal) * m.q;
  return (Word)reduce_once<u64>(r, m.q);
}

/// The same on 32 bits, with floor(2^32/q).
FHELIUM_INLINE u32 reduce_word(u32 x, const Modulus<u32>& m) {
  return reduce_once(x - multiply_high(x, (u32)(m.reciprocal >> 32)) * m.q, m.q);
}

/// Any signed 64-bit x -> [0, q).
template <class Word>
FHELIUM_INLINE Word reduce_signed(i64 x, const Modulus<Word>& m) {
  if (x >= 0) return reduce_word((u64)x, m);
  return negate_modular(reduce_word(0 - (u64)x, m), m.q);
}

/// x R^-1 mod q in [0, q) for x < q R, R = 2^kBits (Montgomery 1985, subtractive form). The width
/// is a template argument so that a loop carries no branch on it. On 64-bit words 2^-52 is 2^12
/// times 2^-64: one shift, and the same reduction.
template <int kBits, class Word>
FHELIUM_INLINE Word montgomery_reduce(WideOf<Word> x, const Modulus<Word>& m) {
  static_assert(kBits == kWordBits<Word> || (kBits == 52 && kWordBits<Word> == 64));
  x <<= kWordBits<Word> - kBits;
  const Word t = (Word)x * m.inverse;
  return subtract_modular((Word)(x >> kWordBits<Word>), multiply_high(t, m.q), m.q);
}

/// The same for any x < 2^w R: the high word is brought below q first. So a sum of kMaxProducts
/// products needs one reduction.
template <int kBits, class Word>
FHELIUM_INLINE Word montgomery_reduce_wide(WideOf<Word> x, const Modulus<Word>& m) {
  x <<= kWordBits<Word> - kBits;
  const Word high = reduce_word((Word)(x >> kWordBits<Word>), m);
  return montgomery_reduce<kWordBits<Word>>(((WideOf<Word>)high << kWordBits<Word>) | (Word)x, m);
}

template <int kBits, class Word>
FHELIUM_INLINE Word montgomery_multiply(Word a, Word b, const Modulus<Word>& m) {
  return montgomery_reduce<kBits>((WideOf<Word>)a * b, m);
}

/// log2 R as a type: what with_radix hands to a generic lambda.
template <int kValue>
struct Radix {
  static constexpr int kBits = kValue;
};

/// body(Radix<log2 R>{}) where R is known at run time only.
template <class Word, class Body>
FHELIUM_INLINE auto with_radix(const Modulus<Word>& m, const Body& body) {
  if constexpr (kWordBits<Word> == 32)
    return body(Radix<32>{});
  else
    return m.bits == 52 ? body(Radix<52>{}) : body(Radix<64>{});
}

template <class Word>
FHELIUM_INLINE Word montgomery_reduce(WideOf<Word> x, const Modulus<Word>& m) {
  return with_radix(m, [&](auto radix) { return montgomery_reduce<radix.kBits>(x, m); });
}

/// a b R^-1 mod q: standard x Montgomery -> standard.
template <class Word>
FHELIUM_INLINE Word montgomery_multiply(Word a, Word b, const Modulus<Word>& m) {
  return montgomery_reduce((WideOf<Word>)a * b, m);
}

template <class Word>
FHELIUM_INLINE Word to_montgomery(Word x, const Modulus<Word>& m) {
  return montgomery_multiply(x, m.montgomery_square, m);
}

template <class Word>
FHELIUM_INLINE Word from_montgomery(Word x, const Modulus<Word>& m) {
  return montgomery_reduce<Word>(x, m);
}

/// Shoup's quotient of a fixed factor w < q: floor(w 2^bits / q) with the word's bits.
template <class Word>
FHELIUM_INLINE Word shoup_quotient(Word w, Word q) {
  return (Word)(((WideOf<Word>)w << kWordBits<Word>) / q);
}

/// x w mod q in [0, 2q) for any word x (Shoup; Harvey 2014).
template <class Word>
FHELIUM_INLINE Word shoup_multiply_lazy(Word x, Word w, Word quotient, Word q) {
  return x * w - multiply_high(x, quotient) * q;
}

}  // namespace fhelium
