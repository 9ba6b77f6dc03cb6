// What every operator on CUDA tensors with a transform asks of the ring and its twiddles.
#pragma once
#include "common/cuda_call.h"

namespace fhelium {

/// The ring degree, the input's last axis; refused where no pass takes it.
int64_t check_degree(const CudaCall& call, const Tensor& input);

/// Rows of ntt/cuda_table.h for so many limbs and the input's degree and type, at any distance.
void check_twiddle_rows(const CudaCall& call, const char* name, const Tensor& twiddles,
                        const Tensor& input, int64_t limbs);

}  // namespace fhelium
