// What samplers on every device ask of their arguments.
#pragma once
#include "common/checks.h"
#include "random/rounded_gaussian.h"

namespace fhelium {

inline constexpr int64_t kWordLimit = int64_t{1} << 32;

/// A key or a nonce, [size] bytes; the messages say shapes, never contents.
void check_bytes(const Operation& operation, const char* name, const Tensor& tensor, int64_t size);

void check_range(const Operation& operation, const char* name, int64_t value, int64_t first,
                 int64_t limit);

/// `count` rows of a ring degree.
void check_samples(const Operation& operation, int64_t count, int64_t degree);

/// How sigma in [1, 2^57] is split.
GaussianWidth check_width(const Operation& operation, double sigma);

}  // namespace fhelium
