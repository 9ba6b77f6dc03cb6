#include <algorithm>
#include <iterator>

#include "common/checks.h"
#include "common/isa.h"
#include "common/number_theory.h"
#include "ntt/tables.h"

namespace fhelium {

/// A format, or one of the paths behind it.
static bool is_ntt_format(u64 word) {
  for (NttTableFormat format : {kFormatPortable32, kFormatPortable64, kFormatAvx2, kFormatAvx512})
    if (word - format <= std::size(kNttPathsAvx512)) return true;
  return false;
}

template <class Word>
NttTables<Word> check_ntt_tables(const char* operation, const NttKernels<Word>& kernels,
                                 const char* owner, const Tensor& tables, int64_t degree,
                                 const std::vector<Modulus<Word>>& moduli) {
  if (degree < 16 || !is_power_of_two(degree))
    refuse(operation, "the input's last axis is " + std::to_string(degree),
           "It is the ring degree, a power of two from 16 on", "Check the axis order");
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
  const Word* data = data_of<Word>(tables);
  const u64 start = reinterpret_cast<u64>(data), row = static_cast<u64>(tables.stride(0));
  if (tables.stride(1) != 1 || (start | row * sizeof(Word)) % sizeof(u64) != 0)
    refuse(operation,
           "tables has strides " + to_string(strides_of(tables)) + " and starts " +
               std::to_string(start % sizeof(u64)) + " bytes behind a multiple of 8",
           "A table's words are contiguous and its rows start at multiples of 8 bytes",
           "Slice the limb axis only");
  for (size_t j = 0; j < moduli.size(); ++j) {
    const Word* header = data + static_cast<int64_t>(j) * tables.stride(0);
    if (header[kTableFormat] != kernels.format && is_ntt_format(header[kTableFormat]))
      refuse(operation,
             "row " + std::to_string(j) + " of tables has the format of other kernels, needed is " +
                 owner,
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
  return {data, tables.stride(0)};
}

template <class Word>
NttTables<Word> check_ntt_tables(const char* operation, const Tensor& tables, int64_t degree,
                                 const std::vector<Modulus<Word>>& moduli) {
  return check_ntt_tables(operation, ntt_kernels<Word>(), isa_name(active_isa()), tables, degree,
                          moduli);
}

template NttTables<u32> check_ntt_tables(const char*, const NttKernels<u32>&, const char*,
                                         const Tensor&, int64_t, const std::vector<Modulus<u32>>&);
template NttTables<u64> check_ntt_tables(const char*, const NttKernels<u64>&, const char*,
                                         const Tensor&, int64_t, const std::vector<Modulus<u64>>&);
template NttTables<u32> check_ntt_tables(const char*, const Tensor&, int64_t,
                                         const std::vector<Modulus<u32>>&);
template NttTables<u64> check_ntt_tables(const char*, const Tensor&, int64_t,
                                         const std::vector<Modulus<u64>>&);

}  // namespace fhelium
