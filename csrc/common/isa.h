// Which instruction set the kernels of this process use. Chosen once, on first use.
#pragma once
#include <string>

namespace fhelium {

/// In rising order of preference.
enum class Isa { kScalar, kAvx2, kAvx512 };

/// The best set that both this machine and this build have, or the one FHELIUM_CPU_ISA names.
Isa active_isa();

/// The sets that both have, in rising order of preference: "scalar, avx2".
std::string usable_isas();

/// Whether both have a set.
bool is_usable(Isa isa);

/// Whether both have the set of this name; `found` is it then.
bool find_usable_isa(const std::string& name, Isa& found);

/// A family's table for an instruction set that is usable; a build without x86 kernels has the
/// portable one alone.
template <const auto& kPortable, const auto& kAvx2, const auto& kAvx512>
const auto& table_for(Isa isa) {
#if FHELIUM_X86_KERNELS
  if (isa == Isa::kAvx512) return kAvx512;
  if (isa == Isa::kAvx2) return kAvx2;
#else
  (void)isa;
#endif
  return kPortable;
}

/// "scalar", "avx2" or "avx512".
const char* isa_name(Isa isa);

}  // namespace fhelium
