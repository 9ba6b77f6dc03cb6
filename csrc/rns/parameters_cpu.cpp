// Parameter columns: everything the kernels know of a prime, computed once per context.
#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "common/parameters.h"
#include "rns/kernels.h"

namespace fhelium {

const RnsKernels& rns_kernels() {
  return active_isa() == Isa::kAvx512 ? kRnsKernelsAvx512 : kRnsKernelsPortable;
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

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CompositeExplicitAutograd, m) {
  m.impl("parameter_row_names", FHELIUM_BOX(&fhelium::parameter_row_names));
}

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("rns_parameters", FHELIUM_BOX(&fhelium::rns_parameters));
}
