// Tables of the AVX-512 transforms, and their function table. Where a prime or a ring is left to
// the portable kernels, its row is theirs but for the format.
#include "ntt/kernels_avx512.h"
#include "ntt/layout_avx512.h"

namespace fhelium {
namespace {

i64 table_words(i64 degree, const Modulus& m) {
  const NttPath path = ntt_path(degree, m);
  if (path == NttPath::kPortable) return kNttKernelsPortable.table_words(degree, m);
  const int words = is_wide(path) ? 2 : 1;
  return blocks_offset(degree, words) + words * degree;
}

/// Where the quotient of a twiddle stands, and how far behind it the value, if that is stored.
struct Place {
  i64 offset;
  int distance;
};

/// The place of node m + i, level `level` = log2 m, in a row with `words` words a twiddle.
Place place_of(i64 degree, const NttPlan& plan, int level, i64 i, int words) {
  int first = 0;  // level of a pass's top
  for (int pass = 0; pass < plan.passes; first += plan.radix_log[pass++]) {
    const int log = plan.radix_log[pass], depth = level - first;
    if (depth >= log) continue;
    const i64 before = (i64{1} << first) - 1 + (i >> depth) * ((1 << log) - 1);
    const i64 node = (i64{1} << depth) - 1 + (i & ((i64{1} << depth) - 1));
    return {kTableHeaderWords + words * (before + node), 1};
  }
  const int depth = level - first;
  const i64 block = i >> depth, inside = i & ((i64{1} << depth) - 1);
  const i64 start = blocks_offset(degree, words) + words * kBlockWords * block;
  if (depth < 3) return {start + words * ((i64{1} << depth) - 1 + inside), 1};
  const int column_bits = depth - 3;  // inside = row of eight neighbours, then column
  const i64 vector = (i64{1} << column_bits) + (inside & ((i64{1} << column_bits) - 1));
  return {start + words * 8 * vector + (inside >> column_bits), 8};
}

void write(u64* table, const Place& place, u64 w, u64 q, int words) {
  table[place.offset] = words == 2 ? shoup_quotient(w, q) : static_cast<u64>(((u128)w << 52) / q);
  if (words == 2) table[place.offset + place.distance] = w;
}

void build_table(u64* table, i64 degree, u64 root, const Modulus& m) {
  const NttPath path = ntt_path(degree, m);
  if (path == NttPath::kPortable) {
    kNttKernelsPortable.build_table(table, degree, root, m);
    table[kTableFormat] = kFormatAvx512;
    return;
  }
  const int words = is_wide(path) ? 2 : 1, bits = exact_log2(degree);
  const i64 size = table_words(degree, m);
  for (i64 k = 0; k < size; ++k) table[k] = 0;
  table[kTableFormat] = kFormatAvx512;
  table[kTableModulus] = m.q;
  table[kTableDegree] = static_cast<u64>(degree);

  const NttPlan plan = ntt_plan(degree);
  const u64 quotient = shoup_quotient(root, m.q);
  u64 power = 1, middle = 1;  // middle = psi^(N/2), node 1
  for (i64 k = 1; k < degree; ++k) {
    power = reduce_once(shoup_multiply_lazy(power, root, quotient, m.q), m.q);
    const i64 node = static_cast<i64>(reverse_bits(static_cast<u64>(k), bits));
    const int level = 63 - __builtin_clzll(static_cast<u64>(node));
    write(table, place_of(degree, plan, level, node - (i64{1} << level), words), power, m.q, words);
    if (node == 1) middle = power;
  }
  write(table, {kScale, 1}, from_montgomery(m.degree_inverse, m), m.q, words);
  // The inverse of node 1 is -psi^(N/2); its sign is in the difference, as elsewhere.
  write(table, {kScaledRoot, 1}, montgomery_multiply(middle, m.degree_inverse, m), m.q, words);
}

}  // namespace

const NttKernels kNttKernelsAvx512 = {
    kFormatAvx512, table_words, build_table, forward_avx512, inverse_avx512,
};

}  // namespace fhelium
