#include "ckks/switch_tables.h"

#include <algorithm>
#include <span>

#include "common/checks.h"
#include "common/number_theory.h"
#include "rns/digits.h"

namespace fhelium {
namespace {

/// The product of some primes modulo another, all but number `without` (-1: all).
template <class Word>
u64 product_modulo(std::span<const Modulus<Word>> primes, int64_t without, u64 q) {
  u64 product = 1 % q;
  for (size_t j = 0; j < primes.size(); ++j)
    if (static_cast<int64_t>(j) != without) product = multiply_modular(product, primes[j].q % q, q);
  return product;
}

/// x^-1 in Montgomery form, of an x that must have one.
template <class Word>
Word inverse_constant(u64 x, const Modulus<Word>& m) {
  const u64 inverse = inverse_modular(x, m.q);
  if (multiply_modular(x, inverse, m.q) != 1)
    refuse("key_switch_tables",
           "a product of other limbs' primes has no inverse modulo " + std::to_string(m.q),
           "Limbs have different primes", "Pass the parameters of basis QP at one depth");
  return to_montgomery(static_cast<Word>(inverse), m);
}

/// What one source, a digit or the special basis, brings to one target: D / d_i, then -D.
template <class Word>
void fill_factors(Word* factors, std::span<const Modulus<Word>> source, const Modulus<Word>& m) {
  const auto count = static_cast<int64_t>(source.size());
  for (int64_t i = 0; i < count; ++i)
    factors[i] = to_montgomery(static_cast<Word>(product_modulo(source, i, m.q)), m);
  const auto whole = static_cast<Word>(product_modulo(source, -1, m.q));
  factors[count] = to_montgomery(negate_modular(whole, m.q), m);
}

template <class Word>
void fill_scale(Word* scale, u64* sum, std::span<const Modulus<Word>> source) {
  u128 total = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const u64 q = source[i].q;
    scale[i] = inverse_constant(product_modulo(source, static_cast<int64_t>(i), q), source[i]);
    total += q;
  }
  sum[0] = static_cast<u64>(total);
  sum[1] = static_cast<u64>(total >> 64);
}

/// The table's members point into memory that is still to be written.
template <class T>
T* writable(const T* part) {
  return const_cast<T*>(part);
}

/// Copy what has a meaning: what lies between the members stays zero, so that equal tables are
/// equal bit for bit.
template <class Word>
void copy_members(Modulus<Word>& to, const Modulus<Word>& from) {
  to.q = from.q;
  to.inverse = from.inverse;
  to.montgomery_one = from.montgomery_one;
  to.montgomery_square = from.montgomery_square;
  to.degree_inverse = from.degree_inverse;
  to.reciprocal = from.reciprocal;
  to.bits = from.bits;
}

template <class Word>
void fill_target(const SwitchTables<Word>& t, int64_t limb) {
  const std::span<const Modulus<Word>> moduli(t.moduli, static_cast<size_t>(t.limbs));
  const auto q_limbs = static_cast<size_t>(t.q_limbs());
  const Modulus<Word>& m = t.moduli[limb];
  Word* factors = writable(t.digit_factors) + limb * (t.q_limbs() + t.digits);
  for (int64_t d = 0; d < t.digits; ++d)
    fill_factors(
        factors + t.first_row(d),
        moduli.subspan(static_cast<size_t>(t.digit_begin(d)), static_cast<size_t>(t.digit_size(d))),
        m);
  if (limb >= t.q_limbs()) return;
  Word* special = writable(t.special_factors) + limb * (t.specials + 3);
  const auto specials = moduli.subspan(q_limbs);
  fill_factors(special, specials, m);
  const auto product = static_cast<Word>(product_modulo(specials, -1, m.q));
  const u64 dropped = multiply_modular(product, t.moduli[0].q % m.q, m.q);
  special[t.specials + 1] = writable(t.special_product)[limb] = to_montgomery(product, m);
  special[t.specials + 2] =
      to_montgomery(negate_modular(static_cast<Word>(dropped), static_cast<Word>(m.q)), m);
  writable(t.special_inverse)[limb] = inverse_constant<Word>(product, m);
  writable(t.rescaled_inverse)[limb] = limb == 0 ? 0 : inverse_constant<Word>(dropped, m);
}

/// Tells a table that was changed since it was made, by accident: it is no protection from intent.
u64 digest(const u64* words, int64_t size) {
  u64 sum = static_cast<u64>(size);
  for (int64_t k = 0; k < size; ++k)
    if (k != kSwitchDigest) sum = (sum ^ words[k]) * 0x9e37'79b9'7f4a'7c15;
  return sum;
}

}  // namespace

