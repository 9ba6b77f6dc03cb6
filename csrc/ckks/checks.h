// Shapes that this family's operators ask for on every device.
#pragma once
#include "common/checks.h"

namespace fhelium {

/// [component, *batch, limb, N] against [*batch, limb, N], which repeats over missing and size-1
/// batch axes and, with a last axis of 1, holds one constant per limb.
void check_plaintext(const Operation& operation, const Tensor& ciphertext, const Tensor& plaintext);

/// [2, *batch, limb, N] -> the shape of its product, [3, *batch, limb, N].
Sizes check_two_components(const Operation& operation, const char* operand, const Tensor& tensor);

/// rhs against lhs, which passed check_two_components.
void check_same_shape(const Operation& operation, const Tensor& lhs, const Tensor& rhs);

}  // namespace fhelium
