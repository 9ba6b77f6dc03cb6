// The bare kernels of multiply + relinearize + rescale and of a rotation, in the order in which a
// key switch needs them and with no transform too many: what a whole operation can be measured
// against. One thread, buffers made beforehand, nothing checked, NTT domain in and out.
//
// Of the digits' rows only those outside the digit are transformed: the others are the input. The
// division by P, or by P q_0 together with a rescale, happens in the NTT domain, so only the rows
// that are divided by go back to coefficients.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../rows.h"
#include "ckks/kernels.h"
#include "ntt/kernels.h"
#include "rns/kernels.h"
#include "tail.h"

namespace fhelium {

/// A switching key at any strides: [digit, 2, limb, N] with contiguous polynomials.
struct Key {
  const u64* data;
  i64 digit_stride, component_stride, limb_stride;
  const u64* row(i64 digit, i64 component, i64 limb) const {
    return data + digit * digit_stride + component * component_stride + limb * limb_stride;
  }
};

namespace {

using Source = BasisSource<u64>;
using Target = BasisTarget<u64>;
using Tile = BasisTile<u64>;

struct Kernels {
  const NttKernels<u64>& ntt;
  const RnsKernels<u64>& rns;
  const CkksKernels<u64>& ckks;
};

/// Primes to convert from and the factors of every prime to convert to.
struct Conversion {
  std::vector<Modulus<u64>> moduli;
  std::vector<u64> scale;
  std::vector<std::vector<u64>> factors;
  std::vector<Target> targets;
  Source source() const { return {static_cast<int>(scale.size()), moduli.data(), scale.data()}; }
};

u64 product_modulo(const std::vector<Modulus<u64>>& primes, u64 q, size_t skipped) {
  u64 product = 1;
  for (size_t i = 0; i < primes.size(); ++i)
    if (i != skipped) product = multiply_modular(product, primes[i].q % q, q);
  return product;
}
u64 product_modulo(const std::vector<Modulus<u64>>& primes, u64 q) {
  return product_modulo(primes, q, primes.size());
}

/// From `sources` to every prime of `targets`.
Conversion conversion_of(const std::vector<Modulus<u64>>& sources,
                         const std::vector<Modulus<u64>>& targets) {
  Conversion c;
  c.moduli = sources;
  bool narrow = true;
  u128 sum = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Modulus<u64>& d = sources[i];
    c.scale.push_back(to_montgomery(inverse_modular(product_modulo(sources, d.q, i), d.q), d));
    sum += d.q;
    narrow = narrow && d.bits == 52;
  }
  for (const Modulus<u64>& m : targets) {
    std::vector<u64> factor;
    for (size_t i = 0; i < sources.size(); ++i)
      factor.push_back(to_montgomery(product_modulo(sources, m.q, i), m));
    factor.push_back(to_montgomery(negate_modular(product_modulo(sources, m.q), m.q), m));
    c.factors.push_back(factor);
  }
  for (size_t j = 0; j < targets.size(); ++j) {
    const Modulus<u64>& m = targets[j];
    const u64 division = inverse_modular(product_modulo(sources, m.q), m.q);
    c.targets.push_back({static_cast<int>(sources.size()), sum > (u128{1} << m.bits), narrow,
                         c.factors[j].data(), to_montgomery(division, m), &m});
  }
  return c;
}

/// The digits of kBasisTile coefficients.
struct TileBuffer {
  alignas(64) u64 words[(kMaxSourcePrimes + 1) * kBasisTile];
  Tile tile() { return {words, kBasisTile}; }
};

class Skeleton {
 public:
  Skeleton(const Kernels& kernels, i64 degree, i64 q_limbs, i64 alpha,
           const std::vector<u64>& primes, const u64* roots)
      : kernels_(kernels),
        n_(degree),
        q_limbs_(q_limbs),
        limbs_(static_cast<i64>(primes.size())),
        specials_(limbs_ - q_limbs),
        alpha_(alpha),
        digits_((q_limbs + alpha - 1) / alpha) {
    for (u64 q : primes) moduli_.push_back(modulus_of(q, static_cast<u64>(degree)));
    for (const Modulus<u64>& m : moduli_)
      table_words_ = std::max(table_words_, (kernels.ntt.table_words(degree, m) + 7) / 8 * 8);
    tables_ = huge_block(table_words_ * limbs_);
    for (i64 j = 0; j < limbs_; ++j)
      kernels.ntt.build_table(tables_ + table_words_ * j, degree, roots[j], modulus(j));
    const auto q = moduli_.begin();
    for (i64 d = 0; d < digits_; ++d)
      up_.push_back(conversion_of({q + first(d), q + past(d)}, moduli_));
    const std::vector<Modulus<u64>> special(q + q_limbs, moduli_.end());
    down_ = conversion_of(special, moduli_);
    for (const Modulus<u64>& m : moduli_)
      special_products_.push_back(to_montgomery(product_modulo(special, m.q), m));
    product_ = rows(3 * q_limbs_);
    coefficients_ = rows(q_limbs_);
    raised_ = rows(digits_ * limbs_);
    permuted_ = rows(digits_);
    divisor_ = rows(2 * (specials_ + 1));
    rest_ = rows(2 * q_limbs_);
    sums_ = rows(2);
    kept_ = rows(1);
    source_.resize(static_cast<size_t>(degree));
  }

