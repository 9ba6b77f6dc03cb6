// The production transform: packed tables, no index tensors.
#include <algorithm>

#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "ntt/kernels.h"
#include "ntt/rows.h"

namespace fhelium {

const NttKernels& ntt_kernels() {
  switch (active_isa()) {
#if FHELIUM_X86_KERNELS
    case Isa::kAvx2: return kNttKernelsAvx2;
    case Isa::kAvx512: return kNttKernelsAvx512;
#endif
    default: return kNttKernelsPortable;
  }
}

namespace {

bool is_ntt_format(u64 word) {
  return word == kFormatPortable || word == kFormatAvx2 || word == kFormatAvx512;
}

/// One packed table per limb, made for this ring, these moduli and the active kernels.
const u64* check_tables(const char* operation, const Tensor& tables, int64_t degree,
                        const std::vector<Modulus>& moduli) {
  const auto& kernels = ntt_kernels();
  check_tensor(operation, "tables", tables, kInt64);
  const Sizes shape = sizes_of(tables);
  const int64_t limbs = static_cast<int64_t>(moduli.size());
  int64_t words = kTableHeaderWords;
  for (const Modulus& m : moduli) words = std::max(words, kernels.table_words(degree, m));
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
  const u64* data = reinterpret_cast<const u64*>(tables.const_data_ptr<int64_t>());
  for (size_t j = 0; j < moduli.size(); ++j) {
    const u64* header = data + static_cast<int64_t>(j) * tables.stride(0);
    if (header[kTableFormat] != kernels.format && is_ntt_format(header[kTableFormat]))
      refuse(operation,
             "row " + std::to_string(j) +
                 " of tables has the format of other kernels, the active " + "instruction set is " +
                 isa_name(active_isa()),
             "A table is read by the kernels that made it",
             "Make the tables again in this process, or set FHELIUM_CPU_ISA as it was");
    if (shape[1] < words) refuse_shape();
    if (header[kTableFormat] != kernels.format || header[kTableModulus] != moduli[j].q ||
        header[kTableDegree] != static_cast<u64>(degree))
      refuse(operation,
             "row " + std::to_string(j) + " of tables is not a table for N = " +
                 std::to_string(degree) + " and q = " + std::to_string(moduli[j].q),
             "Tables, parameters and residues describe the same limbs in the same order",
             "Make the tables with fhelium_ntt_ops::ntt_tables from the same parameters");
  }
  return data;
}

void transform_packed(const char* name, bool inverse, const Tensor& out, const Tensor& input,
                      const Tensor& tables, const Tensor& rns_params) {
  const ResidueRows o = rows_of(out), in = rows_of(input);
  const auto moduli = check_parameters(name, rns_params, o.limbs);
  if (o.degree < 16 || !is_power_of_two(o.degree))
    refuse(name, "input has shape " + to_string(sizes_of(input)),
           "The last axis is the ring degree, a power of two from 16 on", "Check the axis order");
  const u64* table = check_tables(name, tables, o.degree, moduli);
  const int64_t table_stride = tables.stride(0);
  const auto kernel = inverse ? ntt_kernels().inverse : ntt_kernels().forward;
  for_each_row(o, in,
               [&](u64* target, const u64* source, int64_t step, int64_t limb, const u64* next) {
                 kernel(target, source, step, o.degree, table + limb * table_stride,
                        moduli[static_cast<size_t>(limb)], next);
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
