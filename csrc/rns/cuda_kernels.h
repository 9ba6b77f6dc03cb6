// Launchers of the CUDA kernels of this family. Each returns 0 or a code of common/cuda_runtime.h;
// `word_bits` is 32 or 64, `out` may be a source.
#pragma once
#include "common/device_rows.h"

extern "C" {

int fhelium_cuda_add_standard(int word_bits, const fhelium::DeviceRows& out,
                              const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                              const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_subtract_standard(int word_bits, const fhelium::DeviceRows& out,
                                   const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                                   const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_multiply_montgomery(int word_bits, const fhelium::DeviceRows& out,
                                     const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                                     const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_negate_standard(int word_bits, const fhelium::DeviceRows& out,
                                 const fhelium::DeviceRows& input,
                                 const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_to_montgomery(int word_bits, const fhelium::DeviceRows& out,
                               const fhelium::DeviceRows& input,
                               const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_from_montgomery(int word_bits, const fhelium::DeviceRows& out,
                                 const fhelium::DeviceRows& input,
                                 const fhelium::DeviceParameters& parameters, void* stream);
/// Residues in [0, 2q); a product is in [0, q).
int fhelium_cuda_add_lazy(int word_bits, const fhelium::DeviceRows& out,
                          const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                          const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_subtract_lazy(int word_bits, const fhelium::DeviceRows& out,
                               const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                               const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_multiply_lazy(int word_bits, const fhelium::DeviceRows& out,
                               const fhelium::DeviceRows& lhs, const fhelium::DeviceRows& rhs,
                               const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_negate_lazy(int word_bits, const fhelium::DeviceRows& out,
                             const fhelium::DeviceRows& input,
                             const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_reduce_lazy(int word_bits, const fhelium::DeviceRows& out,
                             const fhelium::DeviceRows& input,
                             const fhelium::DeviceParameters& parameters, void* stream);

/// Signed 64-bit integers, one row for all limbs: a limb stride of 0.
int fhelium_cuda_reduce_integers(int word_bits, const fhelium::DeviceRows& out,
                                 const fhelium::DeviceRows& integers,
                                 const fhelium::DeviceParameters& parameters, void* stream);
/// counts[limb] += the words of that limb that are no residues.
int fhelium_cuda_count_out_of_range(int word_bits, int64_t* counts,
                                    const fhelium::DeviceRows& input,
                                    const fhelium::DeviceParameters& parameters, void* stream);

/// Dense constants as the schemas of these operators name them; a digit and the special basis have
/// at most kMaxSourcePrimes primes.
int fhelium_cuda_mod_up(int word_bits, const fhelium::DeviceRows& out,
                        const fhelium::DeviceRows& input, const int64_t* digit_bounds,
                        int64_t digits, const void* digit_scale, const void* matrix,
                        const void* correction, const fhelium::DeviceParameters& parameters,
                        void* stream);
int fhelium_cuda_mod_down(int word_bits, const fhelium::DeviceRows& out,
                          const fhelium::DeviceRows& input, const void* special_scale,
                          const void* matrix, const void* correction, const void* special_inverse,
                          const fhelium::DeviceParameters& parameters, void* stream);

/// Dense constants: inverses [limb, limb], radices [digit + 1, limb of out].
int fhelium_cuda_mixed_radix_digits(int word_bits, const fhelium::DeviceRows& out,
                                    const fhelium::DeviceRows& input, const void* inverses,
                                    const fhelium::DeviceParameters& parameters, void* stream);
int fhelium_cuda_mixed_radix_extend(int word_bits, const fhelium::DeviceRows& out,
                                    const fhelium::DeviceRows& digits, const void* radices,
                                    const fhelium::DeviceParameters& digit_parameters,
                                    const fhelium::DeviceParameters& parameters, void* stream);
}
