// The production transform: packed tables, no index tensors.
#include "common/checks.h"
#include "common/isa.h"
#include "common/names.h"
#include "common/pool.h"
#include "ntt/packed.h"
#include "ntt/rows.h"
#include "ntt/tables.h"

namespace fhelium {

template <>
const NttKernels<u32>& ntt_kernels() {
  return active_isa() == Isa::kScalar ? kNttKernels32Portable : widened_ntt_kernels();
}

const NttKernels<u64>& ntt_kernels_of(Isa isa) {
  return table_for<kNttKernels64Portable, kNttKernels64Avx2, kNttKernels64Avx512>(isa);
}

std::span<const NttPath> ntt_paths_of(Isa isa) {
  switch (isa) {
#if FHELIUM_X86_KERNELS
    case Isa::kAvx2: return kNttPathsAvx2;
    case Isa::kAvx512: return kNttPathsAvx512;
#endif
    default: return kNttPathsPortable;
  }
}

template <>
const NttKernels<u64>& ntt_kernels() {
  return ntt_kernels_of(active_isa());
}

template <class Word>
void transform_with(const char* operation, const NttKernels<Word>& kernels, const char* owner,
                    bool inverse, const Tensor& out, const Tensor& input, const Tensor& tables,
                    const Tensor& rns_params) {
  const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
  const auto moduli = check_parameters<Word>(operation, rns_params, o.limbs);
  const auto table = check_ntt_tables(operation, kernels, owner, tables, o.degree, moduli);
  const auto kernel = inverse ? kernels.inverse : kernels.forward;
  for_each_row(o, in,
               [&](Word* target, const Word* source, int64_t step, int64_t limb, const Word* next) {
                 kernel(target, source, step, o.degree, table.row(limb),
                        moduli[static_cast<size_t>(limb)], next);
               });
}

template void transform_with(const char*, const NttKernels<u64>&, const char*, bool, const Tensor&,
                             const Tensor&, const Tensor&, const Tensor&);

namespace {

void transform_packed(const char* name, bool inverse, const Tensor& out, const Tensor& input,
                      const Tensor& tables, const Tensor& rns_params) {
  for_word_of(input, [&](auto word) {
    transform_with(name, ntt_kernels<decltype(word)>(), isa_name(active_isa()), inverse, out, input,
                   tables, rns_params);
  });
}

template <Name kName, bool kInverse>
Tensor packed(const Tensor input, const Tensor tables, const Tensor rns_params) {
  check_residues(kName.text, "input", input);
  Tensor out = empty_result(input, sizes_of(input));
  transform_packed(kName.text, kInverse, out, input, tables, rns_params);
  return out;
}

template <Name kName, bool kInverse>
void packed_in_place(Tensor input, const Tensor tables, const Tensor rns_params) {
  check_residues(kName.text, "input", input);
  check_destination(kName.text, input);
  check_overlap(kName.text, input, tables);
  transform_packed(kName.text, kInverse, input, input, tables, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  using namespace fhelium;
  m.impl("ntt_packed", FHELIUM_BOX((&packed<"ntt_packed", false>)));
  m.impl("ntt_packed_", FHELIUM_BOX((&packed_in_place<"ntt_packed_", false>)));
  m.impl("intt_packed", FHELIUM_BOX((&packed<"intt_packed", true>)));
  m.impl("intt_packed_", FHELIUM_BOX((&packed_in_place<"intt_packed_", true>)));
}
