#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "common/pool.h"
#include "rns/codec_rows.h"

namespace fhelium {

template <>
const CodecKernels<u32>& codec_kernels() {
  return table_for<kCodecKernels32Portable, kCodecKernels32Avx2, kCodecKernels32Avx2>(active_isa());
}

template <>
const CodecKernels<u64>& codec_kernels() {
  return table_for<kCodecKernels64Portable, kCodecKernels64Avx2, kCodecKernels64Avx512>(
      active_isa());
}

namespace {

/// Position of a flat index, as the message shows it.
std::string index_text(int64_t flat, const Sizes& shape) {
  Sizes index(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i]) index[i] = flat % shape[i];
  return to_string(index);
}

void check_finite(const char* operation, const double* rounded, int64_t count, const Sizes& shape) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(rounded[i]))
      refuse(operation, "values" + index_text(i, shape) + " times the scale is not finite",
             "Every coefficient is a finite number",
             "Remove NaN and infinity, or lower the scale where the product overflows");
}

/// 2^e R mod q for e = 0, 1, ..: a double is a 53-bit mantissa times 2^e with e at most 971.
template <class Word>
std::vector<Word> powers_of_two(const Modulus<Word>& m) {
  std::vector<Word> powers(972);
  Word power = m.montgomery_one;
  for (Word& entry : powers) {
    entry = power;
    power = add_modular(power, power, m.q);
  }
  return powers;
}

/// Finite integers -> residues.
template <class Word>
void reduce_wide(Word* out, const double* rounded, const std::vector<Word>& powers, int64_t n,
                 const Modulus<Word>& m) {
  for (int64_t k = 0; k < n; ++k) {
    const u64 bits = std::bit_cast<u64>(rounded[k]);
    const u64 biased = (bits >> 52) & 0x7ff, fraction = bits & ((u64{1} << 52) - 1);
    const u64 mantissa = fraction | u64{1} << 52;
    Word r = 0;  // integers below 1 are zero
    if (biased >= 1075)
      r = montgomery_multiply(reduce_word(mantissa, m), powers[biased - 1075], m);
    else if (biased >= 1023)
      r = reduce_word(mantissa >> (1075 - biased), m);
    out[k] = bits >> 63 ? negate_modular(r, m.q) : r;
  }
}

}  // namespace

void check_scale(const char* operation, double scale) {
  if (std::isfinite(scale) && scale > 0) return;
  refuse(operation, "the scale is " + std::to_string(scale), "It is finite and above 0",
         "Pass the scale of the encoding");
}

bool round_all(const char* operation, double* rounded, const double* values, double scale,
               const Sizes& shape, int64_t count) {
  std::atomic<int64_t> wide_count{0};
  const auto round = codec_kernels<u64>().round;  // doubles to doubles: the same for both words
  parallel_for(0, count, 32768, [&](int64_t begin, int64_t end) {
    wide_count += round(rounded + begin, values + begin, scale, end - begin);
  });
  if (wide_count != 0) check_finite(operation, rounded, count, shape);
  return wide_count != 0;
}

template <class Word>
void reduce_all(Word* out, const double* rounded, bool wide, int64_t batches, int64_t degree,
                const std::vector<Modulus<Word>>& moduli) {
  const auto& kernels = codec_kernels<Word>();
  const auto limbs = static_cast<int64_t>(moduli.size());
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, degree));
  parallel_for(0, limbs * batches, grain, [&](int64_t begin, int64_t end) {
    std::vector<Word> powers;
    int64_t powers_limb = -1;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t limb = row / batches, batch = row % batches;
      const Modulus<Word>& m = moduli[static_cast<size_t>(limb)];
      const double* source = rounded + batch * degree;
      Word* target = out + (batch * limbs + limb) * degree;
      if (!wide) {
        kernels.reduce_narrow(target, source, degree, m);
        continue;
      }
      if (powers_limb != limb) powers = powers_of_two(m);
      powers_limb = limb;
      reduce_wide(target, source, powers, degree, m);
    }
  });
}

template void reduce_all(u32*, const double*, bool, int64_t, int64_t,
                         const std::vector<Modulus<u32>>&);
template void reduce_all(u64*, const double*, bool, int64_t, int64_t,
                         const std::vector<Modulus<u64>>&);

namespace {

/// a^-1 mod q by Euclid; 0 where they share a factor.
u64 inverse_coprime(u64 a, u64 q) {
  i64 coefficient = 0, next = 1;
  u64 larger = q, smaller = a % q;
  while (smaller != 0) {
    const u64 quotient = larger / smaller;
    larger = std::exchange(smaller, larger - quotient * smaller);
    coefficient = std::exchange(next, coefficient - static_cast<i64>(quotient) * next);
  }
  if (larger != 1) return 0;
  return static_cast<u64>(coefficient < 0 ? coefficient + static_cast<i64>(q) : coefficient);
}

/// The constants of GarnerTables.
template <class Word>
std::vector<u64> garner_factors(const char* operation, const std::vector<Modulus<Word>>& moduli) {
  std::vector<u64> factors, products;
  factors.reserve(moduli.size() * (moduli.size() + 1) / 2);
  for (size_t i = 0; i < moduli.size(); ++i) {
    const u64 q = moduli[i].q;
    products.clear();  // q_0 .. q_(j-1) mod q_i
    u64 product = 1;
    for (size_t j = 0; j < i; ++j) {
      products.push_back(product);
      product = multiply_modular(product, moduli[j].q % q, q);
    }
    const u64 inverse = inverse_coprime(product, q);
    if (inverse == 0)
      refuse(operation, "modulus " + std::to_string(i) + " shares a factor with an earlier one",
             "The moduli of a basis are distinct primes", "Pass the parameter rows of this basis");
    const u64 scaled = static_cast<u64>(((u128)inverse << 64) % q);
    for (u64 earlier : products)
      factors.push_back(negate_modular(multiply_modular(earlier, scaled, q), q));
    factors.push_back(scaled);
  }
  return factors;
}

}  // namespace

