// Transforms of 32-bit residues by the 64-bit kernels of a vector instruction set: a row is widened
// into scratch, which stays in cache, transformed there and narrowed. Primes below 2^31 take the
// kernels' fastest path.
#include "common/number_theory.h"
#include "common/pool.h"
#include "ntt/kernels.h"

namespace fhelium {
namespace {

/// Where the table of the 64-bit kernels begins: on a cache line where the row does.
constexpr i64 kWideTable = 16;
static_assert(kWideTable >= kTableHeaderWords);

const u64* wide_table(const u32* table) { return reinterpret_cast<const u64*>(table + kWideTable); }

i64 table_words(i64 degree, const Modulus<u32>& m) {
  return kWideTable + 2 * ntt_kernels<u64>().table_words(degree, widened(m));
}

void build_table(u32* table, i64 degree, u32 root, const Modulus<u32>& m) {
  const auto& kernels = ntt_kernels<u64>();
  for (i64 k = 0; k < kWideTable; ++k) table[k] = 0;
  table[kTableFormat] = kernels.format;
  table[kTableModulus] = m.q;
  table[kTableDegree] = static_cast<u32>(degree);
  kernels.build_table(reinterpret_cast<u64*>(table + kWideTable), degree, root, widened(m));
}

template <class Transform>
void transform(u32* out, const u32* in, i64 step, i64 degree, const u32* table,
               const Modulus<u32>& m, const Transform& kernel) {
  // A row may be of a secret key.
  Workspace workspace(Workspace::room_for<u64>(degree), Contents::kSecret);
  u64* row = workspace.take<u64>(degree);
  for (i64 k = 0; k < degree; ++k) row[k] = in[k * step];
  kernel(row, row, 1, degree, wide_table(table), widened(m), nullptr);
  for (i64 k = 0; k < degree; ++k) out[k] = static_cast<u32>(row[k]);
}

void forward(u32* out, const u32* in, i64 step, i64 degree, const u32* table, const Modulus<u32>& m,
             const u32* /*next*/) {
  transform(out, in, step, degree, table, m, ntt_kernels<u64>().forward);
}

void inverse(u32* out, const u32* in, i64 step, i64 degree, const u32* table, const Modulus<u32>& m,
             const u32* /*next*/) {
  transform(out, in, step, degree, table, m, ntt_kernels<u64>().inverse);
}

}  // namespace

const NttKernels<u32>& widened_ntt_kernels() {
  static const NttKernels<u32> kernels = {ntt_kernels<u64>().format, table_words, build_table,
                                          forward, inverse};
  return kernels;
}

}  // namespace fhelium
