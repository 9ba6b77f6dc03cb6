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

/// [*batch, limb, N] -> the shape without the limb that is dropped.
Sizes check_limb_to_drop(const Operation& operation, const Tensor& input);

/// g is odd in [1, 2N).
void check_galois_element(const Operation& operation, int64_t galois_element, int64_t degree);

/// N is a power of two (below 2^31, so that positions fit 32 bits) and g is odd in [1, 2N).
void check_automorphism(const Operation& operation, const Tensor& input, int64_t galois_element);

/// Digits [digit, *batch, limb, N] and a key [digit, 2, limb, N] -> the shape of their product.
Sizes check_digits_and_key(const Operation& operation, const Tensor& digits, const Tensor& key);

/// As many plaintexts with a value for each coefficient as ciphertexts of one shape.
void check_terms(const Operation& operation, const std::vector<Tensor>& ciphertexts,
                 const std::vector<Tensor>& plaintexts);

}  // namespace fhelium
