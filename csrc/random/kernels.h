// Function table of the samplers. Randomness is addressed by position: 64-bit word j of a row's
// stream belongs to coefficient j, so that any split of the work draws the same values.
#pragma once
#include "common/modular_arithmetic.h"
#include "random/rounded_gaussian.h"

namespace fhelium {

/// The ChaCha20 key as little-endian words.
struct StreamKey {
  u32 words[8];
};

/// One polynomial's stream: the three nonce words, attempt 0.
struct StreamPosition {
  u32 prime_id;   // kNoPrime where the values belong to no prime
  u32 index;      // batch item or digit
  u32 component;  // below 256: the attempt stands above it in the same word
};

constexpr u32 kNoPrime = 0xFFFFFFFFu;

template <class Word>
using UniformRow = void (*)(Word* out, i64 first, i64 n, const StreamKey& key,
                            const StreamPosition& position, const Modulus<Word>& m);

struct RandomKernels {
  /// ChaCha20 blocks counter, counter + 1, ... of RFC 8439: 16 words each.
  void (*blocks)(u32* out, const StreamKey& key, const u32* nonce, u32 counter, i64 blocks);

  /// The samplers fill coefficients [first, first + n) of a row; first is a multiple of 8.
  /// Uniform on [0, q): the same value for a modulus whichever word holds it.
  UniformRow<u64> uniform;
  UniformRow<u32> uniform_narrow;
  /// Uniform on {-1, 0, 1}.
  void (*ternary)(i64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position);
  /// Discrete Gaussian, sigma = 3.19, cut at 13 sigma.
  void (*gaussian)(i64* out, i64 first, i64 n, const StreamKey& key,
                   const StreamPosition& position);
  /// Rounded Gaussian of the given width.
  void (*rounded_gaussian)(i64* out, i64 first, i64 n, const StreamKey& key,
                           const StreamPosition& position, const GaussianWidth& width);
};

/// The table of the active instruction set.
const RandomKernels& random_kernels();

extern const RandomKernels kRandomKernelsPortable;
extern const RandomKernels kRandomKernelsAvx2;
extern const RandomKernels kRandomKernelsAvx512;

}  // namespace fhelium
