// How the vector transforms cut a ring into passes over memory, and where its twiddles stand.
//
// The twiddles form a binary tree as in the portable kernels: block b of the level with m blocks
// uses node m + b, which is psi^bitrev(m + b), and its halves go on at the node's two children. A
// pass takes `radix_log` levels at once; what is left are blocks of eight registers of L lanes,
// whose 3 + log2 L levels need no memory between them.
//
// A row of the table, behind the common header, in the order of use:
//   passes   for each pass, for each of its blocks: the 2^radix_log - 1 nodes, level by level;
//   blocks   for each block of 8 L words: the 7 nodes of its first three levels and a gap, then,
//   for
//            each L of its eight rows of L neighbours, the levels inside a row: vectors of L nodes,
//            a lane a row.
// The inverse reads the same words: psi^-bitrev(m + b) = -psi^bitrev(m + (m - 1 - b)), so block b
// takes the nodes of its mirror in reverse order, and the sign moves into a difference.
#pragma once
#include "common/number_theory.h"
#include "ntt/kernels.h"

#define FHELIUM_UNROLL _Pragma("GCC unroll 16")

namespace fhelium {
namespace {

constexpr i64 kPrefetchBlocks = 8;  // how far ahead of the blocks their table is asked for

/// Ask for so many words that will be read soon.
template <i64 kCount>
FHELIUM_INLINE void prefetch_soon(const u64* p) {
  FHELIUM_UNROLL
  for (i64 k = 0; k < kCount; k += 8) __builtin_prefetch(p + k, 0, 3);
}

/// Ask for so many words that the next transform will read, and go on to the ones behind them.
template <i64 kCount>
FHELIUM_INLINE const u64* prefetch_later(const u64* p) {
  if (p == nullptr) return p;
  FHELIUM_UNROLL
  for (i64 k = 0; k < kCount; k += 8) __builtin_prefetch(p + k, 0, 2);
  return p + kCount;
}

/// The levels in front of the blocks, as passes: eight rows at a time; sixteen where the last pass,
/// over rows that fit the nearest cache, would otherwise be followed by one over a single level.
struct NttPlan {
  int passes = 0;
  int radix_log[8] = {};
};

FHELIUM_INLINE NttPlan ntt_plan(int levels) {
  NttPlan plan;
  while (levels > 0) {
    const int radix_log = levels == 4 ? 4 : levels < 3 ? levels : 3;
    plan.radix_log[plan.passes++] = radix_log;
    levels -= radix_log;
  }
  return plan;
}

// Words behind the common header: the quotient (and the value, where both are stored) of ...
constexpr int kScale = kTableDegree + 1;  // N^-1
constexpr int kScaledRoot = kScale + 2;   // N^-1 psi^(N/2)
static_assert(kScaledRoot + 2 <= kTableHeaderWords);

/// Where the quotient of a node stands, and how far behind it the value, if that is stored.
struct Place {
  i64 offset;
  int distance;
};

/// The table of one limb for L lanes and so many words a twiddle.
template <int kLanes, int kWords>
struct NttLayout {
  static constexpr i64 kBlock = 8 * kLanes;
  static constexpr int kRowLevels = kLanes == 8 ? 3 : 2;
  static constexpr i64 kSmallestDegree = 2 * kBlock;  // at least one level in front of the blocks
  static_assert(1 << kRowLevels == kLanes);

  i64 degree;
  NttPlan plan;

  FHELIUM_METHOD explicit NttLayout(i64 n)
      : degree(n), plan(ntt_plan(exact_log2(n) - 3 - kRowLevels)) {}

  /// The first node of one block of n words for a pass of 2^log rows.
  FHELIUM_METHOD i64 pass_offset(i64 n, i64 block, int log) const {
    return kTableHeaderWords + kWords * (degree / n - 1 + block * ((1 << log) - 1));
  }
  /// The nodes of a block; the N / kBlock - 1 nodes of the passes are filled up to a full line.
  FHELIUM_METHOD i64 block_offset(i64 block) const {
    return kTableHeaderWords + (degree / kBlock * kWords + 7) / 8 * 8 + kWords * kBlock * block;
  }
  FHELIUM_METHOD i64 words() const { return block_offset(degree / kBlock); }

  /// The place of node m + i on level log2 m.
  FHELIUM_METHOD Place place(int level, i64 i) const {
    int top = 0;  // the level where a pass begins
    for (int pass = 0; pass < plan.passes; top += plan.radix_log[pass++]) {
      const int log = plan.radix_log[pass], depth = level - top;
      if (depth >= log) continue;
      const i64 node = (i64{1} << depth) - 1 + low_bits(i, depth);
      return {pass_offset(degree >> top, i >> depth, log) + kWords * node, 1};
    }
    const int depth = level - top;
    const i64 start = block_offset(i >> depth), inside = low_bits(i, depth);
    if (depth < 3) return {start + kWords * ((i64{1} << depth) - 1 + inside), 1};
    const int column_bits = depth - 3;
    const i64 row = inside >> column_bits, column = low_bits(inside, column_bits);
    const i64 vector = row / kLanes * (kLanes - 1) + (i64{1} << column_bits) - 1 + column;
    return {start + kWords * vector_offset(vector) + row % kLanes, kLanes};
  }

  /// Where a vector stands in a block, in twiddles.
  FHELIUM_METHOD static constexpr i64 vector_offset(i64 vector) { return 8 + kLanes * vector; }

  FHELIUM_METHOD static i64 low_bits(i64 x, int bits) { return x & ((i64{1} << bits) - 1); }
};

/// Fill a row but for its format: `write(place, w)` for every node and for the two words of the
/// inverse's last level.
template <class Layout, class Write>
FHELIUM_INLINE void fill_table(u64* table, const Layout& layout, u64 root, const Modulus<u64>& m,
                               const Write& write) {
  const i64 size = layout.words();
  for (i64 k = 0; k < size; ++k) table[k] = 0;
  table[kTableModulus] = m.q;
  table[kTableDegree] = static_cast<u64>(layout.degree);

  const u64 quotient = shoup_quotient(root, m.q);
  const int bits = exact_log2(layout.degree);
  u64 power = 1, middle = 1;  // middle = psi^(N/2), node 1
  for (i64 k = 1; k < layout.degree; ++k) {
    power = reduce_once(shoup_multiply_lazy(power, root, quotient, m.q), m.q);
    const u64 node = reverse_bits(static_cast<u64>(k), bits);
    const int level = 63 - __builtin_clzll(node);
    write(layout.place(level, static_cast<i64>(node) - (i64{1} << level)), power);
    if (node == 1) middle = power;
  }
  write(Place{kScale, 1}, from_montgomery(m.degree_inverse, m));
  // The inverse of node 1 is -psi^(N/2); its sign is in the difference, as elsewhere.
  write(Place{kScaledRoot, 1}, montgomery_multiply(middle, m.degree_inverse, m));
}

}  // namespace
}  // namespace fhelium
