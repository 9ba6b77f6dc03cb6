// Function table of the codec: between doubles and residues. Raw pointers only.
//
// Residues to a real number (Garner 1959): mixed radix digits v_i with x = sum v_i q_0 .. q_(i-1),
//   v_i = (x_i - sum_(j<i) v_j q_0 .. q_(j-1)) (q_0 .. q_(i-1))^-1 mod q_i.
// All digits of (Q - 1)/2 are (q_i - 1)/2, so the sign of the centred x is a comparison of digits,
// and those of Q - 1 - x are q_i - 1 - v_i.
//
// Messages are far smaller than Q. The last two moduli a, b name the one x of at most (a b - 1) / 2
// in magnitude; where it has the other residues too it is the number itself, without more digits.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// Coefficients that a Garner kernel takes at once.
inline constexpr i64 kGarnerBlock = 64;

template <class Word>
struct GarnerTables {
  const Modulus<Word>* moduli;
  i64 limbs;
  /// Row i has i + 1 constants in Montgomery form modulo q_i, R = 2^64 whatever the residues' own
  /// is (the digits are 64-bit words): of v_0 .. v_(i-1), then of x_i. Row i begins at i (i + 1)
  /// / 2.
  const u64* factors;
};

/// a and b are the last and the last but one of at least two moduli.
template <class Word>
struct PairTables {
  const Modulus<Word>* moduli;
  i64 limbs;
  Word inverse;  // a^-1 mod b in the Montgomery form of b
  /// For each other limb: a in its Montgomery form, and a b.
  const Word* factors;
};

/// Words of workspace that `centred` needs.
FHELIUM_INLINE i64 garner_workspace(i64 limbs) { return limbs * kGarnerBlock + limbs + 1; }

template <class Word>
struct CodecKernels {
  /// rounded[k] = rint(values[k] * scale); returns how many are not below 2^63 in magnitude,
  /// which counts those that are not finite.
  i64 (*round)(double* rounded, const double* values, double scale, i64 n);
  /// Integers below 2^63 in magnitude -> residues.
  void (*reduce_narrow)(Word* out, const double* rounded, i64 n, const Modulus<Word>& m);
  /// The nearest doubles of n <= kGarnerBlock centred integers, each at most (a b - 1) / 2 in
  /// magnitude; false, and the doubles are of no use, where one is larger.
  bool (*centred_pair)(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
                       const PairTables<Word>& tables);
  /// n <= kGarnerBlock coefficients -> the nearest doubles of the centred integers.
  void (*centred)(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
                  const GarnerTables<Word>& tables, u64* workspace);
};

/// The table of the active instruction set.
template <class Word>
const CodecKernels<Word>& codec_kernels();

extern const CodecKernels<u32> kCodecKernels32Portable;
extern const CodecKernels<u32> kCodecKernels32Avx2;
extern const CodecKernels<u64> kCodecKernels64Portable;
extern const CodecKernels<u64> kCodecKernels64Avx2;
extern const CodecKernels<u64> kCodecKernels64Avx512;

}  // namespace fhelium
