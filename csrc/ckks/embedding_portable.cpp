#include "ckks/embedding_simd.h"

namespace fhelium {

const EmbeddingKernels kEmbeddingKernelsPortable = {to_slots<2>, to_coefficients<2>};

}  // namespace fhelium
