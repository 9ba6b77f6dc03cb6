#include "random/checks.h"

#include <algorithm>
#include <cmath>

#include "common/number_theory.h"

namespace fhelium {

void check_bytes(const Operation& operation, const char* name, const Tensor& tensor, int64_t size) {
  check_shape(operation, name, tensor, kUInt8, {size},
              "ChaCha20 takes a key of 32 bytes and a nonce of 12");
}

void check_range(const Operation& operation, const char* name, int64_t value, int64_t first,
                 int64_t limit) {
  if (value >= first && value < limit) return;
  refuse(operation, std::string(name) + " is " + std::to_string(value),
         "It lies in [" + std::to_string(first) + ", " + std::to_string(limit) + ")",
         "Pass a value in that range");
}

void check_samples(const Operation& operation, int64_t count, int64_t degree) {
  constexpr int64_t kLargestDegree = int64_t{1} << 20;
  check_range(operation, "count", count, 0, kWordLimit);
  if (!is_power_of_two(degree) || degree > kLargestDegree)
    refuse(operation, "degree is " + std::to_string(degree),
           "The ring degree is a power of two up to " + std::to_string(kLargestDegree),
           "Pass the ring degree N");
}

GaussianWidth check_width(const Operation& operation, double sigma) {
  if (!(sigma >= 1.0 && sigma <= 0x1p57))
    refuse(operation, "sigma is " + std::to_string(sigma), "It lies in [1, 2^57]",
           "Choose a width in that range");
  const int shift = std::max(0, std::ilogb(sigma) + 1 - kGaussianScaledBits);
  return {std::ldexp(sigma, -shift), shift};
}

}  // namespace fhelium
