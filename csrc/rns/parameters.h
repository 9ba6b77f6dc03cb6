// Parameter columns, made by the host for every device.
#pragma once
#include "common/torch_abi.h"

namespace fhelium {

/// rns_params on the CPU for moduli on the CPU.
Tensor rns_parameters(const Tensor moduli, int64_t degree);

}  // namespace fhelium
