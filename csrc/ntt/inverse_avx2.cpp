// Inverse NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kInverseAvx2[] = {
    inverse_row<Doubles4, kLazyBound>,
    inverse_row<Doubles4, kPassBound>,
};

}  // namespace fhelium