template <class Word>
Centring<Word>::Centring(const char* operation, const std::vector<Modulus<Word>>& moduli)
    : moduli_(moduli), garner_(garner_factors(operation, moduli)) {
  if (moduli.empty())
    refuse(operation, "the residues have 0 limbs, needed is at least 1",
           "An integer needs at least one residue", "Pass the limbs of its basis");
  if (moduli.size() < 2) return;
  const Modulus<Word>&a = moduli.back(), &b = moduli[moduli.size() - 2];
  pair_inverse_ = to_montgomery(static_cast<Word>(inverse_coprime(a.q, b.q)), b);
  for (const Modulus<Word>& m : std::span(moduli).first(moduli.size() - 2)) {
    const Word low = reduce_word(a.q, m);
    pair_.push_back(to_montgomery(low, m));
    pair_.push_back(static_cast<Word>(multiply_modular(low, reduce_word(b.q, m), m.q)));
  }
}

template <class Word>
void Centring<Word>::block(double* row, const ResidueRows<Word>& rows, int64_t batch, int64_t index,
                           u64* workspace) const {
  const int64_t first = index * kGarnerBlock, n = std::min(kGarnerBlock, rows.degree - first);
  const auto& kernels = codec_kernels<Word>();
  double* out = row + first;
  const Word* residues = rows.pointer(batch, 0) + first * rows.step;
  const auto limbs = static_cast<int64_t>(moduli_.size());
  if (limbs > 1 && kernels.centred_pair(out, residues, rows.limb_stride, rows.step, n,
                                        {moduli_.data(), limbs, pair_inverse_, pair_.data()}))
    return;
  kernels.centred(out, residues, rows.limb_stride, rows.step, n,
                  {moduli_.data(), limbs, garner_.data()}, workspace);
}

template class Centring<u32>;
template class Centring<u64>;

namespace {

Tensor round_to_residues(const Tensor values, double scale, const Tensor rns_params,
                         ScalarType dtype) {
  constexpr auto kName = "round_to_residues";
  check_tensor(kName, "values", values, kFloat64);
  check_residue_type(kName, dtype);
  Sizes shape = sizes_of(values);
  if (shape.empty()) refuse(kName, "values has shape []", "It is [*batch, N]", "Pass a polynomial");
  check_scale(kName, scale);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const int64_t degree = shape.back(), count = values.numel();
  const int64_t batches = degree == 0 ? 0 : count / degree;
  return for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    const Tensor in = fhelium::contiguous(values), rounded = empty_on(in, shape);
    double* whole = rounded.mutable_data_ptr<double>();
    const bool wide = round_all(kName, whole, in.const_data_ptr<double>(), scale, shape, count);
    Sizes residues_shape = shape;
    residues_shape.insert(residues_shape.end() - 1, limbs);
    Tensor out = empty_on(in, residues_shape, dtype);
    reduce_all<Word>(mutable_data_of<Word>(out), whole, wide, batches, degree, moduli);
    return out;
  });
}

Tensor residues_to_real(const Tensor input, const Tensor rns_params) {
  constexpr auto kName = "residues_to_real";
  check_residues(kName, "input", input);
  Sizes shape = sizes_of(input);
  shape.erase(shape.end() - 2);
  return for_word_of(input, [&](auto word) {
    using Word = decltype(word);
    const auto rows = rows_of<Word>(input);
    const auto moduli = check_parameters<Word>(kName, rns_params, rows.limbs);
    const Centring<Word> centring(kName, moduli);
    Tensor out = empty_on(input, shape, kFloat64);
    double* to = out.mutable_data_ptr<double>();
    const int64_t blocks = centring_blocks(rows.degree);
    parallel_for(0, rows.batches * blocks, centring.grain(), [&](int64_t begin, int64_t end) {
      const int64_t words = centring.workspace_words();
      Workspace space(Workspace::room_for<u64>(words), Contents::kSecret);
      u64* own = space.take<u64>(words);
      for (int64_t task = begin; task < end; ++task)
        centring.block(to + task / blocks * rows.degree, rows, task / blocks, task % blocks, own);
    });
    return out;
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("round_to_residues", FHELIUM_BOX(&fhelium::round_to_residues));
  m.impl("residues_to_real", FHELIUM_BOX(&fhelium::residues_to_real));
}
