// Launchers of the CUDA kernels of this family. Each returns 0 or a code of common/cuda_runtime.h.
// A key is 32 bytes, a nonce 12, both on the device, as a read from the host would wait.
#pragma once
#include "common/device_rows.h"

extern "C" {

/// ChaCha20 blocks counter, counter + 1, ... of 64 bytes each.
int fhelium_cuda_chacha20_blocks(void* out, const void* key, const void* nonce, int64_t counter,
                                 int64_t blocks, void* stream);

/// `out` is [count, limb, N]; one prime id for each limb.
int fhelium_cuda_sample_uniform(int word_bits, const fhelium::DeviceRows& out, const void* key,
                                const int64_t* prime_ids, int64_t component, int64_t first_index,
                                const fhelium::DeviceParameters& parameters, void* stream);

/// `out` is dense, [count, degree].
int fhelium_cuda_sample_ternary(int64_t* out, const void* key, int64_t component, int64_t count,
                                int64_t degree, void* stream);
int fhelium_cuda_sample_gaussian(int64_t* out, const void* key, int64_t component, int64_t count,
                                 int64_t degree, void* stream);
/// sigma = scaled 2^shift, as random/rounded_gaussian.h splits it.
int fhelium_cuda_sample_rounded_gaussian(int64_t* out, const void* key, int64_t component,
                                         int64_t count, int64_t degree, double scaled,
                                         int64_t shift, void* stream);
}
