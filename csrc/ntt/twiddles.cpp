// Twiddles of the transforms that stand in plain tensors, made once per context from the primitive
// roots.
#include "ntt/twiddles.h"

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
LimbRoots<Word> check_roots(const char* operation, const Tensor& roots, int64_t degree,
                            const Tensor& rns_params) {
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  LimbRoots<Word> found = {check_parameters<Word>(operation, rns_params, limbs), {}};
  found.roots = check_constants(operation, "roots", roots, found.moduli.data(), limbs);
  for (size_t j = 0; j < found.roots.size(); ++j) {
    const Modulus<Word>& m = found.moduli[j];
    const Word root = found.roots[j];
    if (power_modular(root, static_cast<u64>(degree), m.q) != m.q - 1)
      refuse(operation,
             "root " + std::to_string(j) + " is " + std::to_string(root) + " for modulus " +
                 std::to_string(m.q),
             "A root is psi < q with psi^N = -1 mod q", "Pass the primitive 2N-th roots in order");
    if (montgomery_multiply(reduce_word(static_cast<u64>(degree), m), m.degree_inverse, m) != 1)
      refuse(
          operation,
          "rns_params column " + std::to_string(j) + " is not for degree " + std::to_string(degree),
          "Parameters and tables are made for one ring degree", "Make both with the same degree");
  }
  return found;
}

template LimbRoots<u32> check_roots(const char*, const Tensor&, int64_t, const Tensor&);
template LimbRoots<u64> check_roots(const char*, const Tensor&, int64_t, const Tensor&);

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
  return for_word_of(roots, [&](auto word) {
    using Word = decltype(word);
    const auto limbs = check_roots<Word>(kName, roots, degree, rns_params);
    Tensor out = empty_on(roots, {2, limbs.count(), degree});
    Word *forward = mutable_data_of<Word>(out), *inverse = forward + limbs.count() * degree;
    limbs.for_each(degree, [&](int64_t j, Word root, const Modulus<Word>& m) {
      fill_twiddles(forward + j * degree, inverse + j * degree, degree, root, m);
    });
    return out;
  });
}

Tensor make_compact_twiddles(const char* operation, const Tensor& roots, int64_t degree,
                             const Tensor& rns_params) {
  check_degree(operation, degree, 16);
  check_residues(operation, "roots", roots, 1, kRootsRule);
  return for_word_of(roots, [&](auto word) {
    using Word = decltype(word);
    const auto limbs = check_roots<Word>(operation, roots, degree, rns_params);
    const int64_t pairs = row_pairs(degree);
    Tensor out = empty_on(roots, {limbs.count(), 2 * pairs});
    // torch's allocations are aligned far beyond a pair.
    auto* data = reinterpret_cast<TwiddlePair<Word>*>(mutable_data_of<Word>(out));
    limbs.for_each(degree, [&](int64_t j, Word root, const Modulus<Word>& m) {
      fill_pairs(data + j * pairs, degree, root, m);
    });
    return out;
  });
}

}  // namespace fhelium
