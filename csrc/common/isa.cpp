#include "common/isa.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace fhelium {

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx2: return "avx2";
    case Isa::kScalar: break;
  }
  return "scalar";
}

namespace {

constexpr Isa kAll[] = {Isa::kScalar, Isa::kAvx2, Isa::kAvx512};

// The build compiles the x86 kernels, each with its own flags, where it compiles for x86-64.
#if FHELIUM_X86_KERNELS
constexpr Isa kBestCompiled = Isa::kAvx512;

/// What the kernel files' flags name (CMakeLists.txt) and the operating system saves.
bool machine_has(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("fma");
    case Isa::kAvx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::kScalar: break;
  }
  return true;
}
#else
constexpr Isa kBestCompiled = Isa::kScalar;
bool machine_has(Isa isa) { return isa == Isa::kScalar; }
#endif

Isa best() {
  Isa found = Isa::kScalar;
  for (Isa isa : kAll)
    if (is_usable(isa)) found = isa;
  return found;
}

[[noreturn]] void refuse_choice(const std::string& wanted) {
  std::string compiled;
  for (Isa isa : kAll)
    if (isa <= kBestCompiled) compiled += std::string(compiled.empty() ? "" : ", ") + isa_name(isa);
  throw std::runtime_error("FHELIUM_CPU_ISA: the value is '" + wanted + "', this build has " +
                           compiled + " and this machine can run " + usable_isas() +
                           ". Name a compiled instruction set that the machine has. "
                           "Unset the variable to take the best one.");
}

Isa choose() {
  const char* wanted = std::getenv("FHELIUM_CPU_ISA");
  if (wanted == nullptr || *wanted == '\0') return best();
  Isa isa;
  if (find_usable_isa(wanted, isa)) return isa;
  refuse_choice(wanted);
}

}  // namespace

bool is_usable(Isa isa) { return isa <= kBestCompiled && machine_has(isa); }

std::string usable_isas() {
  std::string names;
  for (Isa isa : kAll)
    if (is_usable(isa)) names += std::string(names.empty() ? "" : ", ") + isa_name(isa);
  return names;
}

bool find_usable_isa(const std::string& name, Isa& found) {
  for (Isa isa : kAll)
    if (name == isa_name(isa) && is_usable(isa)) {
      found = isa;
      return true;
    }
  return false;
}

Isa active_isa() {
  static const Isa isa = choose();
  return isa;
}

}  // namespace fhelium
