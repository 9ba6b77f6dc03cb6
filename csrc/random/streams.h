// What operators that draw inside a larger computation share with the samplers.
#pragma once
#include "common/torch_abi.h"
#include "random/kernels.h"

namespace fhelium {

/// The 32 bytes of a stream's key; messages say its shape, never a byte.
StreamKey check_stream_key(const char* operation, const char* name, const Tensor& key);

template <class Word>
UniformRow<Word> uniform_row() {
  if constexpr (sizeof(Word) == sizeof(u64))
    return random_kernels().uniform;
  else
    return random_kernels().uniform_narrow;
}

}  // namespace fhelium
