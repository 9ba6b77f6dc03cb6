// The packed transform and its tables with given kernels: what the production operators call with
// the active ones, and the diagnostic operators with those of a named instruction set.
#pragma once
#include "common/isa.h"
#include "common/torch_abi.h"
#include "ntt/kernels.h"

namespace fhelium {

/// The 64-bit kernels of an instruction set that the machine has.
const NttKernels<u64>& ntt_kernels_of(Isa isa);

/// Tables [limb, words] from primitive roots of order 2N.
template <class Word>
Tensor make_tables(const char* operation, const NttKernels<Word>& kernels, const Tensor& roots,
                   int64_t degree, const Tensor& rns_params);

/// out = transform(input); `isa` is the name of the kernels' instruction set.
template <class Word>
void transform_with(const char* operation, const NttKernels<Word>& kernels, const char* isa,
                    bool inverse, const Tensor& out, const Tensor& input, const Tensor& tables,
                    const Tensor& rns_params);

}  // namespace fhelium
