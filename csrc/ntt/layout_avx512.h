// How the AVX-512 transforms cut a ring into passes, which arithmetic a prime gets, and where its
// twiddles stand.
//
// The twiddles form a binary tree as in the portable kernels: block b of the level with m blocks
// uses node m + b = psi^bitrev(m + b), its halves go on at nodes 2 (m + b) and 2 (m + b) + 1. A
// pass over memory takes `radix_log` levels at once; what is left are blocks of 64 words, whose six
// levels stay in registers.
//
// A row of the table, behind the common header, in the order of use:
//   passes   for each pass, for each of its blocks: the 2^radix_log - 1 nodes, level by level;
//   blocks   for each block of 64 words: one vector with the 7 nodes of levels 1 to 3, then 7
//            vectors for levels 4 to 6, lane i for the i-th row of eight neighbours.
// The inverse reads the same words: psi^-bitrev(m + b) = -psi^bitrev(m + (m - 1 - b)), so block b
// takes the nodes of its mirror in reverse order, and the sign moves into a difference.
#pragma once
#include "common/number_theory.h"
#include "ntt/kernels.h"

namespace fhelium {
namespace {

/// What a prime's size allows. Narrow: 52-bit words; wide: 64-bit words. kLazy: no reduction
/// between forward levels; kPass: one in three levels; kLevel: one a level.
enum class NttPath { kPortable, kNarrowLazy, kNarrowPass, kNarrowLevel, kWideLazy, kWideLevel };

constexpr i64 kBlockWords = 64;
constexpr int kBlockLevels = 6;
constexpr i64 kPrefetchBlocks = 8;  // how far ahead of the blocks their table is asked for
constexpr i64 kSmallestDegree = 2 * kBlockWords;  // at least one level in front of the blocks

// Largest multiple of q that a lazy value of the inverse may reach, by path.
constexpr int kNarrowLazyBound = 32, kNarrowPassBound = 16, kNarrowLevelBound = 4;
constexpr int kWideLazyBound = 64, kWideLevelBound = 8;

FHELIUM_INLINE NttPath ntt_path(i64 degree, const Modulus& m) {
  if (degree < kSmallestDegree) return NttPath::kPortable;
  const u64 levels = static_cast<u64>(exact_log2(degree));
  const u64 narrow = m.reciprocal >> 12;  // how many q fit 52 bits
  // Forward, a level adds a product to either side of a bound; the products before the first
  // level's bias make it one level more.
  if (narrow >= kNarrowLazyBound && narrow >= 4 * levels + 3) return NttPath::kNarrowLazy;
  if (narrow >= kNarrowPassBound) return NttPath::kNarrowPass;
  if (narrow >= kNarrowLevelBound) return NttPath::kNarrowLevel;
  if (m.reciprocal >= kWideLazyBound && m.reciprocal >= 8 * levels + 3) return NttPath::kWideLazy;
  if (m.reciprocal >= kWideLevelBound) return NttPath::kWideLevel;
  return NttPath::kPortable;
}

FHELIUM_INLINE bool is_wide(NttPath path) {
  return path == NttPath::kWideLazy || path == NttPath::kWideLevel;
}

/// The levels in front of the blocks, as passes: eight rows at a time, the last pass over at most
/// 1024 words taking sixteen, or four where a single level would be left.
struct NttPlan {
  int passes = 0;
  int radix_log[8] = {};
};

FHELIUM_INLINE NttPlan ntt_plan(i64 degree) {
  NttPlan plan;
  int levels = exact_log2(degree) - kBlockLevels;
  while (levels > 0) {
    const int radix_log = levels == 4 ? 4 : levels < 3 ? levels : 3;
    plan.radix_log[plan.passes++] = radix_log;
    levels -= radix_log;
  }
  return plan;
}

/// Words of a row in front of the blocks: the header, then N / 64 - 1 nodes, up to a full line.
FHELIUM_INLINE i64 blocks_offset(i64 degree, int twiddle_words) {
  return kTableHeaderWords + (degree / kBlockWords * twiddle_words + 7) / 8 * 8;
}

/// Words behind the common header: quotient (and value, where both are stored) of ...
constexpr int kScale = kTableDegree + 1;  // N^-1
constexpr int kScaledRoot = kScale + 2;   // N^-1 psi^(N/2)
static_assert(kScaledRoot + 2 <= kTableHeaderWords);

/// A row of the table as a transform walks it; `words` a twiddle.
struct NttRow {
  const u64* table;
  i64 degree;
  int words;
  NttPlan plan;

  /// The nodes of one block of n words for a pass of 2^log rows.
  inline const u64* nodes(i64 n, i64 block, int log) const {
    return table + kTableHeaderWords + words * (degree / n - 1 + block * ((1 << log) - 1));
  }
  /// The table of a block of 64 words.
  inline const u64* block(i64 index) const {
    return table + blocks_offset(degree, words) + words * kBlockWords * index;
  }
};

}  // namespace
}  // namespace fhelium
