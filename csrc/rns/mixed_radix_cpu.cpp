// Mixed-radix digits (H. L. Garner, "The residue number system", 1959): the number in [0, D) that
// has given residues modulo d_0, d_1, .., D their product, is
//   x = v_0 + v_1 d_0 + v_2 d_0 d_1 + ..,  0 <= v_i < d_i,
// and comparing two numbers is comparing their digits from the last one on. Everything is integer
// arithmetic, at a cost that grows with the square of the digits: the second way to what mod_up and
// mod_down find out with one rounding.
#include "common/checks.h"
#include "common/row_loop.h"

namespace fhelium {
namespace {

/// Coefficients treated at a time.
constexpr i64 kTile = 256;

// ---- digits ------------------------------------------------------------------------------------

/// out[k] = (out[k] - v[k]) inverse mod q: one step towards the digit modulo q.
template <int kBits, class Word>
void take_digit(Word* out, const Word* v, i64 n, Word inverse, const Modulus<Word>& m) {
  for (i64 k = 0; k < n; ++k) {
    const Word difference = subtract_modular(out[k], reduce_word(v[k], m), m.q);
    out[k] = montgomery_multiply<kBits>(difference, inverse, m);
  }
}

Tensor mixed_radix_digits(const Tensor input, const Tensor inverses, const Tensor rns_params) {
  constexpr auto kName = "mixed_radix_digits";
  check_residues(kName, "input", input);
  const int64_t limbs = input.size(input.dim() - 2);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto inverse = check_matrix(kName, "inverses", inverses, limbs, moduli.data(), limbs);
    Tensor out = empty_on(input, sizes_of(input));
    const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
    const double steps = 0.5 * static_cast<double>(limbs * limbs);
    const double cost = 2.5 * steps;
    for_each_tile(o.batches, o.degree, kTile, cost, [&](int64_t batch, int64_t first, int64_t n) {
      for (int64_t i = 0; i < limbs; ++i) {
        const auto& m = moduli[static_cast<size_t>(i)];
        Word* digit = o.pointer(batch, i) + first;
        copy_row(digit, 1, in.pointer(batch, i) + first * in.step, in.step, n);
        with_radix(m, [&](auto radix) {
          for (int64_t j = 0; j < i; ++j)
            take_digit<radix.kBits>(digit, o.pointer(batch, j) + first, n,
                                    inverse[static_cast<size_t>(j * limbs + i)], m);
        });
      }
    });
    return out;
  });
}

// ---- extension ---------------------------------------------------------------------------------

/// above[k] = 1 where the digits' number exceeds (D - 1) / 2, whose digits are (d_i - 1) / 2.
template <class Word>
void compare_with_half(Word* above, const ResidueRows<Word>& digits, int64_t batch, i64 first,
                       i64 n, const std::vector<Modulus<Word>>& radices) {
  std::fill(above, above + n, Word{0});
  for (int64_t i = 0; i < digits.limbs; ++i) {  // a later digit overrules the ones before
    const Word half = radices[static_cast<size_t>(i)].q / 2;
    const Word* v = digits.pointer(batch, i) + first * digits.step;
    for (i64 k = 0; k < n; ++k) {
      const Word digit = v[k * digits.step];
      above[k] = digit > half ? 1 : digit < half ? 0 : above[k];
    }
  }
}

/// out[k] += v[k] radix mod q.
template <int kBits, class Word>
void add_digit(Word* out, const Word* v, i64 step, i64 n, Word radix, const Modulus<Word>& m) {
  for (i64 k = 0; k < n; ++k) {
    const Word term = montgomery_multiply<kBits>(reduce_word(v[k * step], m), radix, m);
    out[k] = add_modular(out[k], term, m.q);
  }
}

Tensor mixed_radix_extend(const Tensor digits, const Tensor radices, const Tensor digit_params,
                          const Tensor rns_params) {
  constexpr auto kName = "mixed_radix_extend";
  check_residues(kName, "digits", digits);
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  Sizes shape = sizes_of(digits);
  const int64_t count = shape[shape.size() - 2], limbs = rns_params.size(1);
  shape[shape.size() - 2] = limbs;
  return for_word_of(digits, [&](auto word) {
    using Word = decltype(word);
    const auto sources = check_parameters<Word>(kName, digit_params, count);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto radix = check_matrix(kName, "radices", radices, count + 1, moduli.data(), limbs);
    Tensor out = empty_on(digits, shape);
    const auto o = rows_of<Word>(out), in = rows_of<Word>(digits);
    const double steps = static_cast<double>((count + 1) * limbs);
    const double cost = 2.5 * steps;
    for_each_tile(o.batches, o.degree, kTile, cost, [&](int64_t batch, int64_t first, int64_t n) {
      Word above[kTile];
      compare_with_half(above, in, batch, first, n, sources);
      for (int64_t j = 0; j < limbs; ++j) {
        const auto& m = moduli[static_cast<size_t>(j)];
        const auto at = [&](int64_t i) { return radix[static_cast<size_t>(i * limbs + j)]; };
        Word* to = o.pointer(batch, j) + first;
        std::fill(to, to + n, Word{0});
        with_radix(m, [&](auto bits) {
          for (int64_t i = 0; i < count; ++i)
            add_digit<bits.kBits>(to, in.pointer(batch, i) + first * in.step, in.step, n, at(i), m);
          add_digit<bits.kBits>(to, above, 1, n, negate_modular(at(count), m.q), m);
        });
      }
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("mixed_radix_digits", FHELIUM_BOX(&fhelium::mixed_radix_digits));
  m.impl("mixed_radix_extend", FHELIUM_BOX(&fhelium::mixed_radix_extend));
}
