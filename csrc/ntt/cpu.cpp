// The production transform: packed tables, no index tensors.
#include <algorithm>

#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "ntt/packed.h"
#include "ntt/rows.h"

namespace fhelium {

template <>
const NttKernels<u32>& ntt_kernels() {
  return active_isa() == Isa::kScalar ? kNttKernels32Portable : widened_ntt_kernels();
}

const NttKernels<u64>& ntt_kernels_of(Isa isa) {
  switch (isa) {
#if FHELIUM_X86_KERNELS
    case Isa::kAvx2: return kNttKernels64Avx2;
    case Isa::kAvx512: return kNttKernels64Avx512;
#endif
    default: return kNttKernels64Portable;
  }
}

template <>
const NttKernels<u64>& ntt_kernels() {
  return ntt_kernels_of(active_isa());
}

namespace {

bool is_ntt_format(u64 word) {
  for (NttTableFormat format : {kFormatPortable32, kFormatPortable64, kFormatAvx2, kFormatAvx512})
    if (word == format) return true;
  return false;
}

/// One packed table per limb, made for this ring, these moduli and these kernels.
template <class Word>
const Word* check_tables(const char* operation, const NttKernels<Word>& kernels, const char* isa,
                         const Tensor& tables, int64_t degree,
                         const std::vector<Modulus<Word>>& moduli) {
  check_tensor(operation, "tables", tables, kTypeOf<Word>);
  const Sizes shape = sizes_of(tables);
  const int64_t limbs = static_cast<int64_t>(moduli.size());
  int64_t words = kTableHeaderWords;
  for (const auto& m : moduli) words = std::max(words, kernels.table_words(degree, m));
  const auto refuse_shape = [&] {
    refuse(operation,
           "tables has shape " + to_string(shape) + ", the residues need " +
               to_string({limbs, words}) + " or longer rows",
           "Row j is the table of limb j", "Pass the tables of this ring degree and these limbs");
  };
  if (shape.size() != 2 || shape[0] != limbs || shape[1] < kTableHeaderWords) refuse_shape();
  if (tables.stride(1) != 1)
    refuse(operation, "tables has strides " + to_string(strides_of(tables)),
           "A table's words are contiguous", "Slice the limb axis only");
  const Word* data = data_of<Word>(tables);
  for (size_t j = 0; j < moduli.size(); ++j) {
    const Word* header = data + static_cast<int64_t>(j) * tables.stride(0);
    if (header[kTableFormat] != kernels.format && is_ntt_format(header[kTableFormat]))
      refuse(operation,
             "row " + std::to_string(j) +
                 " of tables has the format of other kernels, the instruction set is " + isa,
             "A table is read by the kernels that made it",
             "Make the tables again in this process, or set FHELIUM_CPU_ISA as it was");
    if (shape[1] < words) refuse_shape();
    if (header[kTableFormat] != kernels.format || header[kTableModulus] != moduli[j].q ||
        header[kTableDegree] != static_cast<Word>(degree))
      refuse(operation,
             "row " + std::to_string(j) + " of tables is not a table for N = " +
                 std::to_string(degree) + " and q = " + std::to_string(moduli[j].q),
             "Tables, parameters and residues describe the same limbs in the same order",
             "Make the tables with fhelium_ntt_ops::ntt_tables from the same parameters");
  }
  return data;
}

}  // namespace

template <class Word>
void transform_with(const char* operation, const NttKernels<Word>& kernels, const char* isa,
                    bool inverse, const Tensor& out, const Tensor& input, const Tensor& tables,
                    const Tensor& rns_params) {
  const auto o = rows_of<Word>(out), in = rows_of<Word>(input);
  const auto moduli = check_parameters<Word>(operation, rns_params, o.limbs);
  if (o.degree < 16 || !is_power_of_two(o.degree))
    refuse(operation, "input has shape " + to_string(sizes_of(input)),
           "The last axis is the ring degree, a power of two from 16 on", "Check the axis order");
  const Word* table = check_tables(operation, kernels, isa, tables, o.degree, moduli);
  const int64_t table_stride = tables.stride(0);
  const auto kernel = inverse ? kernels.inverse : kernels.forward;
  for_each_row(o, in,
               [&](Word* target, const Word* source, int64_t step, int64_t limb, const Word* next) {
                 kernel(target, source, step, o.degree, table + limb * table_stride,
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

Tensor packed(const char* name, bool inverse, const Tensor& input, const Tensor& tables,
              const Tensor& rns_params) {
  check_residues(name, "input", input);
  Tensor out = empty_on(input, sizes_of(input));
  transform_packed(name, inverse, out, input, tables, rns_params);
  return out;
}

void packed_in_place(const char* name, bool inverse, const Tensor& input, const Tensor& tables,
                     const Tensor& rns_params) {
  check_residues(name, "input", input);
  check_destination(name, input);
  check_overlap(name, input, tables);
  transform_packed(name, inverse, input, input, tables, rns_params);
}

Tensor ntt_packed(const Tensor input, const Tensor tables, const Tensor rns_params) {
  return packed("ntt_packed", false, input, tables, rns_params);
}
void ntt_packed_(Tensor input, const Tensor tables, const Tensor rns_params) {
  packed_in_place("ntt_packed_", false, input, tables, rns_params);
}
Tensor intt_packed(const Tensor input, const Tensor tables, const Tensor rns_params) {
  return packed("intt_packed", true, input, tables, rns_params);
}
void intt_packed_(Tensor input, const Tensor tables, const Tensor rns_params) {
  packed_in_place("intt_packed_", true, input, tables, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_ops, CPU, m) {
  m.impl("ntt_packed", FHELIUM_BOX(&fhelium::ntt_packed));
  m.impl("ntt_packed_", FHELIUM_BOX(&fhelium::ntt_packed_));
  m.impl("intt_packed", FHELIUM_BOX(&fhelium::intt_packed));
  m.impl("intt_packed_", FHELIUM_BOX(&fhelium::intt_packed_));
}
