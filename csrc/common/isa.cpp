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

// Only the portable kernels are compiled into this build.
constexpr Isa kBestCompiled = Isa::kAvx512;

Isa choose() {
  const char* wanted = std::getenv("FHELIUM_CPU_ISA");
  if (wanted == nullptr || *wanted == '\0') return kBestCompiled;
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512})
    if (std::string(wanted) == isa_name(isa) && isa <= kBestCompiled) return isa;
  throw std::runtime_error("FHELIUM_CPU_ISA: the value is '" + std::string(wanted) +
                           "', this build has scalar. Name a compiled instruction set. "
                           "Unset the variable to take the best one.");
}

}  // namespace

Isa active_isa() {
  static const Isa isa = choose();
  return isa;
}

}  // namespace fhelium
