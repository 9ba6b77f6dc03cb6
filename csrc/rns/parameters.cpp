// Parameter columns: everything the kernels know of a prime, computed once per context.
#include "rns/parameters.h"

#include "common/checks.h"
#include "common/number_theory.h"
#include "common/parameters.h"

namespace fhelium {

namespace {

/// One parameter column. `bits` is log2 R; the residue type decides it where q does not.
void set_column(int64_t* rows, int64_t limbs, int64_t degree, u64 q, u64 bits) {
  const auto set = [&](int row, u64 value) { rows[row * limbs] = static_cast<int64_t>(value); };
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

std::string parameter_row_names() { return kParameterRowNames; }

}  // namespace

Tensor rns_parameters(const Tensor moduli, int64_t degree) {
  constexpr auto kName = "rns_parameters";
  check_residues(kName, "moduli", moduli, 1, "Moduli are [limb] and of the residues' type");
  if (moduli.dim() != 1)
    refuse(kName, "moduli has shape " + to_string(sizes_of(moduli)), "It is [limb]",
           "Pass the primes as one axis");
  if (!is_power_of_two(degree))
    refuse(kName, "degree is " + std::to_string(degree), "It is a power of two",
           "Pass the ring degree N");
  const int64_t limbs = moduli.size(0);
  Tensor out = empty_on(moduli, {kParameterRows, limbs}, kInt64);
  int64_t* rows = out.mutable_data_ptr<int64_t>();
  for_word_of(moduli, [&](auto word) {
    using Word = decltype(word);
    const Word* data = data_of<Word>(moduli);
    for (int64_t j = 0; j < limbs; ++j) {
      const Word q = data[j * moduli.stride(0)];
      if (!(q & 1) || q <= 1 || q >> WordTraits<Word>::kModulusBits != 0)
        refuse(kName, "modulus " + std::to_string(j) + " is " + std::to_string(q),
               "Moduli are odd with 1 < q < 2^" + std::to_string(WordTraits<Word>::kModulusBits),
               "Pass NTT primes");
      const u64 bits = kWordBits<Word> == 32 ? 32 : q < (u64{1} << 50) ? 52 : 64;
      set_column(rows + j, limbs, degree, q, bits);
    }
  });
  return out;
}

}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CompositeExplicitAutograd, m) {
  m.impl("parameter_row_names", FHELIUM_BOX(&fhelium::parameter_row_names));
}
