// The packed transform and its tables with given kernels: what the production operators call with
// the active ones, and the diagnostic operators with those of a named instruction set.
#pragma once
#include <span>

#include "common/isa.h"
#include "common/torch_abi.h"
#include "ntt/kernels.h"

namespace fhelium {

/// The 64-bit kernels of an instruction set that the machine has.
const NttKernels<u64>& ntt_kernels_of(Isa isa);

/// The paths that they choose from by a prime's size, the fastest first.
std::span<const NttPath> ntt_paths_of(Isa isa);

/// Tables [limb, words] from primitive roots of order 2N.
template <class Word>
Tensor make_tables(const char* operation, const NttKernels<Word>& kernels, const Tensor& roots,
                   int64_t degree, const Tensor& rns_params);

/// out = transform(input); `owner` says whose kernels these are.
template <class Word>
void transform_with(const char* operation, const NttKernels<Word>& kernels, const char* owner,
                    bool inverse, const Tensor& out, const Tensor& input, const Tensor& tables,
                    const Tensor& rns_params);

}  // namespace fhelium
