// Transforms that exist on CUDA only: on the CPU they are refused with the names of those that do.
#include "common/checks.h"
#include "common/names.h"

namespace fhelium {
namespace {

[[noreturn]] void refuse_on_cpu(const char* operation) {
  refuse(operation, "input is on the CPU, needed is a CUDA tensor",
         "Compact grouped and fixed-radix transforms are execution policies of CUDA",
         "On the CPU use ntt_packed and intt_packed, or ntt_radix2_indexed and "
         "intt_radix2_indexed for validation");
}

template <Name kName>
Tensor refused(const Tensor, const Tensor, const Tensor, const Tensor) {
  refuse_on_cpu(kName.text);
}
template <Name kName>
void refused_in_place(Tensor, const Tensor, const Tensor, const Tensor) {
  refuse_on_cpu(kName.text);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  using namespace fhelium;
  m.impl("ntt_compact", FHELIUM_BOX(&refused<"ntt_compact">));
  m.impl("ntt_compact_", FHELIUM_BOX(&refused_in_place<"ntt_compact_">));
  m.impl("intt_compact", FHELIUM_BOX(&refused<"intt_compact">));
  m.impl("intt_compact_", FHELIUM_BOX(&refused_in_place<"intt_compact_">));
  m.impl("ntt_fixed_radix", FHELIUM_BOX(&refused<"ntt_fixed_radix">));
  m.impl("ntt_fixed_radix_", FHELIUM_BOX(&refused_in_place<"ntt_fixed_radix_">));
  m.impl("intt_fixed_radix", FHELIUM_BOX(&refused<"intt_fixed_radix">));
  m.impl("intt_fixed_radix_", FHELIUM_BOX(&refused_in_place<"intt_fixed_radix_">));
}