  /// (a b relinearized) / q_0, at depth 1.
  void multiply_relinearize_rescale(u64* out, const u64* a, const u64* b, const Key& key) {
    for (i64 j = 0; j < q_limbs_; ++j) {
      u64* const to[3] = {row(product_, j), row(product_, q_limbs_ + j),
                          row(product_, 2 * q_limbs_ + j)};
      const u64* const left[2] = {row(a, j), row(a, q_limbs_ + j)};
      const u64* const right[2] = {row(b, j), row(b, q_limbs_ + j)};
      kernels_.ckks.product(to, left, 1, right, 1, n_, modulus(j));
      inverse(row(coefficients_, j), to[2], j);
    }
    const u64* moved = row(product_, 2 * q_limbs_);
    raise_digits();
    sum_specials(moved, key, false);
    sum_row(0, moved, key, false);
    const u64 q0 = moduli_[0].q;
    for (i64 c = 0; c < 2; ++c) {
      add_scaled(row(sums_, c), row(product_, c * q_limbs_), special_product(0), n_, modulus(0));
      inverse(divisor_row(c, specials_), row(sums_, c), 0);
    }
    take_rests(true);
    for (i64 j = 1; j < q_limbs_; ++j) {
      const Modulus<u64>& m = modulus(j);
      const u64 inverse = to_montgomery(inverse_modular(q0 % m.q, m.q), m);
      const u64 both = montgomery_multiply(division(j), inverse, m);
      sum_row(j, moved, key, false);
      for (i64 c = 0; c < 2; ++c) {
        u64* rest = row(rest_, c * q_limbs_ + j);
        forward(rest, j, nullptr);
        divide_and_add(row(out, c * (q_limbs_ - 1) + j - 1), row(sums_, c), rest, both,
                       row(product_, c * q_limbs_ + j), inverse, n_, m);
      }
    }
  }

  void rotate(u64* out, const u64* a, const Key& key, u64 element) {
    choose(element);
    for (i64 j = 0; j < q_limbs_; ++j) {
      permute(row(product_, j), row(a, q_limbs_ + j));
      inverse(row(coefficients_, j), row(product_, j), j);
    }
    raise_digits();
    switch_and_add(out, a, product_, key, false);
  }

  /// Several rotations of one ciphertext: its digits are made once and permuted for each.
  void rotate_many(u64* const* outs, const u64* a, const Key* keys, const u64* elements,
                   i64 count) {
    const u64* moved = row(a, q_limbs_);
    for (i64 j = 0; j < q_limbs_; ++j) inverse(row(coefficients_, j), row(moved, j), j);
    raise_digits();
    for (i64 d = 0; d < digits_; ++d)
      for (i64 j = 0; j < limbs_; ++j)
        if (!inside(d, j)) forward(row(raised_, d * limbs_ + j), j, nullptr);
    for (i64 i = 0; i < count; ++i) {
      choose(elements[i]);
      switch_and_add(outs[i], a, moved, keys[i], true);
    }
  }

