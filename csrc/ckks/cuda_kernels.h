// Launchers of the CUDA kernels of this family. Each returns 0 or a code of common/cuda_runtime.h;
// `word_bits` is 32 or 64.
#pragma once
#include "common/device_rows.h"

namespace fhelium {

/// What both steps of a key switch need.
struct KeySwitchCall {
  const uint64_t* tables;           // of key_switch_tables, on the device
  int64_t limbs, specials, digits;  // L + K, K, D
  const void* twiddles;             // rows of ntt/cuda_table.h for all L + K limbs
  int64_t twiddle_stride;           // words from row to row
  int64_t degree, batches;
  int64_t from_ntt, to_ntt, rescale;
  void* workspace;  // as many words as fhelium_cuda_key_switch_words says
};

}  // namespace fhelium

extern "C" {

/// X -> X^g in the coefficient domain and in bit-reversed evaluation order, g odd below 2N.
int fhelium_cuda_automorphism_coefficient(int word_bits, const fhelium::DeviceRows& out,
                                          const fhelium::DeviceRows& input, int64_t galois_element,
                                          const fhelium::DeviceParameters& parameters,
                                          void* stream);
int fhelium_cuda_automorphism_ntt(int word_bits, const fhelium::DeviceRows& out,
                                  const fhelium::DeviceRows& input, int64_t galois_element,
                                  void* stream);

/// out_c = sum_d digit_d key_c,d with the digits under X -> X^g (1: as they are). Digits and
/// components are the outermost part of the batch; the key's batch is [digit, 2].
int fhelium_cuda_key_switch_inner_product(int word_bits, const fhelium::DeviceRows& out,
                                          const fhelium::DeviceRows& digits,
                                          const fhelium::DeviceRows& key, int64_t galois_element,
                                          const fhelium::DeviceParameters& parameters,
                                          void* stream);

/// out = (input - r) / q_0 without limb 0, r the remainder modulo q_0, centred or not; `inverse` is
/// q_0^-1 in Montgomery form, dense, one for each limb of out.
int fhelium_cuda_rescale_nearest(int word_bits, const fhelium::DeviceRows& out,
                                 const fhelium::DeviceRows& input, const void* inverse,
                                 const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_rescale_truncating(int word_bits, const fhelium::DeviceRows& out,
                                    const fhelium::DeviceRows& input, const void* inverse,
                                    const fhelium::DeviceParameters& parameters, void* stream);

/// Key switching, in two steps that share a workspace: raise() brings the digits of one component
/// to all primes, finish() multiplies them with a key, adds what is kept and divides by P, and by
/// q_0 where `rescale`. Rows are [*batch, limb, N] of the L primes in use; the key's batch is
/// [digit, 2] and its limbs are the L + K in use; `out` is [2, *batch, limb, N]. kept1 may be null.
/// Both steps together are 8 launches up to N = 2^17. A rescaling takes and gives NTT values.
int64_t fhelium_cuda_key_switch_words(int word_bits, const fhelium::KeySwitchCall& call);
/// The product of two components each, three of `out`, for a key switch of its last one.
int fhelium_cuda_key_switch_product(int word_bits, const fhelium::KeySwitchCall& call,
                                    const fhelium::DeviceRows& out, const fhelium::DeviceRows& lhs,
                                    const fhelium::DeviceRows& rhs, void* stream);
int fhelium_cuda_key_switch_raise(int word_bits, const fhelium::KeySwitchCall& call,
                                  const fhelium::DeviceRows& switched, void* stream);
int fhelium_cuda_key_switch_finish(int word_bits, const fhelium::KeySwitchCall& call,
                                   const fhelium::DeviceRows& out,
                                   const fhelium::DeviceRows& switched,
                                   const fhelium::DeviceRows& key, const fhelium::DeviceRows& kept0,
                                   const fhelium::DeviceRows* kept1, int64_t galois_element,
                                   void* stream);

/// The same of NTT values, of a ciphertext or of its product with a plaintext in Montgomery form,
/// which may be null and has the ciphertext's batch shape. `twiddles` are those of all limbs of the
/// ciphertext; the workspace has room for one row of each batch item.
int fhelium_cuda_rescale_ntt(int word_bits, const fhelium::DeviceRows& out,
                             const fhelium::DeviceRows& ciphertext,
                             const fhelium::DeviceRows* plaintext, const void* inverse,
                             const void* twiddles, int64_t twiddle_stride,
                             const fhelium::DeviceParameters& parameters, void* workspace,
                             void* stream);

/// out = sum_i ciphertext_i plaintext_i, the plaintexts in Montgomery form and of the ciphertexts'
/// batch shape.
int fhelium_cuda_sum_plaintext_products(int word_bits, const fhelium::DeviceRows& out,
                                        const fhelium::DeviceRows* ciphertexts,
                                        const fhelium::DeviceRows* plaintexts, int64_t count,
                                        const fhelium::DeviceParameters& parameters, void* stream);

/// out = ciphertext + plaintext in the first `added` batch items, which are those of component 0,
/// and the ciphertext in the others.
int fhelium_cuda_add_plaintext(int word_bits, const fhelium::DeviceRows& out,
                               const fhelium::DeviceRows& ciphertext,
                               const fhelium::DeviceRows& plaintext,
                               const fhelium::DeviceParameters& parameters, int64_t added,
                               void* stream);

/// (a0, a1) (b0, b1) -> (a0 b0, a0 b1 + a1 b0, a1 b1). Components are the outermost part of the
/// batch: two of lhs and rhs, three of out.
int fhelium_cuda_ciphertext_product(int word_bits, const fhelium::DeviceRows& out,
                                    const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                                    const fhelium::DeviceParameters& parameters, void* stream);

/// (a0, a1) -> (a0^2, 2 a0 a1, a1^2).
int fhelium_cuda_ciphertext_square(int word_bits, const fhelium::DeviceRows& out,
                                   const fhelium::DeviceRows& input,
                                   const fhelium::DeviceParameters& parameters, void* stream);
}
