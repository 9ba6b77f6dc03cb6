// Which table of kernels the CPU's operators take, and the parameters' registration.
#include "common/isa.h"
#include "rns/kernels.h"
#include "rns/parameters.h"

namespace fhelium {

template <>
const RnsKernels<u32>& rns_kernels() {
  switch (active_isa()) {
#if FHELIUM_X86_KERNELS
    case Isa::kAvx2:
    case Isa::kAvx512: return kRnsKernels32Avx2;
#endif
    default: return kRnsKernels32Portable;
  }
}

template <>
const RnsKernels<u64>& rns_kernels() {
  switch (active_isa()) {
#if FHELIUM_X86_KERNELS
    case Isa::kAvx2: return kRnsKernels64Avx2;
    case Isa::kAvx512: return kRnsKernels64Avx512;
#endif
    default: return kRnsKernels64Portable;
  }
}

}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("rns_parameters", FHELIUM_BOX(&fhelium::rns_parameters));
}
