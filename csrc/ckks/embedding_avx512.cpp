#include "ckks/embedding_simd.h"

namespace fhelium {

const EmbeddingKernels kEmbeddingKernelsAvx512 = {to_slots<8>, to_coefficients<8>};

}  // namespace fhelium
