// What every CUDA adapter does around its launches: the device, torch's current stream, the check
// of a launch. It never waits for the device.
#pragma once
#include <optional>

#include "common/checks.h"
#include "common/device_rows.h"
#include "common/rows.h"

namespace fhelium {

/// One call of an operator on CUDA tensors. While it lives, the device of `operand` is the current
/// one. It passes as the Operation of a check.
class CudaCall : public Operation {
 public:
  CudaCall(const char* name, const char* operand_name, const Tensor& operand);

  /// torch's current stream of the device.
  void* stream() const { return stream_; }

  /// Refuse with the runtime's reason where a launcher returned a code.
  void check_launch(int status) const;

 private:
  std::optional<DeviceGuard> guard_;
  void* stream_ = nullptr;
};

/// Rows as a kernel sees them. Neighbouring batch axes that lie as one become one; refused where
/// more than kMaxBatchAxes are left.
template <class Word>
DeviceRows device_rows(const Operation& operation, const ResidueRows<Word>& rows);

/// Checked parameters as a kernel sees them.
DeviceParameters device_parameters(const Operation& operation, const Tensor& rns_params,
                                   int64_t limbs);

/// Constants of this type and shape, dense; it lives until the launch.
Tensor dense_constants(const Operation& operation, const char* name, const Tensor& tensor,
                       ScalarType dtype, const Sizes& needed, const char* rule);

}  // namespace fhelium
