// What a basis conversion may start from, checked.
#pragma once
#include "common/checks.h"
#include "rns/kernels.h"

namespace fhelium {

/// Between one prime and kMaxSourcePrimes, which bounds the sums of the kernels.
void check_source_count(const Operation& operation, const char* what, int64_t count);

/// How many of the residues' limbs special_scale says are special; at least one limb is not.
int64_t check_specials(const Operation& operation, const Tensor& residues,
                       const Tensor& special_scale);

/// The digit borders, int64 [D + 1]: 0 = b_0 < b_1 < .. < b_D = number of Q rows.
std::vector<int64_t> check_bounds(const char* name, const Tensor& bounds, int64_t q_limbs);

}  // namespace fhelium
