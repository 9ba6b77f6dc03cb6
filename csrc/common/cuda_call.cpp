#include "common/cuda_call.h"

#include <dlfcn.h>

#include <cstddef>

#include "common/cuda_runtime.h"
#include "common/rows.h"

namespace fhelium {
namespace {

/// The stable ABI hands out native streams from torch 2.13 on. Before, as after, torch's CUDA
/// library has a C function for it, and that library is loaded where there are CUDA tensors.
void* current_stream(const Operation& operation) {
  using Function = int32_t (*)(int32_t, void**);
  static const auto function = [] {
    void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    void* symbol = library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
    return reinterpret_cast<Function>(symbol);
  }();
  void* stream = nullptr;
  if (function == nullptr || function(operation.cuda_device, &stream) != 0)
    refuse(operation, "torch does not tell its current CUDA stream",
           "Kernels run on the stream that torch's own do", "Use a CUDA build of torch");
  return stream;
}

int32_t device_of(const char* name, const char* operand_name, const Tensor& operand) {
  if (kEmulated) return Operation::kCpu;
  if (!operand.is_cuda())
    refuse(name, std::string(operand_name) + " is not on a CUDA device while another operand is",
           "All operands live on one device", "Move it there first");
  return operand.get_device_index();
}

}  // namespace

CudaCall::CudaCall(const char* name, const char* operand_name, const Tensor& operand)
    : Operation(name, device_of(name, operand_name, operand)) {
  if (kEmulated) return;
  guard_.emplace(cuda_device);
  check_launch(fhelium_cuda_set_device(cuda_device));
  stream_ = current_stream(*this);
}

void CudaCall::check_launch(int status) const {
  if (status == 0) return;
  refuse(*this, std::string("CUDA says: ") + fhelium_cuda_error_text(status),
         "A kernel starts on the device of its operands",
         "Run with CUDA_LAUNCH_BLOCKING=1: an earlier kernel's error can surface here");
}

DeviceRows CudaCall::rows(const Tensor& tensor) const { return rows(tensor, tensor); }

DeviceRows CudaCall::rows(const Tensor& tensor, const Tensor& like) const {
  const auto rows = broadcast_rows<std::byte>(tensor, like);  // strides are counted in elements
  if (rows.batches >> 31 != 0)
    refuse(*this, "an operand has " + std::to_string(rows.batches) + " batch items",
           "A kernel counts them in 31 bits", "Split the batch");
  DeviceRows out = {.data = rows.data,
                    .batches = rows.batches,
                    .limbs = rows.limbs,
                    .degree = rows.degree,
                    .limb_stride = rows.limb_stride,
                    .step = rows.step,
                    .batch_strides = {},
                    .batch_sizes = {},
                    .batch_axes = 0};
  if (rows.batches == 0) return out;
  Sizes sizes, strides;
  for (size_t i = 0; i < rows.batch_sizes.size(); ++i) {
    const int64_t size = rows.batch_sizes[i], stride = rows.batch_strides[i];
    if (size == 1) continue;
    if (!sizes.empty() && strides.back() == stride * size) {
      sizes.back() *= size;
      strides.back() = stride;
    } else {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  }
  if (sizes.size() > kMaxBatchAxes)
    refuse(*this,
           "an operand's batch axes lie in memory as " + std::to_string(sizes.size()) + " axes",
           "A kernel follows at most " + std::to_string(kMaxBatchAxes), "Call .contiguous() first");
  out.batch_axes = static_cast<int>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    out.batch_sizes[i] = static_cast<u32>(sizes[i]);
    out.batch_strides[i] = strides[i];
  }
  return out;
}

DeviceParameters CudaCall::parameters(const Tensor& rns_params, int64_t limbs) const {
  check_parameter_shape(*this, rns_params, limbs);
  return {rns_params.const_data_ptr<int64_t>(), rns_params.stride(0), rns_params.stride(1)};
}

Tensor dense_constants(const Operation& operation, const char* name, const Tensor& tensor,
                       ScalarType dtype, const Sizes& needed, const char* rule) {
  check_shape(operation, name, tensor, dtype, needed, rule);
  return fhelium::contiguous(tensor);
}

}  // namespace fhelium
