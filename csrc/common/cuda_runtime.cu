#include "common/cuda.h"
#include "common/cuda_runtime.h"

const char* fhelium_cuda_error_text(int status) {
  return cudaGetErrorString(static_cast<cudaError_t>(status));
}

int fhelium_cuda_set_device(int index) { return static_cast<int>(cudaSetDevice(index)); }
