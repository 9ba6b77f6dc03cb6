// Forward NTT on AVX-512.
#include "ntt/arithmetic_avx512.h"
#include "ntt/forward_simd.h"
#include "ntt/kernels_simd.h"

namespace fhelium {

const NttTransform<u64> kForwardAvx512[] = {
    forward_row<Narrow, Reduce::kNever>, forward_row<Narrow, Reduce::kPass>,
    forward_row<Narrow, Reduce::kLevel>, forward_row<Wide, Reduce::kNever>,
    forward_row<Wide, Reduce::kLevel>,
};

}  // namespace fhelium
