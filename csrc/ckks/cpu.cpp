// Ciphertext products, the key-switch inner product and Galois automorphisms.
#include "ckks/checks.h"
#include "ckks/kernels.h"
#include "ckks/permute_signed.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "common/pool.h"
#include "common/row_loop.h"

namespace fhelium {

template <>
const CkksKernels<u32>& ckks_kernels() {
  return table_for<kCkksKernels32Portable, kCkksKernels32Avx2, kCkksKernels32Avx2>(active_isa());
}

template <>
const CkksKernels<u64>& ckks_kernels() {
  return table_for<kCkksKernels64Portable, kCkksKernels64Avx2, kCkksKernels64Avx512>(active_isa());
}

namespace {

/// Call row(kernels, out, a, step of a, b, step of b, n, m) for the components of every limb and
/// batch item.
template <class Row>
Tensor product_of(const char* name, const Tensor& lhs, const Tensor& rhs, const Sizes& shape,
                  const Tensor& rns_params, const Row& row) {
  return for_word_of(lhs, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(name, rns_params, lhs.size(lhs.dim() - 2));
    Tensor out = empty_result(lhs, shape);
    const auto o = rows_of<Word>(out), a = rows_of<Word>(lhs), b = rows_of<Word>(rhs);
    const int64_t batches = a.batches / 2;
    for_each_row(o.limbs, batches, o.degree, 7.0, [&](int64_t limb, int64_t i) {
      Word* const to[3] = {o.pointer(i, limb), o.pointer(batches + i, limb),
                           o.pointer(2 * batches + i, limb)};
      const Word* const left[2] = {a.pointer(i, limb), a.pointer(batches + i, limb)};
      const Word* const right[2] = {b.pointer(i, limb), b.pointer(batches + i, limb)};
      row(ckks_kernels<Word>(), to, left, a.step, right, b.step, o.degree,
          moduli[static_cast<size_t>(limb)]);
    });
    return out;
  });
}

Tensor ciphertext_product(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  constexpr auto kName = "ciphertext_product";
  const Sizes shape = check_two_components(kName, "lhs", lhs);
  check_same_shape(kName, lhs, rhs);
  return product_of(kName, lhs, rhs, shape, rns_params,
                    [](const auto& kernels, const auto&... rows) { kernels.product(rows...); });
}

Tensor ciphertext_square(const Tensor input, const Tensor rns_params) {
  constexpr auto kName = "ciphertext_square";
  const Sizes shape = check_two_components(kName, "input", input);
  return product_of(
      kName, input, input, shape, rns_params,
      [](const auto& kernels, const auto& out, const auto& in, i64 step, const auto& /*in*/,
         i64 /*step*/, i64 n, const auto& m) { kernels.square(out, in, step, n, m); });
}

Tensor key_switch_inner_product(const Tensor digits, const Tensor key, const Tensor rns_params) {
  constexpr auto kName = "key_switch_inner_product";
  const Sizes shape = check_digits_and_key(kName, digits, key);
  const int64_t count = digits.size(0), limbs = shape[shape.size() - 2], n = shape.back();
  return for_word_of(digits, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    Tensor out = empty_result(digits, shape);
    const auto o = rows_of<Word>(out), x = rows_of<Word>(digits), k = rows_of<Word>(key);
    const int64_t batches = o.batches / 2;
    const double cost = 2.0 * static_cast<double>(count) + 4.0;
    const auto inner_product = ckks_kernels<Word>().inner_product;
    for_each_row(limbs, batches, n, cost, [&](int64_t limb, int64_t i) {
      std::vector<KeySwitchTerm<Word>> terms(static_cast<size_t>(count));
      for (int64_t d = 0; d < count; ++d)
        terms[static_cast<size_t>(d)] = {x.pointer(d * batches + i, limb), k.pointer(2 * d, limb),
                                         k.pointer(2 * d + 1, limb)};
      inner_product(o.pointer(i, limb), o.pointer(batches + i, limb), terms.data(), count, x.step,
                    k.step, n, moduli[static_cast<size_t>(limb)]);
    });
    return out;
  });
}

Tensor automorphism_coefficient(const Tensor input, int64_t galois_element,
                                const Tensor rns_params) {
  constexpr auto kName = "automorphism_coefficient";
  check_automorphism(kName, input, galois_element);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, input.size(input.dim() - 2));
    Tensor out = empty_result(input, sizes_of(input));
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const u64 inverse =
        inverse_modulo_word(static_cast<u64>(galois_element)) & static_cast<u64>(2 * o.degree - 1);
    for_each_row(o.limbs, o.batches, o.degree, 2.0, [&](int64_t limb, int64_t batch) {
      permute_signed(o.pointer(batch, limb), in.pointer(batch, limb), in.step, o.degree, inverse,
                     moduli[static_cast<size_t>(limb)]);
    });
    return out;
  });
}

Tensor automorphism_ntt(const Tensor input, int64_t galois_element) {
  check_automorphism("automorphism_ntt", input, galois_element);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    Tensor out = empty_result(input, sizes_of(input));
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const auto& kernels = ckks_kernels<Word>();
    // The permutation is the same in every limb and batch item: it is worked out once per call.
    std::vector<u32> source(static_cast<size_t>(o.degree));
    kernels.automorphism_source(source.data(), o.degree, static_cast<u64>(galois_element));
    for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
      kernels.permute(o.pointer(batch, limb), in.pointer(batch, limb), in.step, source.data(),
                      o.degree);
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("ciphertext_product", FHELIUM_BOX(&fhelium::ciphertext_product));
  m.impl("ciphertext_square", FHELIUM_BOX(&fhelium::ciphertext_square));
  m.impl("key_switch_inner_product", FHELIUM_BOX(&fhelium::key_switch_inner_product));
  m.impl("automorphism_coefficient", FHELIUM_BOX(&fhelium::automorphism_coefficient));
  m.impl("automorphism_ntt", FHELIUM_BOX(&fhelium::automorphism_ntt));
}
