// Function table of the RNS kernels: one row (limb) of n coefficients each, raw pointers only.
// `step` is the distance between coefficients of that operand: 1 contiguous, 0 one constant.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// Most primes that one digit, or the special basis P, may have. Sums of that many products fit
/// 128 bits, and the exact comparison of a centred value fits kMaxSourcePrimes words.
inline constexpr int kMaxSourcePrimes = 16;

/// Coefficients that a basis conversion treats at a time; its scratch stays in the first cache.
inline constexpr i64 kBasisTile = 256;

/// The primes d_0 .. d_{count-1} of a value to be converted, D their product.
struct BasisSource {
  int count;
  const Modulus* moduli;
  const u64* scale;  // (D / d_i)^-1 mod d_i, Montgomery
};

/// The centred representative of a tile of values, as numbers that any prime can take up:
/// x = sum_i digit[i] (D / d_i) - digit[count] D with |x| <= (D - 1) / 2.
struct BasisTile {
  alignas(64) u64 digit[kMaxSourcePrimes + 1][kBasisTile];
};

/// What one prime q needs of a conversion: the factors of digit[0 .. count] in Montgomery form.
struct BasisTarget {
  int count;            // of source primes
  bool wide;            // whether sum_i d_i exceeds R: then the sum needs one more reduction
  bool narrow_sources;  // whether every d_i is below 2^50
  const u64* factor;    // count + 1 of them: (D / d_i) mod q, then -D mod q
  u64 division;         // mod_down: D^-1 mod q, Montgomery
  const Modulus* target;
};

using UnaryRow = void (*)(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                          const Modulus& m);
using BinaryRow = void (*)(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                           i64 rhs_step, i64 n, const Modulus& m);

struct RnsKernels {
  BinaryRow add, subtract, multiply_montgomery;
  UnaryRow negate, to_montgomery, from_montgomery;
  /// Signed 64-bit integers -> [0, q).
  UnaryRow reduce_integers;
  /// Fill a tile from rows[i][k * step], k < n <= kBasisTile, standard residues modulo d_i.
  void (*centre)(BasisTile& tile, const u64* const* rows, i64 step, i64 n, const BasisSource& from);
  /// out[k] = x_k mod q.
  void (*convert)(u64* out, const BasisTile& tile, i64 n, const BasisTarget& to);
  /// out[k] = (in[k * step] - x_k) D^-1 mod q: the exact division of mod_down.
  void (*subtract_divide)(u64* out, const u64* in, i64 step, const BasisTile& tile, i64 n,
                          const BasisTarget& to);
};

/// The table of the active instruction set.
const RnsKernels& rns_kernels();

extern const RnsKernels kRnsKernelsPortable;
extern const RnsKernels kRnsKernelsAvx512;

}  // namespace fhelium
