// Basis conversion: the exact centred representative of a value known modulo some primes, taken up
// by others (Bajard, Eynard, Hasan, Zucca 2016; Halevi, Polyakov, Shoup 2019, with the rounding
// decided exactly). Work is split over tiles of coefficients: a tile's digits are made once and
// every target prime reads them from the first cache.
#include <span>

#include "common/row_loop.h"
#include "rns/digits.h"

namespace fhelium {
namespace {

/// One set of source primes and what each target prime needs of it. The moduli live on with the
/// caller; the constants are the object's own.
template <class Word>
class Conversion {
 public:
  BasisSource<Word> source;
  std::vector<BasisTarget<Word>> targets;

  /// `matrix` is [source, target], `correction` [target]: (D / d_i) and D modulo each target.
  Conversion(std::span<const Modulus<Word>> sources, std::span<const Word> scale,
             const Word* matrix, const Word* correction,
             std::span<const Modulus<Word>> target_moduli)
      : scale_(scale.begin(), scale.end()) {
    const size_t count = sources.size(), columns = target_moduli.size();
    source = {static_cast<int>(count), sources.data(), scale_.data()};
    u128 sum = 0;
    bool narrow = true;
    for (const Modulus<Word>& d : sources) {
      sum += d.q;
      narrow = narrow && d.bits == 52;
    }
    factors_.reserve(columns * (count + 1));
    for (size_t j = 0; j < columns; ++j) {
      for (size_t i = 0; i < count; ++i) factors_.push_back(matrix[i * columns + j]);
      factors_.push_back(negate_modular(correction[j], target_moduli[j].q));
    }
    for (size_t j = 0; j < columns; ++j) {
      const Modulus<Word>& m = target_moduli[j];
      targets.push_back({static_cast<int>(count), sum > ((u128)1 << m.bits), narrow,
                         factors_.data() + j * (count + 1), 0, &m});
    }
  }
  Conversion(Conversion&&) = default;  // a copy's pointers would still mean the original

  double nanoseconds_per_coefficient() const {
    const auto count = static_cast<double>(source.count);
    return 3.0 * count + (1.5 + count) * static_cast<double>(targets.size());
  }

 private:
  std::vector<Word> scale_, factors_;
};

/// The source rows of one batch item, from coefficient k on.
template <class Word>
struct SourceRows {
  const Word* pointer[kMaxSourcePrimes];

  SourceRows(const ResidueRows<Word>& in, int64_t batch, int64_t limb, int count, int64_t k) {
    for (int i = 0; i < count; ++i) pointer[i] = in.pointer(batch, limb + i) + k * in.step;
  }
};

/// Room for the digits of a tile.
template <class Word>
struct TileRoom {
  alignas(64) Word digits[(kMaxSourcePrimes + 1) * kBasisTile];
  BasisTile<Word> tile = {digits, kBasisTile};
};

/// One conversion per digit, out of constants that are checked against the parameters here.
template <class Word>
std::vector<Conversion<Word>> digit_conversions(const char* name,
                                                const std::vector<int64_t>& bounds,
                                                const Tensor& digit_scale, const Tensor& matrix,
                                                const Tensor& correction,
                                                const std::vector<Modulus<Word>>& moduli) {
  const auto limbs = static_cast<int64_t>(moduli.size()), q_limbs = bounds.back();
  const auto digits = static_cast<int64_t>(bounds.size()) - 1;
  const auto scale = check_constants(name, "digit_scale", digit_scale, moduli.data(), q_limbs);
  const auto factors = check_matrix(name, "matrix", matrix, q_limbs, moduli.data(), limbs);
  const auto products = check_matrix(name, "correction", correction, digits, moduli.data(), limbs);
  std::vector<Conversion<Word>> conversions;
  for (size_t d = 0; d + 1 < bounds.size(); ++d) {
    const auto first = static_cast<size_t>(bounds[d]), past = static_cast<size_t>(bounds[d + 1]);
    conversions.emplace_back(std::span(moduli).subspan(first, past - first),
                             std::span(scale).subspan(first, past - first),
                             factors.data() + first * moduli.size(),
                             products.data() + d * moduli.size(), std::span(moduli));
  }
  return conversions;
}

/// Raise every digit of `input` into `out`, [D, *batch, L + K, N].
template <class Word>
void raise_digits(const Tensor& out, const Tensor& input, const std::vector<int64_t>& bounds,
                  const std::vector<Conversion<Word>>& conversions) {
  const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
  const auto& kernels = rns_kernels<Word>();
  const double cost = conversions[0].nanoseconds_per_coefficient();
  for_each_tile(o.batches, o.degree, kBasisTile, cost, [&](int64_t item, int64_t k, int64_t width) {
    TileRoom<Word> room;
    const auto digit = static_cast<size_t>(item / in.batches);
    const Conversion<Word>& conversion = conversions[digit];
    const int64_t first = bounds[digit], past = bounds[digit + 1];
    const SourceRows<Word> rows(in, item % in.batches, first, conversion.source.count, k);
    kernels.centre(room.tile, rows.pointer, in.step, width, conversion.source);
    for (int64_t j = 0; j < o.limbs; ++j) {
      Word* to = o.pointer(item, j) + k;
      if (j >= first && j < past)
        copy_row(to, 1, rows.pointer[j - first], in.step, width);
      else
        kernels.convert(to, room.tile, width, conversion.targets[static_cast<size_t>(j)]);
    }
  });
}

Tensor mod_up(const Tensor input, const Tensor digit_bounds, const Tensor digit_scale,
              const Tensor matrix, const Tensor correction, const Tensor rns_params) {
  constexpr auto kName = "mod_up";
  check_residues(kName, "input", input);
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  const int64_t q_limbs = input.size(input.dim() - 2), limbs = rns_params.size(1);
  if (limbs <= q_limbs)
    refuse(kName,
           "rns_params has " + std::to_string(limbs) + " limbs, the input has " +
               std::to_string(q_limbs),
           "The target basis holds the input's primes first and special primes after them",
           "Pass the parameters of basis QP at the input's depth");
  const auto bounds = check_bounds(kName, digit_bounds, q_limbs);
  Sizes shape = sizes_of(input);
  shape[shape.size() - 2] = limbs;
  shape.insert(shape.begin(), static_cast<int64_t>(bounds.size()) - 1);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto conversions =
        digit_conversions<Word>(kName, bounds, digit_scale, matrix, correction, moduli);
    Tensor out = empty_on(input, shape);
    raise_digits<Word>(out, input, bounds, conversions);
    return out;
  });
}

