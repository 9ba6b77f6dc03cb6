// Function table of the CKKS kernels: one row (limb) of n coefficients each, raw pointers only.
// `step` is the distance between coefficients of an input; outputs are contiguous.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// One digit of a key switch in one limb: the decomposed value and the two halves of the key.
template <class Word>
struct KeySwitchTerm {
  const Word *digit, *key0, *key1;
};

template <class Word>
struct CkksKernels {
  /// out_c = sum_d digit_d key_c,d with keys in Montgomery form; standard result.
  void (*inner_product)(Word* out0, Word* out1, const KeySwitchTerm<Word>* terms, i64 count,
                        i64 digit_step, i64 key_step, i64 n, const Modulus<Word>& m);
  /// out_c = kept_c factor + sum_d digit_d key_c,d on contiguous rows, factor and keys in
  /// Montgomery form; standard result. A kept row may be null, or out_c itself. Digits are read at
  /// the positions of `source`, which automorphism_source made, or in order where it is null.
  void (*add_inner_product)(Word* out0, Word* out1, const Word* kept0, const Word* kept1,
                            Word factor, const KeySwitchTerm<Word>* terms, i64 count,
                            const uint32_t* source, i64 n, const Modulus<Word>& m);
  /// out = (lhs - rhs) factor on contiguous rows, the factor in Montgomery form.
  void (*subtract_scale)(Word* out, const Word* lhs, const Word* rhs, Word factor, i64 n,
                         const Modulus<Word>& m);
  /// (a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1), standard in and out.
  void (*product)(Word* const out[3], const Word* const lhs[2], i64 lhs_step,
                  const Word* const rhs[2], i64 rhs_step, i64 n, const Modulus<Word>& m);
  /// The product with itself.
  void (*square)(Word* const out[3], const Word* const in[2], i64 step, i64 n,
                 const Modulus<Word>& m);
  /// (x - r) q0^-1 mod q with r the centred representative of x mod q0, given as dropped[k * step];
  /// `inverse` is q0^-1 mod q in Montgomery form.
  void (*rescale)(Word* out, const Word* in, const Word* dropped, i64 step, i64 n, Word q0,
                  Word inverse, const Modulus<Word>& m);
  /// That r mod q, on contiguous rows.
  void (*centred_remainder)(Word* out, const Word* dropped, i64 n, Word q0, const Modulus<Word>& m);
  /// source[i] = the position, in bit-reversed evaluation order, of the value that
  /// X -> X^galois_element brings to position i. n is a power of two.
  void (*automorphism_source)(uint32_t* source, i64 n, u64 galois_element);
  /// out[i] = in[source[i] * step] for a source that automorphism_source made.
  void (*permute)(Word* out, const Word* in, i64 step, const uint32_t* source, i64 n);
};

/// The table of the active instruction set.
template <class Word>
const CkksKernels<Word>& ckks_kernels();

extern const CkksKernels<u32> kCkksKernels32Portable;
extern const CkksKernels<u32> kCkksKernels32Avx2;
extern const CkksKernels<u64> kCkksKernels64Portable;
extern const CkksKernels<u64> kCkksKernels64Avx2;
extern const CkksKernels<u64> kCkksKernels64Avx512;

}  // namespace fhelium
