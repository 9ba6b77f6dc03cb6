#include "ckks/checks.h"

#include "common/number_theory.h"

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

Sizes check_limb_to_drop(const Operation& operation, const Tensor& input) {
  Sizes shape = sizes_of(input);
  int64_t& limbs = shape[shape.size() - 2];
  if (limbs < 2)
    refuse(operation, "the input has " + std::to_string(limbs) + " limbs, needed are at least 2",
           "Row 0 is dropped and at least one limb remains", "The modulus chain is exhausted");
  --limbs;
  return shape;
}

void check_galois_element(const Operation& operation, int64_t galois_element, int64_t degree) {
  if (galois_element < 1 || galois_element >= 2 * degree || galois_element % 2 == 0)
    refuse(operation,
           "galois_element is " + std::to_string(galois_element) +
               " with 2N = " + std::to_string(2 * degree),
           "It is odd and lies in [1, 2N)", "Reduce it modulo 2N");
}

void check_automorphism(const Operation& operation, const Tensor& input, int64_t galois_element) {
  check_residues(operation, "input", input);
  const int64_t n = input.size(input.dim() - 1);
  if (!is_power_of_two(n) || n > (int64_t{1} << 30))
    refuse(operation, "the last axis has length " + std::to_string(n),
           "It is the ring degree N, a power of two up to 2^30", "Pass whole polynomials");
  check_galois_element(operation, galois_element, n);
}

Sizes check_digits_and_key(const Operation& operation, const Tensor& digits, const Tensor& key) {
  check_residues(operation, "digits", digits, 3, "Digits are [digit, *batch, limb, N]");
  Sizes shape = sizes_of(digits);
  const int64_t count = shape[0], limbs = shape[shape.size() - 2], n = shape[shape.size() - 1];
  if (count < 1)
    refuse(operation, "digits has shape " + to_string(shape), "There is at least one digit",
           "Decompose with mod_up first");
  check_shape(operation, "key", key, digits.scalar_type(), {count, 2, limbs, n},
              "A switching key is [digit, 2, limb, N] with the digits' own axes");
  shape[0] = 2;
  return shape;
}

void check_terms(const Operation& operation, const std::vector<Tensor>& ciphertexts,
                 const std::vector<Tensor>& plaintexts) {
  if (ciphertexts.size() != plaintexts.size() || ciphertexts.empty())
    refuse(operation,
           "there are " + std::to_string(ciphertexts.size()) + " ciphertexts and " +
               std::to_string(plaintexts.size()) + " plaintexts",
           "Each ciphertext has its factor", "Pass as many of one as of the other, at least one");
  const Tensor& like = ciphertexts[0];
  for (size_t i = 0; i < ciphertexts.size(); ++i) {
    check_plaintext(operation, like, plaintexts[i]);
    check_shape(operation, "ciphertexts", ciphertexts[i], like.scalar_type(), sizes_of(like),
                "The ciphertexts have one shape");
    const int64_t degree = plaintexts[i].size(plaintexts[i].dim() - 1);
    if (degree != like.size(like.dim() - 1))
      refuse(operation, "a plaintext's last axis has length " + std::to_string(degree),
             "A factor in a sum has a value for each coefficient", "Expand the plaintext");
  }
}

}  // namespace fhelium
