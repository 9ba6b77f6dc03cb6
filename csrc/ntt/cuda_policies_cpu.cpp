// Transforms that exist on CUDA only: on the CPU they are refused with the names of those that do.
#include "common/checks.h"
#include "common/names.h"

namespace fhelium {
namespace {

template <class Result, Name kName>
Result refused(const Tensor, const Tensor, const Tensor, const Tensor) {
  refuse(kName.text, "input is on the CPU, needed is a CUDA tensor",
         "Compact grouped and fixed-radix transforms are execution policies of CUDA",
         "On the CPU use ntt_packed and intt_packed, or ntt_radix2_indexed and "
         "intt_radix2_indexed for validation");
}

template <Name kName>
void register_refusal(auto& m) {
  m.impl(kName.text, FHELIUM_BOX((&refused<Tensor, kName>)));
  m.impl(in_place(kName).text, FHELIUM_BOX((&refused<void, in_place(kName)>)));
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  using namespace fhelium;
  register_refusal<"ntt_compact">(m);
  register_refusal<"intt_compact">(m);
  register_refusal<"ntt_fixed_radix">(m);
  register_refusal<"intt_fixed_radix">(m);
}
