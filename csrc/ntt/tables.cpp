// Tables of the transforms, made once per context from the primitive roots.
#include <algorithm>

#include "common/checks.h"
#include "common/number_theory.h"
#include "ntt/kernels.h"

namespace fhelium {
namespace {

constexpr int64_t kLargestDegree = int64_t{1} << 20;

void check_degree(const char* operation, int64_t degree, int64_t smallest) {
  if (degree >= smallest && degree <= kLargestDegree && is_power_of_two(degree)) return;
  refuse(operation, "degree is " + std::to_string(degree),
         "The ring degree is a power of two from " + std::to_string(smallest) + " to " +
             std::to_string(kLargestDegree),
         "Pass the ring degree N");
}

/// Each root has order exactly 2N: root^N = -1 mod q. The parameters belong to the same N.
void check_roots(const char* operation, const std::vector<u64>& roots, int64_t degree,
                 const std::vector<Modulus>& moduli) {
  for (size_t j = 0; j < roots.size(); ++j) {
    const Modulus& m = moduli[j];
    if (roots[j] >= m.q || power_modular(roots[j], static_cast<u64>(degree), m.q) != m.q - 1)
      refuse(operation,
             "root " + std::to_string(j) + " is " + std::to_string(roots[j]) + " for modulus " +
                 std::to_string(m.q),
             "A root is psi < q with psi^N = -1 mod q", "Pass the primitive 2N-th roots in order");
    if (montgomery_multiply(reduce_word(static_cast<u64>(degree), m), m.degree_inverse, m) != 1)
      refuse(
          operation,
          "rns_params column " + std::to_string(j) + " is not for degree " + std::to_string(degree),
          "Parameters and tables are made for one ring degree", "Make both with the same degree");
  }
}

Tensor ntt_tables(const Tensor roots, int64_t degree, const Tensor rns_params) {
  constexpr auto kName = "ntt_tables";
  check_degree(kName, degree, 16);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const auto moduli = check_parameters(kName, rns_params, limbs);
  const std::vector<u64> values = check_constants(kName, "roots", roots, limbs);
  check_roots(kName, values, degree, moduli);
  const auto& kernels = ntt_kernels();
  int64_t words = 0;
  for (const Modulus& m : moduli) words = std::max(words, kernels.table_words(degree, m));
  Tensor out = empty_on(rns_params, {limbs, words});
  u64* data = reinterpret_cast<u64*>(out.mutable_data_ptr<int64_t>());
  parallel_for(0, limbs, std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const Modulus& m = moduli[static_cast<size_t>(j)];
      kernels.build_table(data + j * words, degree, values[static_cast<size_t>(j)], m);
      std::fill(data + j * words + kernels.table_words(degree, m), data + (j + 1) * words, 0);
    }
  });
  return out;
}

Tensor radix2_twiddles(const Tensor roots, int64_t degree, const Tensor rns_params) {
  constexpr auto kName = "radix2_twiddles";
  check_degree(kName, degree, 2);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const auto moduli = check_parameters(kName, rns_params, limbs);
  const std::vector<u64> values = check_constants(kName, "roots", roots, limbs);
  check_roots(kName, values, degree, moduli);
  Tensor out = empty_on(rns_params, {2, limbs, degree});
  u64* data = reinterpret_cast<u64*>(out.mutable_data_ptr<int64_t>());
  parallel_for(0, limbs, std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const Modulus& m = moduli[static_cast<size_t>(j)];
      u64* forward = data + j * degree;
      u64* inverse = data + (limbs + j) * degree;
      const u64 root = to_montgomery(values[static_cast<size_t>(j)], m);
      u64 power = m.montgomery_one;
      for (int64_t k = 0; k < degree; ++k) {
        forward[reverse_bits(static_cast<u64>(k), exact_log2(degree))] = power;
        power = montgomery_multiply(power, root, m);
      }
      // psi^-k = -psi^(N-k): position m + i holds the negative of position m + (m - 1 - i).
      inverse[0] = m.montgomery_one;
      for (int64_t blocks = 1; blocks < degree; blocks *= 2)
        for (int64_t i = 0; i < blocks; ++i)
          inverse[blocks + i] = negate_modular(forward[2 * blocks - 1 - i], m.q);
    }
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  m.impl("ntt_tables", FHELIUM_BOX(&fhelium::ntt_tables));
  m.impl("radix2_twiddles", FHELIUM_BOX(&fhelium::radix2_twiddles));
}