/// Divide `input` by the primes behind the rows of `out`.
template <class Word>
void lower(const Tensor& out, const Tensor& input, const Conversion<Word>& conversion) {
  const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
  const auto& kernels = rns_kernels<Word>();
  const double cost = conversion.nanoseconds_per_coefficient();
  for_each_tile(o.batches, o.degree, kBasisTile, cost,
                [&](int64_t batch, int64_t k, int64_t width) {
                  TileRoom<Word> room;
                  const SourceRows<Word> rows(in, batch, o.limbs, conversion.source.count, k);
                  kernels.centre(room.tile, rows.pointer, in.step, width, conversion.source);
                  for (int64_t j = 0; j < o.limbs; ++j)
                    kernels.subtract_divide(o.pointer(batch, j) + k,
                                            in.pointer(batch, j) + k * in.step, in.step, room.tile,
                                            width, conversion.targets[static_cast<size_t>(j)]);
                });
}

Tensor mod_down(const Tensor input, const Tensor special_scale, const Tensor matrix,
                const Tensor correction, const Tensor special_inverse, const Tensor rns_params) {
  constexpr auto kName = "mod_down";
  check_residues(kName, "input", input);
  const int64_t specials = check_specials(kName, input, special_scale);
  const int64_t limbs = input.size(input.dim() - 2), q_limbs = limbs - specials;
  Sizes shape = sizes_of(input);
  shape[shape.size() - 2] = q_limbs;
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const auto remaining = std::span(moduli).first(static_cast<size_t>(q_limbs));
    const auto special_moduli = std::span(moduli).subspan(static_cast<size_t>(q_limbs));
    const auto scale =
        check_constants(kName, "special_scale", special_scale, special_moduli.data(), specials);
    const auto factors = check_matrix(kName, "matrix", matrix, specials, moduli.data(), q_limbs);
    const auto product = check_constants(kName, "correction", correction, moduli.data(), q_limbs);
    const auto inverse =
        check_constants(kName, "special_inverse", special_inverse, moduli.data(), q_limbs);
    Conversion<Word> conversion(special_moduli, scale, factors.data(), product.data(), remaining);
    for (size_t j = 0; j < inverse.size(); ++j) conversion.targets[j].division = inverse[j];
    Tensor out = empty_on(input, shape);
    lower<Word>(out, input, conversion);
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("mod_up", FHELIUM_BOX(&fhelium::mod_up));
  m.impl("mod_down", FHELIUM_BOX(&fhelium::mod_down));
}
