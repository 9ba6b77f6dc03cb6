// A CUDA device for g++: the blocks of a launch one after another, the threads of a block as fibers
// on one CPU thread. Threads run in a random order from one barrier to the next, so that a result
// which needs a missing barrier comes out wrong; shared memory holds no zeros at a block's start
// and has walls; a barrier or a warp operation that part of the threads reaches ends the launch,
// and so does a launch that no device could start. common/cuda.h includes this; kernels stay plain
// CUDA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

/// Of the thread that runs.
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace fhelium::emulator {

/// Where in a kernel's text an operation of several threads stands: all must stand there.
using Site = std::source_location;

/// One launch: run `body` for every thread of every block. Returns 0, or 1 after it has put down
/// the reason for error_text().
int run(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()>& body);

/// The block's shared memory.
void* shared_memory();

/// Wait for all threads of the block.
void wait_for_block(const Site& site);

/// Put down a value and wait for the threads of the warp that `mask` names. Afterwards lane_value
/// and lane_took_part tell of the others, until the next operation of this warp.
void wait_for_warp(unsigned mask, uint64_t value, const Site& site);
uint64_t lane_value(unsigned lane);
bool lane_took_part(unsigned lane);

/// This thread's place in its warp.
unsigned lane();

/// End the launch for this reason.
[[noreturn]] void fail(const char* reason);

}  // namespace fhelium::emulator

namespace fhelium {

template <class T>
T* shared_memory() {
  return static_cast<T*>(emulator::shared_memory());
}

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, void*,
           const Arguments&... arguments) {
  static_assert((sizeof(Parameters) + ... + 0) <= 4096, "a kernel takes 4 KiB of arguments");
  return emulator::run(grid, block, shared_bytes,
                       [=] { kernel(static_cast<Parameters>(arguments)...); });
}

}  // namespace fhelium

inline void __syncthreads(
    const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  fhelium::emulator::wait_for_block(site);
}

inline void __syncwarp(unsigned mask = ~0u,
                       const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  fhelium::emulator::wait_for_warp(mask, 0, site);
}

namespace fhelium::emulator {

/// What the thread `source` lanes on put down; a source outside the warp's group is the thread
/// itself, as on a device.
template <class T>
T shuffle(unsigned mask, T value, unsigned source, bool inside, const Site& site) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  wait_for_warp(mask, bits, site);
  if (!inside) source = lane();
  if (!lane_took_part(source)) fail("a shuffle reads a lane that takes no part in it");
  bits = lane_value(source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// The lanes whose value is not zero.
inline unsigned votes(unsigned mask, bool vote, const Site& site) {
  wait_for_warp(mask, vote, site);
  unsigned found = 0;
  for (unsigned i = 0; i < warpSize; ++i)
    if (lane_took_part(i) && lane_value(i) != 0) found |= 1u << i;
  return found;
}

}  // namespace fhelium::emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source,
              const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  return fhelium::emulator::shuffle(mask, value, (unsigned)source % warpSize, true, site);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int difference,
                  const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  const unsigned source = fhelium::emulator::lane() ^ (unsigned)difference;
  return fhelium::emulator::shuffle(mask, value, source, source < warpSize, site);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance,
                   const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  const unsigned source = fhelium::emulator::lane() + distance;
  return fhelium::emulator::shuffle(mask, value, source, source < warpSize, site);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance,
                 const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  const unsigned source = fhelium::emulator::lane() - distance;
  return fhelium::emulator::shuffle(mask, value, source, source < warpSize, site);
}

inline unsigned __ballot_sync(
    unsigned mask, int vote,
    const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  return fhelium::emulator::votes(mask, vote != 0, site);
}

inline int __any_sync(unsigned mask, int vote,
                      const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  return fhelium::emulator::votes(mask, vote != 0, site) != 0;
}

inline int __all_sync(unsigned mask, int vote,
                      const fhelium::emulator::Site& site = fhelium::emulator::Site::current()) {
  return fhelium::emulator::votes(mask, vote == 0, site) == 0;
}

template <class T>
T __ldg(const T* address) {
  return *address;
}

template <class T>
T atomicAdd(T* address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}

inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}
