// What a .cu file includes, and all that it may name of CUDA. nvcc compiles it for the device; g++
// compiles the same file against the emulator, which runs every kernel on the CPU. A kernel's
// shared memory comes from shared_memory() and its launch from launch(): g++ knows neither
// __shared__ nor <<<>>>.
#pragma once
#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include "common/modular_arithmetic.h"

namespace fhelium {

/// The dynamic shared memory of the block, as many bytes as the launch asks for.
template <class T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char fhelium_shared_memory[];
  return reinterpret_cast<T*>(fhelium_shared_memory);
}

/// Start kernel(arguments...) on the stream. Returns 0 or a code that cuda_error_text explains;
/// what fails while the kernel runs is reported by a later call.
template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, void* stream,
           const Arguments&... arguments) {
  constexpr size_t kWithoutAsking = 48 << 10;
  if (shared_bytes > kWithoutAsking) {
    const cudaError_t status =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (status != cudaSuccess) return (int)status;
  }
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      static_cast<Parameters>(arguments)...);
  return (int)cudaGetLastError();
}

}  // namespace fhelium
#else
#include "common/cuda_emulator.h"
#include "common/modular_arithmetic.h"
#endif

namespace fhelium {

/// Call body(Word{}) with the word of so many bits, as for_word_of does where torch is known.
template <class Body>
auto for_word_bits(int bits, const Body& body) {
  return bits == 32 ? body(u32{}) : body(u64{});
}

}  // namespace fhelium
