// What every CUDA adapter does around its launches: the device, torch's current stream, tensors as
// kernels see them, the check of a launch. It never waits for the device.
#pragma once
#include <optional>

#include "common/checks.h"
#include "common/device_rows.h"

namespace fhelium {

/// One call of an operator on CUDA tensors. While it lives, the device of `operand` is the current
/// one. It passes as the Operation of a check.
class CudaCall : public Operation {
 public:
  CudaCall(const char* name, const char* operand_name, const Tensor& operand);

  /// A checked tensor [*batch, limb, N] as a kernel sees it. Neighbouring batch axes that lie as
  /// one become one; refused where more than kMaxBatchAxes are left.
  DeviceRows rows(const Tensor& tensor) const;

  /// The same of a tensor that passed check_broadcast, repeated to the shape of `like`.
  DeviceRows rows(const Tensor& tensor, const Tensor& like) const;

  /// Parameters of so many limbs, or of those that the residues have; their shape is checked.
  DeviceParameters parameters(const Tensor& rns_params, int64_t limbs) const;
  DeviceParameters parameters(const Tensor& rns_params, const Tensor& residues) const {
    return parameters(rns_params, residues.size(residues.dim() - 2));
  }

  /// launcher(bits of a word of `residues`, arguments..., torch's current stream), refused with
  /// the runtime's reason where it returns a code.
  template <class Launcher, class... Arguments>
  void launch(const Launcher& launcher, const Tensor& residues,
              const Arguments&... arguments) const {
    launch_untyped(launcher, static_cast<int>(8 * residues.element_size()), arguments...);
  }
  template <class Launcher, class... Arguments>
  void launch_untyped(const Launcher& launcher, const Arguments&... arguments) const {
    check_launch(launcher(arguments..., stream_));
  }

 private:
  void check_launch(int status) const;

  std::optional<DeviceGuard> guard_;
  void* stream_ = nullptr;
};

/// Constants of this type and shape, dense; it lives until the launch.
Tensor dense_constants(const Operation& operation, const char* name, const Tensor& tensor,
                       ScalarType dtype, const Sizes& needed, const char* rule);

}  // namespace fhelium
