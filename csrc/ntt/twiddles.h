// Roots of unity and what is made of them alone, for every device.
#pragma once
#include <algorithm>
#include <vector>

#include "common/checks.h"

namespace fhelium {

inline constexpr auto kRootsRule = "Roots are [limb] and of the residues' type";

/// A power of two from `smallest` to 2^20.
void check_degree(const char* operation, int64_t degree, int64_t smallest);

/// A root for each limb, and its modulus.
template <class Word>
struct LimbRoots {
  std::vector<Modulus<Word>> moduli;
  std::vector<Word> roots;

  int64_t count() const { return static_cast<int64_t>(roots.size()); }

  /// Call fill(limb, root, modulus) for all limbs of a ring of this degree.
  template <class Fill>
  void for_each(int64_t degree, const Fill& fill) const {
    parallel_for(0, count(), std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        fill(j, roots[static_cast<size_t>(j)], moduli[static_cast<size_t>(j)]);
    });
  }
};

/// The roots, each of order exactly 2N: root^N = -1 mod q. The parameters belong to the same N.
template <class Word>
LimbRoots<Word> check_roots(const char* operation, const Tensor& roots, int64_t degree,
                            const Tensor& rns_params);

/// [2, limb, N]: psi^bitrev(k) in Montgomery form, and the inverses. CPU tensors.
Tensor radix2_twiddles(const Tensor roots, int64_t degree, const Tensor rns_params);

/// Rows of ntt/cuda_table.h, [limb, words], for an operator of this name. CPU tensors.
Tensor make_compact_twiddles(const char* operation, const Tensor& roots, int64_t degree,
                             const Tensor& rns_params);

}  // namespace fhelium
