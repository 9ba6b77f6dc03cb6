#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "common/parameters.h"
#include "rns/kernels.h"

namespace fhelium {

const RnsKernels& rns_kernels() {
  active_isa();
  return kRnsKernelsPortable;
}

namespace {

Tensor rns_parameters(const Tensor moduli, int64_t degree) {
  constexpr auto kName = "rns_parameters";
  check_tensor(kName, "moduli", moduli, kInt64);
  if (moduli.dim() != 1)
    refuse(kName, "moduli has shape " + to_string(sizes_of(moduli)), "It is [limb]",
           "Pass the primes as one axis");
  if (!is_power_of_two(degree))
    refuse(kName, "degree is " + std::to_string(degree), "It is a power of two",
           "Pass the ring degree N");
  const int64_t limbs = moduli.size(0);
  Tensor out = empty_on(moduli, {kParameterRows, limbs});
  int64_t* rows = out.mutable_data_ptr<int64_t>();
  const int64_t* data = moduli.const_data_ptr<int64_t>();
  for (int64_t j = 0; j < limbs; ++j) {
    const u64 q = static_cast<u64>(data[j * moduli.stride(0)]);
    if (!(q & 1) || q <= 1 || q >= (u64{1} << 62))
      refuse(kName, "modulus " + std::to_string(j) + " is " + std::to_string(q),
             "Moduli are odd with 1 < q < 2^62", "Pass NTT primes");
    const auto set = [&](int row, u64 value) {
      rows[row * limbs + j] = static_cast<int64_t>(value);
    };
    const u64 bits = q < (u64{1} << 50) ? 52 : 64;
    const u64 one = static_cast<u64>(((u128)1 << bits) % q);
    // Fermat: the moduli are primes; N^-1 is meaningless (and unused) for anything else.
    const u64 degree_inverse = inverse_modular(static_cast<u64>(degree), q);
    set(kModulus, q);
    set(kInverse, inverse_modulo_word(q));
    set(kMontgomeryBits, bits);
    set(kMontgomeryOne, one);
    set(kMontgomerySquare, multiply_modular(one, one, q));
    set(kReciprocal, static_cast<u64>((((u128)1 << 64) / q)));
    set(kDegreeInverse, multiply_modular(degree_inverse, one, q));
  }
  return out;
}

std::string parameter_row_names() { return kParameterRowNames; }

void add_into(const char* name, const Tensor& out, const Tensor& lhs, const Tensor& rhs,
              const Tensor& rns_params) {
  const ResidueRows o = rows_of(out), a = rows_of(lhs), b = broadcast_rows(name, "rhs", rhs, lhs);
  const auto moduli = check_parameters(name, rns_params, o.limbs);
  const auto& kernels = rns_kernels();
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, o.degree));
  parallel_for(0, o.limbs * o.batches, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t limb = row / o.batches, batch = row % o.batches;
      kernels.add(o.pointer(batch, limb), o.step, a.pointer(batch, limb), a.step,
                  b.pointer(batch, limb), b.step, o.degree, moduli[static_cast<size_t>(limb)]);
    }
  });
}

Tensor add_standard(const Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues("add_standard", "lhs", lhs);
  check_residues("add_standard", "rhs", rhs);
  Tensor out = empty_on(lhs, sizes_of(lhs));
  add_into("add_standard", out, lhs, rhs, rns_params);
  return out;
}

void add_standard_(Tensor lhs, const Tensor rhs, const Tensor rns_params) {
  check_residues("add_standard_", "lhs", lhs);
  check_residues("add_standard_", "rhs", rhs);
  check_destination("add_standard_", lhs);
  check_overlap("add_standard_", lhs, rhs);
  add_into("add_standard_", lhs, lhs, rhs, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CompositeExplicitAutograd, m) {
  m.impl("parameter_row_names", FHELIUM_BOX(&fhelium::parameter_row_names));
}

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("rns_parameters", FHELIUM_BOX(&fhelium::rns_parameters));
  m.impl("add_standard", FHELIUM_BOX(&fhelium::add_standard));
  m.impl("add_standard_", FHELIUM_BOX(&fhelium::add_standard_));
}