Tensor key_switch_tables(const Tensor digit_bounds, int64_t specials, const Tensor rns_params,
                         ScalarType dtype) {
  constexpr auto kName = "key_switch_tables";
  check_residue_type(kName, dtype);
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  const int64_t limbs = rns_params.size(1);
  check_source_count(kName, "the special basis", specials);
  if (specials >= limbs)
    refuse(kName,
           "rns_params has " + std::to_string(limbs) + " limbs, " + std::to_string(specials) +
               " of them special",
           "At least one limb is of Q", "Pass the parameters of basis QP");
  const auto bounds = check_bounds(kName, digit_bounds, limbs - specials);
  return for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    SwitchTables<Word> t;
    t.limbs = limbs;
    t.specials = specials;
    t.digits = static_cast<int64_t>(bounds.size()) - 1;
    Tensor out = empty_on(rns_params, {lay_out<Word>(t, nullptr)});
    u64* words = mutable_data_of<u64>(out);
    std::fill_n(words, lay_out<Word>(t, words), 0);
    words[kSwitchFormat] = kSwitchTableMark + kWordBits<Word>;
    words[kSwitchLimbs] = static_cast<u64>(limbs);
    words[kSwitchSpecials] = static_cast<u64>(specials);
    words[kSwitchDigits] = static_cast<u64>(t.digits);
    std::copy(bounds.begin(), bounds.end(), writable(t.bounds));
    for (int64_t limb = 0; limb < limbs; ++limb) {
      copy_members(writable(t.moduli)[limb], moduli[static_cast<size_t>(limb)]);
      writable(t.reciprocals)[limb] = 1.0 / static_cast<double>(t.moduli[limb].q);
    }
    const std::span<const Modulus<Word>> all(t.moduli, moduli.size());
    for (int64_t d = 0; d <= t.digits; ++d) {
      const int64_t begin = t.digit_begin(d), size = d < t.digits ? t.digit_size(d) : specials;
      fill_scale(writable(t.scale) + begin, writable(t.sums) + 2 * d,
                 all.subspan(static_cast<size_t>(begin), static_cast<size_t>(size)));
    }
    for (int64_t limb = 0; limb < limbs; ++limb) fill_target(t, limb);
    *writable(t.one) = moduli[0].montgomery_one;
    words[kSwitchDigest] = digest(words, out.size(0));
    return out;
  });
}

template <class Word>
SwitchTables<Word> check_switch_tables(const char* operation, const Tensor& tensor) {
  check_axes(operation, "switch_tables", tensor, 1, "It is [words]");
  if (tensor.dim() != 1 || !tensor.is_contiguous())
    refuse(operation,
           "switch_tables has shape " + to_string(sizes_of(tensor)) + " and strides " +
               to_string(strides_of(tensor)),
           "A table's words are contiguous", "Pass it as key_switch_tables made it");
  const u64* words = data_of<u64>(tensor);
  const int64_t size = tensor.size(0);
  SwitchTables<Word> t;
  const auto at = [&](int k) { return static_cast<int64_t>(words[k] & 0xffff); };
  bool fits =
      size > kSwitchHeaderWords && words[kSwitchFormat] == kSwitchTableMark + kWordBits<Word>;
  if (fits) {
    t.limbs = at(kSwitchLimbs);
    t.specials = at(kSwitchSpecials);
    t.digits = at(kSwitchDigits);
    fits = t.specials < t.limbs && t.digits < t.limbs &&
           lay_out(t, const_cast<u64*>(words)) == size &&
           words[kSwitchDigest] == digest(words, size);
  }
  if (!fits)
    refuse(operation, "switch_tables of shape " + to_string(sizes_of(tensor)) + " is no such table",
           "It is made for the residues' type, a basis and a depth, and stays as it was made",
           "Make it with fhelium_ckks_ops::key_switch_tables");
  return t;
}

template SwitchTables<u32> check_switch_tables(const char*, const Tensor&);
template SwitchTables<u64> check_switch_tables(const char*, const Tensor&);

template <class Word>
BasisSource<Word> SwitchTables<Word>::digit_source(int64_t digit) const {
  const int64_t begin = digit_begin(digit);
  return {static_cast<int>(digit_size(digit)), moduli + begin, scale + begin};
}
template <class Word>
BasisSource<Word> SwitchTables<Word>::special_source() const {
  return {static_cast<int>(specials), moduli + q_limbs(), scale + q_limbs()};
}
template <class Word>
BasisSource<Word> SwitchTables<Word>::dropped_source() const {
  return {1, moduli, one};
}

template <class Word>
BasisTarget<Word> SwitchTables<Word>::digit_target(int64_t digit, int64_t limb) const {
  const int64_t begin = digit_begin(digit);
  return {static_cast<int>(digit_size(digit)),
          exceeds_radix(sum_of(digit), limb),
          is_narrow(begin, digit_begin(digit + 1)),
          digit_factors + limb * (q_limbs() + digits) + first_row(digit),
          0,
          moduli + limb};
}
template <class Word>
BasisTarget<Word> SwitchTables<Word>::special_target(int64_t limb) const {
  return {static_cast<int>(specials),  exceeds_radix(sum_of(digits), limb),
          is_narrow(q_limbs(), limbs), special_factors + limb * (specials + 3),
          special_inverse[limb],       moduli + limb};
}
template <class Word>
BasisTarget<Word> SwitchTables<Word>::dropped_target(int64_t limb) const {
  return {1,
          exceeds_radix(moduli[0].q, limb),
          is_narrow(0, 1),
          special_factors + limb * (specials + 3) + specials + 1,
          0,
          moduli + limb};
}
template <class Word>
BasisTarget<Word> SwitchTables<Word>::joined_target(int64_t limb) const {
  BasisTarget<Word> target = special_target(limb);
  target.count = static_cast<int>(specials) + 2;
  target.wide = exceeds_radix(sum_of(digits) + moduli[0].q, limb);
  return target;
}

template <class Word>
bool SwitchTables<Word>::joins() const {
  return specials + 2 <= kMaxSourcePrimes && is_narrow(0, 1) == is_narrow(q_limbs(), limbs);
}

template <class Word>
bool SwitchTables<Word>::is_narrow(int64_t first, int64_t past) const {
  for (int64_t i = first; i < past; ++i)
    if (moduli[i].bits != 52) return false;
  return true;
}
template <class Word>
bool SwitchTables<Word>::exceeds_radix(u128 sum, int64_t limb) const {
  return sum > (u128{1} << moduli[limb].bits);
}
template <class Word>
u128 SwitchTables<Word>::sum_of(int64_t source) const {
  return (u128{sums[2 * source + 1]} << 64) + sums[2 * source];
}

template struct SwitchTables<u32>;
template struct SwitchTables<u64>;

}  // namespace fhelium
