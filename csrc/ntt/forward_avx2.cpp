// Forward NTT on AVX2.
#include "ntt/arithmetic_avx2.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kForwardAvx2[] = {
    forward_row<Doubles4, Reduce::kNever>,
    forward_row<Doubles4, Reduce::kPass>,
};

}  // namespace fhelium
