// Launchers of the CUDA kernels of this family. Each returns 0 or a code of common/cuda_runtime.h;
// `word_bits` is 32 or 64.
#pragma once
#include "common/device_rows.h"

extern "C" {

/// X -> X^g in the coefficient domain and in bit-reversed evaluation order, g odd below 2N.
int fhelium_cuda_automorphism_coefficient(int word_bits, const fhelium::DeviceRows* out,
                                          const fhelium::DeviceRows* input, int64_t galois_element,
                                          const fhelium::DeviceParameters* parameters,
                                          void* stream);
int fhelium_cuda_automorphism_ntt(int word_bits, const fhelium::DeviceRows* out,
                                  const fhelium::DeviceRows* input, int64_t galois_element,
                                  void* stream);

/// out_c = sum_d digit_d key_c,d with the digits under X -> X^g (1: as they are). Digits and
/// components are the outermost part of the batch; the key's batch is [digit, 2].
int fhelium_cuda_key_switch_inner_product(int word_bits, const fhelium::DeviceRows* out,
                                          const fhelium::DeviceRows* digits,
                                          const fhelium::DeviceRows* key, int64_t galois_element,
                                          const fhelium::DeviceParameters* parameters,
                                          void* stream);

/// out = (input - r) / q_0 without limb 0, r the remainder modulo q_0, centred or not; `inverse` is
/// q_0^-1 in Montgomery form, dense, one for each limb of out.
int fhelium_cuda_rescale_nearest(int word_bits, const fhelium::DeviceRows* out,
                                 const fhelium::DeviceRows* input, const void* inverse,
                                 const fhelium::DeviceParameters* parameters, void* stream);
int fhelium_cuda_rescale_truncating(int word_bits, const fhelium::DeviceRows* out,
                                    const fhelium::DeviceRows* input, const void* inverse,
                                    const fhelium::DeviceParameters* parameters, void* stream);
}
