#include "ckks/embedding_simd.h"

namespace fhelium {

const EmbeddingKernels kEmbeddingKernelsAvx2 = {to_slots<4>, to_coefficients<4>};

}  // namespace fhelium
