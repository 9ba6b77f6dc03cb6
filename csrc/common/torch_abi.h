// The only file that names torch. Everything below it speaks of raw pointers and of what stands
// here.
#pragma once
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#if !defined(FHELIUM_CUDA_EMULATED)
#define FHELIUM_CUDA_EMULATED 0
#endif

namespace fhelium {

using Tensor = torch::stable::Tensor;
using ScalarType = torch::headeronly::ScalarType;
using Sizes = std::vector<int64_t>;

/// Whether this module is the tests' own, whose CUDA kernels the CPU runs on CPU tensors.
inline constexpr bool kEmulated = FHELIUM_CUDA_EMULATED;

inline constexpr auto kInt32 = ScalarType::Int;
inline constexpr auto kInt64 = ScalarType::Long;
inline constexpr auto kFloat64 = ScalarType::Double;
inline constexpr auto kUInt8 = ScalarType::Byte;

inline Sizes sizes_of(const Tensor& tensor) {
  const auto view = tensor.sizes();
  return Sizes(view.begin(), view.end());
}

inline Sizes strides_of(const Tensor& tensor) {
  const auto view = tensor.strides();
  return Sizes(view.begin(), view.end());
}

/// Whether a tensor is on this CUDA device.
inline bool is_on_cuda(const Tensor& tensor, int32_t index) {
  return tensor.is_cuda() && tensor.get_device_index() == index;
}

/// MemoryError in Python.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// The tensor that `make` asks torch's allocator for. What the allocator says when it fails does
/// not come through the stable ABI: the error that does names a line of torch's headers.
template <class Make>
inline Tensor allocated(const Sizes& sizes, const Make& make) {
  try {
    return make();
  } catch (const std::exception&) {
    int64_t elements = 1;
    for (int64_t size : sizes) elements *= size;
    throw OutOfMemory("native operator: there is no memory for " + std::to_string(elements) +
                      " elements. An operator allocates its result. Free memory, or compute on a "
                      "smaller batch.");
  }
}

/// A fresh contiguous tensor on the device of `like`, from torch's allocator. The emulator's holds
/// no zeros by chance.
inline Tensor empty_on(const Tensor& like, const Sizes& sizes, ScalarType dtype) {
  Tensor out = allocated(sizes, [&] { return torch::stable::new_empty(like, sizes, dtype); });
  if (kEmulated && out.numel() > 0)
    std::memset(out.mutable_data_ptr(), 0xa5,
                static_cast<size_t>(out.numel()) * out.element_size());
  return out;
}

/// The same, of the type of `like`.
inline Tensor empty_on(const Tensor& like, const Sizes& sizes) {
  return empty_on(like, sizes, like.scalar_type());
}

/// The same, of zeros.
inline Tensor zeros_on(const Tensor& like, const Sizes& sizes, ScalarType dtype) {
  return allocated(sizes, [&] { return torch::stable::new_zeros(like, sizes, dtype); });
}

/// A fresh contiguous CPU tensor for operators that have no tensor argument to follow.
inline Tensor empty_cpu(const Sizes& sizes, ScalarType dtype) {
  return allocated(sizes, [&] { return torch::stable::empty(sizes, dtype); });
}

/// A contiguous tensor with the same values; the tensor itself where it is contiguous already.
inline Tensor contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  return allocated(sizes_of(tensor), [&] { return torch::stable::contiguous(tensor); });
}

/// The same values on the CPU, which waits for the device: for what is made once, such as tables.
inline Tensor on_cpu(const Tensor& tensor) {
  return torch::stable::to(tensor, torch::stable::Device(torch::headeronly::DeviceType::CPU));
}

/// The same values on the device of `like`.
inline Tensor on_device_of(const Tensor& like, const Tensor& tensor) {
  return torch::stable::to(tensor, like.device());
}

/// Makes a CUDA device torch's current one until the end of a scope.
using DeviceGuard = torch::stable::accelerator::DeviceGuard;

/// The view tensor[index] along the first axis.
inline Tensor select_first(const Tensor& tensor, int64_t index) {
  return torch::stable::select(tensor, 0, index);
}

/// The view of the last `count` elements along an axis.
inline Tensor last_of(Tensor tensor, int64_t axis, int64_t count) {
  return torch::stable::narrow(tensor, axis, tensor.size(axis) - count, count);
}

/// The same values with one more axis of size 1 at `axis`.
inline Tensor insert_axis(const Tensor& tensor, int64_t axis) {
  return torch::stable::unsqueeze(tensor, axis);
}

/// A contiguous tensor over memory that `free` gives back when the tensor's storage ends; its type
/// and device are those of `like`.
template <class Free>
inline Tensor tensor_over(void* memory, const Tensor& like, const Sizes& sizes, const Free& free) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return torch::stable::from_blob(memory, sizes, strides, like.device(), like.scalar_type(), free);
}

/// Split [begin, end) over torch's own intra-op threads; the body must not depend on the split.
/// What it throws comes out as it was: torch's C interface would put a line of its own headers
/// there.
template <class Body>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain, const Body& body) {
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  torch::stable::parallel_for(begin, end, grain, [&](int64_t first, int64_t past) {
    try {
      body(first, past);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  });
  if (failed) std::rethrow_exception(failure);
}

/// How many threads that is at most.
inline int64_t thread_count() { return torch::stable::get_num_threads(); }

}  // namespace fhelium

#if FHELIUM_CUDA_EMULATED
// In namespaces of their own, beside the CPU's operators.
#define FHELIUM_LIBRARY(name, m) STABLE_TORCH_LIBRARY_FRAGMENT(emulated_##name, m)
#define FHELIUM_LIBRARY_IMPL(name, key, m) STABLE_TORCH_LIBRARY_IMPL(emulated_##name, CPU, m)
#else
#define FHELIUM_LIBRARY STABLE_TORCH_LIBRARY_FRAGMENT
#define FHELIUM_LIBRARY_IMPL STABLE_TORCH_LIBRARY_IMPL
#endif
#define FHELIUM_BOX TORCH_BOX
