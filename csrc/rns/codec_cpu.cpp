#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "rns/codec.h"

namespace fhelium {

const CodecKernels& codec_kernels() {
  return active_isa() == Isa::kAvx512 ? kCodecKernelsAvx512 : kCodecKernelsPortable;
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

/// 2^e R mod q for e = 0, 1, ..
std::vector<u64> powers_of_two(const Modulus& m) {
  std::vector<u64> powers(static_cast<size_t>(kPowers));
  u64 power = m.montgomery_one;
  for (u64& entry : powers) {
    entry = power;
    power = add_modular(power, power, m.q);
  }
  return powers;
}

Tensor round_to_residues(const Tensor values, double scale, const Tensor rns_params) {
  constexpr auto kName = "round_to_residues";
  check_tensor(kName, "values", values, kFloat64);
  Sizes shape = sizes_of(values);
  if (shape.empty()) refuse(kName, "values has shape []", "It is [*batch, N]", "Pass a polynomial");
  if (!(std::isfinite(scale) && scale > 0))
    refuse(kName, "the scale is " + std::to_string(scale), "It is finite and above 0",
           "Pass the scale of the encoding");
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const auto moduli = check_parameters(kName, rns_params, limbs);
  const int64_t degree = shape.back(), count = values.numel();
  const int64_t batches = degree == 0 ? 0 : count / degree;
  const Tensor in = fhelium::contiguous(values), rounded = empty_on(in, shape, kFloat64);
  const auto& kernels = codec_kernels();
  const double* from = in.const_data_ptr<double>();
  double* whole = rounded.mutable_data_ptr<double>();
  std::atomic<int64_t> wide_count{0};
  parallel_for(0, count, 32768, [&](int64_t begin, int64_t end) {
    wide_count += kernels.round(whole + begin, from + begin, scale, end - begin);
  });
  const bool wide = wide_count != 0;
  if (wide) check_finite(kName, whole, count, shape);

  Sizes residues_shape = shape;
  residues_shape.insert(residues_shape.end() - 1, limbs);
  Tensor out = empty_on(in, residues_shape);
  u64* to = reinterpret_cast<u64*>(out.mutable_data_ptr<int64_t>());
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, degree));
  parallel_for(0, limbs * batches, grain, [&](int64_t begin, int64_t end) {
    std::vector<u64> powers;
    int64_t powers_limb = -1;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t limb = row / batches, batch = row % batches;
      const Modulus& m = moduli[static_cast<size_t>(limb)];
      const double* source = whole + batch * degree;
      u64* target = to + (batch * limbs + limb) * degree;
      if (!wide) {
        kernels.reduce_narrow(target, source, degree, m);
        continue;
      }
      if (powers_limb != limb) powers = powers_of_two(m);
      powers_limb = limb;
      kernels.reduce_wide(target, source, powers.data(), degree, m);
    }
  });
  return out;
}

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
std::vector<u64> garner_factors(const char* operation, const std::vector<Modulus>& moduli) {
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

Tensor residues_to_real(const Tensor input, const Tensor rns_params) {
  constexpr auto kName = "residues_to_real";
  check_residues(kName, "input", input);
  const ResidueRows rows = rows_of(input);
  const auto moduli = check_parameters(kName, rns_params, rows.limbs);
  if (rows.limbs == 0)
    refuse(kName, "input has shape " + to_string(sizes_of(input)) + " without a limb",
           "An integer needs at least one residue", "Pass the limbs of its basis");
  const auto factors = garner_factors(kName, moduli);
  const GarnerTables tables{moduli.data(), rows.limbs, factors.data()};
  Sizes shape = sizes_of(input);
  shape.erase(shape.end() - 2);
  Tensor out = empty_on(input, shape, kFloat64);
  double* to = out.mutable_data_ptr<double>();
  const auto& kernels = codec_kernels();
  const int64_t blocks = (rows.degree + kGarnerBlock - 1) / kGarnerBlock;
  // A coefficient takes about limbs (limbs + 20) / 2 multiplications.
  const int64_t grain = std::max<int64_t>(1, 4096 / (rows.limbs * (rows.limbs + 20)));
  parallel_for(0, rows.batches * blocks, grain, [&](int64_t begin, int64_t end) {
    std::vector<u64> workspace(static_cast<size_t>(garner_workspace(rows.limbs)));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / blocks, first = task % blocks * kGarnerBlock;
      kernels.centred(to + batch * rows.degree + first, rows.pointer(batch, 0) + first * rows.step,
                      rows.limb_stride, rows.step, std::min(kGarnerBlock, rows.degree - first),
                      tables, workspace.data());
    }
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("round_to_residues", FHELIUM_BOX(&fhelium::round_to_residues));
  m.impl("residues_to_real", FHELIUM_BOX(&fhelium::residues_to_real));
}
