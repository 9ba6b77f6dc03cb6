// Roots of unity and what is made of them alone, for every device.
#pragma once
#include <vector>

#include "common/checks.h"

namespace fhelium {

inline constexpr auto kRootsRule = "Roots are [limb] and of the residues' type";

/// A power of two from `smallest` to 2^20.
void check_degree(const char* operation, int64_t degree, int64_t smallest);

/// The roots, each of order exactly 2N: root^N = -1 mod q. The parameters belong to the same N.
template <class Word>
std::vector<Word> check_roots(const char* operation, const Tensor& tensor, int64_t degree,
                              const std::vector<Modulus<Word>>& moduli);

/// [2, limb, N]: psi^bitrev(k) in Montgomery form, and the inverses. CPU tensors.
Tensor radix2_twiddles(const Tensor roots, int64_t degree, const Tensor rns_params);

/// Rows of ntt/cuda_table.h, [limb, words], for an operator of this name. CPU tensors.
Tensor make_compact_twiddles(const char* operation, const Tensor& roots, int64_t degree,
                             const Tensor& rns_params);

}  // namespace fhelium
