// Launchers of the CUDA kernels of this family. Each returns 0 or a code of common/cuda_runtime.h;
// `word_bits` is 32 or 64, `out` may be the input.
#pragma once
#include "common/device_rows.h"

extern "C" {

/// The transform in passes over memory: pass number k of the forward transform takes schedule[k]
/// levels, and those of the inverse go backwards; a null schedule stands for as few passes as there
/// may be. `twiddles` are rows of ntt/cuda_table.h, so many words apart.
int fhelium_cuda_ntt(int word_bits, int inverse, const fhelium::DeviceRows& out,
                     const fhelium::DeviceRows& input, const void* twiddles, int64_t twiddle_stride,
                     const int64_t* schedule, int64_t passes, void* stream);

/// Plain radix-2 butterflies whose operands index tensors [log2 N, N / 2] name; positions are taken
/// modulo N. `twiddles` is [limb, N] in Montgomery form.
int fhelium_cuda_ntt_indexed(int word_bits, int inverse, const fhelium::DeviceRows& out,
                             const fhelium::DeviceRows& input, const int64_t* even,
                             const int64_t* odd, const int64_t* schedule, const void* twiddles,
                             const fhelium::DeviceParameters& parameters, void* stream);
}
