// Function table of the RNS kernels: one row (limb) of n coefficients each, raw pointers only.
// `step` is the distance between coefficients of that operand: 1 contiguous, 0 one constant.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// Most primes that one digit, or the special basis P, may have. Sums of that many products
/// of 64-bit words fit 128 bits, and the exact comparison of a centred value fits kMaxSourcePrimes
/// words.
inline constexpr int kMaxSourcePrimes = 16;

/// Coefficients that a basis conversion treats at a time; its scratch stays in the first cache.
inline constexpr i64 kBasisTile = 256;

/// The primes d_0 .. d_{count-1} of a value to be converted, D their product.
template <class Word>
struct BasisSource {
  int count;
  const Modulus<Word>* moduli;
  const Word* scale;  // (D / d_i)^-1 mod d_i, Montgomery
};

/// The centred representative of some values, as numbers that any prime can take up:
/// x = sum_i digit(i) (D / d_i) - digit(count) D with |x| <= (D - 1) / 2. A digit has room for
/// whole vectors.
template <class Word>
struct BasisTile {
  Word* digits;
  i64 stride;  // from one digit to the next
};

template <class Word>
FHELIUM_INLINE Word* digit_of(const BasisTile<Word>& tile, int i) {
  return tile.digits + i * tile.stride;
}

/// What one prime q needs of a conversion: the factors of digit[0 .. count] in Montgomery form.
template <class Word>
struct BasisTarget {
  int count;            // of source primes
  bool wide;            // whether sum_i d_i exceeds R: then the sum needs more reductions
  bool narrow_sources;  // whether R is 2^52 for every d_i, which is then below 2^50
  const Word* factor;   // count + 1 of them: (D / d_i) mod q, then -D mod q
  Word division;        // mod_down: D^-1 mod q, Montgomery
  const Modulus<Word>* target;
};

template <class Word>
using UnaryRow = void (*)(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n,
                          const Modulus<Word>& m);
template <class Word>
using BinaryRow = void (*)(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs,
                           i64 rhs_step, i64 n, const Modulus<Word>& m);

/// Rows of results that are not in the caches and would not stay there: contiguous, on cache lines.
template <class Word>
struct PastCachesRows {
  BinaryRow<Word> add, subtract, multiply_montgomery;
  UnaryRow<Word> negate;
};

template <class Word>
struct RnsKernels {
  // add, subtract and negate hold for any modulus below 2^(w-1), odd or not.
  BinaryRow<Word> add, subtract, multiply_montgomery;
  UnaryRow<Word> negate, to_montgomery, from_montgomery;
  PastCachesRows<Word> past_caches;
  /// [0, 2q) x [0, 2q) -> [0, q), for q below 2^(w-2).
  BinaryRow<Word> multiply_lazy;
  /// Signed 64-bit integers -> [0, q).
  void (*reduce_integers)(Word* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                          const Modulus<Word>& m);
  /// Integers below the modulus in magnitude -> [0, q), and x[k] += in[k] mod q.
  void (*reduce_small)(Word* out, const int8_t* in, i64 n, const Modulus<Word>& m);
  void (*add_small)(Word* x, const int8_t* in, i64 n, const Modulus<Word>& m);
  /// Fill a tile from rows[i][k * step], k < n <= kBasisTile, standard residues modulo d_i. A row
  /// may be its own digit.
  void (*centre)(const BasisTile<Word>& tile, const Word* const* rows, i64 step, i64 n,
                 const BasisSource<Word>& from);
  /// out[k] = x_k mod q.
  void (*convert)(Word* out, const BasisTile<Word>& tile, i64 n, const BasisTarget<Word>& to);
  /// out[k] = (in[k * step] - x_k) D^-1 mod q: the exact division of mod_down.
  void (*subtract_divide)(Word* out, const Word* in, i64 step, const BasisTile<Word>& tile, i64 n,
                          const BasisTarget<Word>& to);
};

/// The table of the active instruction set.
template <class Word>
const RnsKernels<Word>& rns_kernels();

extern const RnsKernels<u32> kRnsKernels32Portable;
extern const RnsKernels<u32> kRnsKernels32Avx2;
/// Their reduce_integers on contiguous rows, whose arithmetic is that of 64-bit words.
void reduce_integers_avx2(u32* out, const i64* in, i64 n, const Modulus<u32>& m);
extern const RnsKernels<u64> kRnsKernels64Portable;
extern const RnsKernels<u64> kRnsKernels64Avx2;
extern const RnsKernels<u64> kRnsKernels64Avx512;

}  // namespace fhelium
