// Function table of the CKKS kernels: one row (limb) of n coefficients each, raw pointers only.
// `step` is the distance between coefficients of an input; outputs are contiguous.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// One digit of a key switch in one limb: the decomposed value and the two halves of the key.
struct KeySwitchTerm {
  const u64 *digit, *key0, *key1;
};

struct CkksKernels {
  /// out_c = sum_d digit_d key_c,d with keys in Montgomery form; standard result.
  void (*inner_product)(u64* out0, u64* out1, const KeySwitchTerm* terms, i64 count, i64 digit_step,
                        i64 key_step, i64 n, const Modulus& m);
  /// (a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1), standard in and out.
  void (*product)(u64* const out[3], const u64* const lhs[2], i64 lhs_step, const u64* const rhs[2],
                  i64 rhs_step, i64 n, const Modulus& m);
  /// The product with itself.
  void (*square)(u64* const out[3], const u64* const in[2], i64 step, i64 n, const Modulus& m);
  /// (x - r) q0^-1 mod q with r the centred representative of x mod q0, given as dropped[k * step];
  /// `inverse` is q0^-1 mod q in Montgomery form.
  void (*rescale)(u64* out, const u64* in, const u64* dropped, i64 step, i64 n, u64 q0, u64 inverse,
                  const Modulus& m);
  /// out[k] = the coefficient of X^k after X^j -> X^(j / inverse); n is a power of two and
  /// `inverse` the inverse of the Galois element modulo 2n.
  void (*permute_signed)(u64* out, const u64* in, i64 step, i64 n, u64 inverse, const Modulus& m);
  /// source[i] = the position, in bit-reversed evaluation order, of the value that
  /// X -> X^galois_element brings to position i. n is a power of two.
  void (*automorphism_source)(uint32_t* source, i64 n, u64 galois_element);
  /// out[i] = in[source[i] * step] for a source that automorphism_source made.
  void (*permute)(u64* out, const u64* in, i64 step, const uint32_t* source, i64 n);
};

/// The table of the active instruction set.
const CkksKernels& ckks_kernels();

extern const CkksKernels kCkksKernelsPortable;
extern const CkksKernels kCkksKernelsAvx512;

}  // namespace fhelium
