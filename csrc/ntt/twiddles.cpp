// Twiddles of the transforms that stand in plain tensors, made once per context from the primitive
// roots.
#include "ntt/twiddles.h"

#include <algorithm>

#include "common/number_theory.h"
#include "ntt/cuda_table.h"

namespace fhelium {

void check_degree(const char* operation, int64_t degree, int64_t smallest) {
  constexpr int64_t kLargestDegree = int64_t{1} << 20;
  if (degree >= smallest && degree <= kLargestDegree && is_power_of_two(degree)) return;
  refuse(operation, "degree is " + std::to_string(degree),
         "The ring degree is a power of two from " + std::to_string(smallest) + " to " +
             std::to_string(kLargestDegree),
         "Pass the ring degree N");
}

template <class Word>
std::vector<Word> check_roots(const char* operation, const Tensor& tensor, int64_t degree,
                              const std::vector<Modulus<Word>>& moduli) {
  const auto roots = check_constants(operation, "roots", tensor, moduli.data(),
                                     static_cast<int64_t>(moduli.size()));
  for (size_t j = 0; j < roots.size(); ++j) {
    const Modulus<Word>& m = moduli[j];
    if (power_modular(roots[j], static_cast<u64>(degree), m.q) != m.q - 1)
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
  return roots;
}

template std::vector<u32> check_roots(const char*, const Tensor&, int64_t,
                                      const std::vector<Modulus<u32>>&);
template std::vector<u64> check_roots(const char*, const Tensor&, int64_t,
                                      const std::vector<Modulus<u64>>&);

namespace {

/// The powers of `root` in bit-reversed order, in Montgomery form, and their inverses.
template <class Word>
void fill_twiddles(Word* forward, Word* inverse, int64_t degree, Word root,
                   const Modulus<Word>& m) {
  const Word factor = to_montgomery(root, m);
  Word power = m.montgomery_one;
  for (int64_t k = 0; k < degree; ++k) {
    forward[reverse_bits(static_cast<u64>(k), exact_log2(degree))] = power;
    power = montgomery_multiply(power, factor, m);
  }
  // psi^-k = -psi^(N-k): position m + i holds the negative of position m + (m - 1 - i).
  inverse[0] = m.montgomery_one;
  for (int64_t blocks = 1; blocks < degree; blocks *= 2)
    for (int64_t i = 0; i < blocks; ++i)
      inverse[blocks + i] = negate_modular(forward[2 * blocks - 1 - i], m.q);
}

/// The powers of `root` in bit-reversed order as pairs, as cuda_table.h describes a row.
template <class Word>
void fill_pairs(TwiddlePair<Word>* pairs, int64_t degree, Word root, const Modulus<Word>& m) {
  const auto pair = [&m](Word w) { return TwiddlePair<Word>{w, shoup_quotient(w, m.q)}; };
  const TwiddlePair<Word> psi = pair(root);
  Word power = 1;
  for (int64_t k = 1; k < degree; ++k) {
    power = reduce_once(shoup_multiply_lazy(power, psi.value, psi.quotient, m.q), m.q);
    pairs[reverse_bits(static_cast<u64>(k), exact_log2(degree))] = pair(power);
  }
  pairs[0] = pair(from_montgomery(m.degree_inverse, m));
  pairs[scaled_root_pair(degree)] = pair(montgomery_multiply(pairs[1].value, m.degree_inverse, m));
  pairs[modulus_pair(degree)] = {m.q, static_cast<Word>(degree)};
}

}  // namespace

Tensor radix2_twiddles(const Tensor roots, int64_t degree, const Tensor rns_params) {
  constexpr auto kName = "radix2_twiddles";
  check_degree(kName, degree, 2);
  check_residues(kName, "roots", roots, 1, kRootsRule);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  return for_word_of(roots, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto values = check_roots(kName, roots, degree, moduli);
    Tensor out = empty_on(roots, {2, limbs, degree});
    Word* data = mutable_data_of<Word>(out);
    parallel_for(0, limbs, std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        fill_twiddles(data + j * degree, data + (limbs + j) * degree, degree,
                      values[static_cast<size_t>(j)], moduli[static_cast<size_t>(j)]);
    });
    return out;
  });
}

Tensor make_compact_twiddles(const char* operation, const Tensor& roots, int64_t degree,
                             const Tensor& rns_params) {
  check_degree(operation, degree, 16);
  check_residues(operation, "roots", roots, 1, kRootsRule);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  return for_word_of(roots, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(operation, rns_params, limbs);
    const auto values = check_roots(operation, roots, degree, moduli);
    const int64_t pairs = row_pairs(degree);
    Tensor out = empty_on(roots, {limbs, 2 * pairs});
    // torch's allocations are aligned far beyond a pair.
    auto* data = reinterpret_cast<TwiddlePair<Word>*>(mutable_data_of<Word>(out));
    parallel_for(0, limbs, std::max<int64_t>(1, 16384 / degree), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        fill_pairs(data + j * pairs, degree, values[static_cast<size_t>(j)],
                   moduli[static_cast<size_t>(j)]);
    });
    return out;
  });
}

}  // namespace fhelium
