// Kernels with one fault each, beside those that are right: what the emulator must tell apart.
#include "common/cuda.h"

namespace fhelium {
namespace {

/// out[i] = in[n - 1 - i] by way of shared memory.
template <bool kBarrier>
__global__ void reverse_kernel(int* out, const int* in) {
  int* const shared = shared_memory<int>();
  shared[threadIdx.x] = in[threadIdx.x];
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

/// Rounds over one buffer, each reading what the last one wrote: two barriers a round.
template <bool kSecondBarrier>
__global__ void rotate_kernel(int* out, const int* in) {
  int* const shared = shared_memory<int>();
  const unsigned i = threadIdx.x, n = blockDim.x;
  int x = in[i];
  for (int round = 0; round < 3; ++round) {
    shared[i] = x;
    __syncthreads();
    x = shared[(i + 1) % n];
    if (kSecondBarrier) __syncthreads();
  }
  out[i] = x;
}

__global__ void half_kernel(int* out, const int*) {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
  out[threadIdx.x] = 0;
}

__global__ void two_places_kernel(int* out, const int*) {
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 0;
}

__global__ void early_exit_kernel(int* out, const int*) {
  if (threadIdx.x == 0) return;
  __syncthreads();
  out[threadIdx.x] = 0;
}

__global__ void shared_overrun_kernel(int* out, const int* in) {
  shared_memory<int>()[threadIdx.x + 1] = in[threadIdx.x];
  out[threadIdx.x] = 0;
}

__global__ void overrun_kernel(int* out, const int* in) { out[threadIdx.x + 1] = in[threadIdx.x]; }

__global__ void sum_kernel(int* out, const int* in) {
  int sum = in[threadIdx.x];
  for (int distance = warpSize / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  out[threadIdx.x] = sum;
}

/// Inclusive sums of a warp, and the lanes whose element is even, in the high half.
__global__ void scan_kernel(int* out, const int* in) {
  const unsigned lane = threadIdx.x % warpSize;
  int sum = in[threadIdx.x];
  for (unsigned distance = 1; distance < warpSize; distance *= 2) {
    const int below = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += below;
  }
  const unsigned even = __ballot_sync(~0u, in[threadIdx.x] % 2 == 0);
  const int first = __shfl_sync(~0u, sum, 0), next = __shfl_down_sync(~0u, sum, 1);
  const bool agree =
      __all_sync(~0u, first == __shfl_sync(~0u, first, 7)) && !__any_sync(~0u, sum < first);
  out[threadIdx.x] = agree ? sum + (int)(even >> lane & 1) * 65536 + (next >= sum) * 131072 : -1;
}

__global__ void half_warp_kernel(int* out, const int* in) {
  int x = in[threadIdx.x];
  if (threadIdx.x % warpSize < 16) x = __shfl_xor_sync(~0u, x, 1);
  out[threadIdx.x] = x;
}

__global__ void unnamed_lane_kernel(int* out, const int* in) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffu, in[threadIdx.x], 1);
}

__global__ void absent_source_kernel(int* out, const int* in) {
  int x = in[threadIdx.x];
  if (threadIdx.x % warpSize < 16) x = __shfl_xor_sync(0xffffu, x, 16);
  out[threadIdx.x] = x;
}

/// Blocks that need each other's results in order: the last one to run leaves its number.
__global__ void last_block_kernel(int* out, const int*) {
  if (threadIdx.x == 0) out[0] = (int)blockIdx.x;
}

using Kernel = void (*)(int*, const int*);

struct Fault {
  const char* name;
  Kernel kernel;
};

constexpr Fault kFaults[] = {{"reverse", reverse_kernel<true>},
                             {"reverse without its barrier", reverse_kernel<false>},
                             {"rotate", rotate_kernel<true>},
                             {"rotate without its second barrier", rotate_kernel<false>},
                             {"half of the threads wait", half_kernel},
                             {"threads wait at two places", two_places_kernel},
                             {"one thread leaves early", early_exit_kernel},
                             {"shared overrun", shared_overrun_kernel},
                             {"overrun", overrun_kernel},
                             {"sum", sum_kernel},
                             {"scan", scan_kernel},
                             {"half of a warp shuffles", half_warp_kernel},
                             {"an unnamed lane shuffles", unnamed_lane_kernel},
                             {"the source lane is absent", absent_source_kernel},
                             {"last block", last_block_kernel}};

}  // namespace
}  // namespace fhelium

extern "C" int run_fault(const char* name, const unsigned* grid, const unsigned* block,
                         int64_t shared_bytes, int* out, const int* in, void* stream) {
  for (const auto& fault : fhelium::kFaults)
    if (std::strcmp(fault.name, name) == 0)
      return fhelium::launch(fault.kernel, dim3(grid[0], grid[1], grid[2]),
                             dim3(block[0], block[1], block[2]), (size_t)shared_bytes, stream, out,
                             in);
  return -1;
}
