// Which table of kernels the CPU's operators take, and the parameters' registration.
#include "common/isa.h"
#include "rns/kernels.h"
#include "rns/parameters.h"

namespace fhelium {

template <>
const RnsKernels<u32>& rns_kernels() {
  return table_for<kRnsKernels32Portable, kRnsKernels32Avx2, kRnsKernels32Avx2>(active_isa());
}

template <>
const RnsKernels<u64>& rns_kernels() {
  return table_for<kRnsKernels64Portable, kRnsKernels64Avx2, kRnsKernels64Avx512>(active_isa());
}

}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  m.impl("rns_parameters", FHELIUM_BOX(&fhelium::rns_parameters));
}