 private:
  const Modulus<u64>& modulus(i64 j) const { return moduli_[static_cast<size_t>(j)]; }
  u64* rows(i64 count) const { return huge_block(count * n_); }
  u64* row(u64* block, i64 j) const { return block + j * n_; }
  const u64* row(const u64* block, i64 j) const { return block + j * n_; }
  i64 first(i64 digit) const { return digit * alpha_; }
  i64 past(i64 digit) const { return std::min(q_limbs_, (digit + 1) * alpha_); }
  bool inside(i64 digit, i64 j) const { return j >= first(digit) && j < past(digit); }
  /// P^-1 modulo prime j.
  u64 division(i64 j) const { return down_.targets[static_cast<size_t>(j)].division; }
  /// P modulo prime j, in Montgomery form.
  u64 special_product(i64 j) const { return special_products_[static_cast<size_t>(j)]; }
  /// Coefficients to divide by: the special primes' rows, then the dropped prime's.
  u64* divisor_row(i64 c, i64 i) const { return row(divisor_, c * (specials_ + 1) + i); }
  void forward(u64* x, i64 j, const u64* next) const {
    kernels_.ntt.forward(x, x, 1, n_, tables_ + table_words_ * j, modulus(j), next);
  }
  void inverse(u64* out, const u64* in, i64 j) const {
    kernels_.ntt.inverse(out, in, 1, n_, tables_ + table_words_ * j, modulus(j), nullptr);
  }
  void choose(u64 element) {
    if (element != element_)
      kernels_.ckks.automorphism_source(source_.data(), n_, element_ = element);
  }
  void permute(u64* out, const u64* in) const {
    kernels_.ckks.permute(out, in, 1, source_.data(), n_);
  }

  /// Every digit in coefficients modulo every other prime.
  void raise_digits() {
    TileBuffer buffer;
    const Tile tile = buffer.tile();
    for (i64 d = 0; d < digits_; ++d) {
      const Conversion& conversion = up_[static_cast<size_t>(d)];
      for (i64 k = 0; k < n_; k += kBasisTile) {
        const u64* from[kMaxSourcePrimes];
        for (i64 j = first(d); j < past(d); ++j) from[j - first(d)] = row(coefficients_, j) + k;
        kernels_.rns.centre(tile, from, 1, kBasisTile, conversion.source());
        for (i64 j = 0; j < limbs_; ++j)
          if (!inside(d, j))
            kernels_.rns.convert(row(raised_, d * limbs_ + j) + k, tile, kBasisTile,
                                 conversion.targets[static_cast<size_t>(j)]);
      }
    }
  }

  /// Row j of the digits' inner product with the key, into sums_. The digits are transformed here,
  /// or are ready and only permuted.
  void sum_row(i64 j, const u64* moved, const Key& key, bool ready) {
    std::vector<KeySwitchTerm<u64>> terms(static_cast<size_t>(digits_));
    for (i64 d = 0; d < digits_; ++d) {
      const u64* digit = row(moved, j);
      if (!inside(d, j)) {
        u64* raised = row(raised_, d * limbs_ + j);
        if (!ready) forward(raised, j, d + 1 < digits_ ? raised + limbs_ * n_ : nullptr);
        digit = raised;
      }
      if (ready) {
        permute(row(permuted_, d), digit);
        digit = row(permuted_, d);
      }
      terms[static_cast<size_t>(d)] = {digit, key.row(d, 0, j), key.row(d, 1, j)};
    }
    kernels_.ckks.inner_product(row(sums_, 0), row(sums_, 1), terms.data(), digits_, 1, 1, n_,
                                modulus(j));
  }

  void sum_specials(const u64* moved, const Key& key, bool ready) {
    for (i64 i = 0; i < specials_; ++i) {
      sum_row(q_limbs_ + i, moved, key, ready);
      for (i64 c = 0; c < 2; ++c) inverse(divisor_row(c, i), row(sums_, c), q_limbs_ + i);
    }
  }

