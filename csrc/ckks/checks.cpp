#include "ckks/checks.h"

namespace fhelium {

void check_plaintext(const Operation& operation, const Tensor& ciphertext,
                     const Tensor& plaintext) {
  check_residues(operation, "ciphertext", ciphertext, 3,
                 "A ciphertext is [component, *batch, limb, N]");
  if (ciphertext.size(0) < 1)
    refuse(operation, "ciphertext has shape " + to_string(sizes_of(ciphertext)),
           "It has at least one component", "Pass a whole ciphertext");
  if (plaintext.dim() >= ciphertext.dim())
    refuse(operation,
           "plaintext has shape " + to_string(sizes_of(plaintext)) + " against the ciphertext's " +
               to_string(sizes_of(ciphertext)),
           "A plaintext has no component axis", "Pass [*batch, limb, N]");
  check_broadcast(operation, "plaintext", plaintext, ciphertext);
}

static constexpr auto kTwoComponents = "The operands are [2, *batch, limb, N] of one shape";

Sizes check_two_components(const Operation& operation, const char* operand, const Tensor& tensor) {
  check_residues(operation, operand, tensor, 3, kTwoComponents);
  Sizes shape = sizes_of(tensor);
  if (shape[0] != 2)
    refuse(operation,
           std::string(operand) + " has " + std::to_string(shape[0]) + " components, needed are 2",
           kTwoComponents, "Relinearize a ciphertext of three components first");
  shape[0] = 3;
  return shape;
}

void check_same_shape(const Operation& operation, const Tensor& lhs, const Tensor& rhs) {
  check_shape(operation, "rhs", rhs, lhs.scalar_type(), sizes_of(lhs), kTwoComponents);
}

}  // namespace fhelium
