// Inverse NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/inverse_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kInverseAvx512[] = {
    inverse_row<Narrow, kNarrowLazyBound>,  inverse_row<Narrow, kNarrowPassBound>,
    inverse_row<Narrow, kNarrowLevelBound>, inverse_row<Wide, kWideLazyBound>,
    inverse_row<Wide, kWideLevelBound>,
};

}  // namespace fhelium