  /// What division by P leaves, the centred residue, modulo each prime that stays. With a rescale
  /// what division by P q_0 leaves: that and P times the centred quotient modulo q_0.
  void take_rests(bool rescale) {
    TileBuffer buffer;
    const Tile tile = buffer.tile();
    u64 quotient[kBasisTile];
    for (i64 c = 0; c < 2; ++c)
      for (i64 k = 0; k < n_; k += kBasisTile) {
        const u64* from[kMaxSourcePrimes];
        for (i64 i = 0; i < specials_; ++i) from[i] = divisor_row(c, i) + k;
        kernels_.rns.centre(tile, from, 1, kBasisTile, down_.source());
        if (rescale)
          kernels_.rns.subtract_divide(quotient, divisor_row(c, specials_) + k, 1, tile, kBasisTile,
                                       down_.targets[0]);
        for (i64 j = rescale ? 1 : 0; j < q_limbs_; ++j) {
          u64* rest = row(rest_, c * q_limbs_ + j) + k;
          kernels_.rns.convert(rest, tile, kBasisTile, down_.targets[static_cast<size_t>(j)]);
          if (rescale)
            add_centred(rest, quotient, moduli_[0].q, special_product(j), kBasisTile, modulus(j));
        }
      }
  }

  void switch_and_add(u64* out, const u64* a, const u64* moved, const Key& key, bool ready) {
    sum_specials(moved, key, ready);
    take_rests(false);
    for (i64 j = 0; j < q_limbs_; ++j) {
      sum_row(j, moved, key, ready);
      permute(kept_, row(a, j));
      for (i64 c = 0; c < 2; ++c) {
        u64* rest = row(rest_, c * q_limbs_ + j);
        forward(rest, j, nullptr);
        divide_and_add(row(out, c * q_limbs_ + j), row(sums_, c), rest, division(j),
                       c == 0 ? kept_ : nullptr, modulus(j).montgomery_one, n_, modulus(j));
      }
    }
  }

  Kernels kernels_;
  i64 n_, q_limbs_, limbs_, specials_, alpha_, digits_, table_words_ = 0;
  std::vector<Modulus<u64>> moduli_;
  std::vector<Conversion> up_;
  Conversion down_;
  u64 *tables_, *product_, *coefficients_, *raised_, *permuted_, *divisor_, *rest_, *sums_, *kept_;
  std::vector<u64> special_products_;
  std::vector<uint32_t> source_;
  u64 element_ = 0;
};

Kernels kernels_named(const char* isa) {
  if (!std::strcmp(isa, "avx512"))
    return {kNttKernels64Avx512, kRnsKernels64Avx512, kCkksKernels64Avx512};
  if (!std::strcmp(isa, "avx2")) return {kNttKernels64Avx2, kRnsKernels64Avx2, kCkksKernels64Avx2};
  return {kNttKernels64Portable, kRnsKernels64Portable, kCkksKernels64Portable};
}

}  // namespace
}  // namespace fhelium

extern "C" {

using fhelium::i64;
using fhelium::u64;

/// A degree of at least 256, primes and roots of Q then P.
void* skeleton_make(const char* isa, i64 degree, i64 q_limbs, i64 limbs, i64 alpha,
                    const u64* primes, const u64* roots) {
  return new fhelium::Skeleton(fhelium::kernels_named(isa), degree, q_limbs, alpha,
                               {primes, primes + limbs}, roots);
}

void skeleton_multiply(void* skeleton, u64* out, const u64* a, const u64* b,
                       const fhelium::Key* key) {
  static_cast<fhelium::Skeleton*>(skeleton)->multiply_relinearize_rescale(out, a, b, *key);
}

void skeleton_rotate(void* skeleton, u64* out, const u64* a, const fhelium::Key* key, u64 element) {
  static_cast<fhelium::Skeleton*>(skeleton)->rotate(out, a, *key, element);
}

void skeleton_rotate_many(void* skeleton, u64* const* outs, const u64* a, const fhelium::Key* keys,
                          const u64* elements, i64 count) {
  static_cast<fhelium::Skeleton*>(skeleton)->rotate_many(outs, a, keys, elements, count);
}
}
