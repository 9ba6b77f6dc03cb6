// The vector transforms, a translation unit each, by the path that a prime's size allows: see the
// enumerations in the arithmetic's headers.
#pragma once
#include "ntt/kernels.h"

namespace fhelium {

extern const NttTransform<u64> kForwardAvx2[2], kInverseAvx2[2];
extern const NttTransform<u64> kForwardAvx512[5], kInverseAvx512[5];

}  // namespace fhelium
