// The loop that every operator over rows runs: limb outermost so that a limb's constants are read
// once, batch inside, split over torch's threads in chunks of at least about 50 us.
#pragma once
#include <algorithm>

#include "common/rows.h"

namespace fhelium {

/// How many work items of the given estimated cost make a chunk worth handing to a thread.
inline int64_t chunk_size(double nanoseconds_per_item) {
  return std::max<int64_t>(1, static_cast<int64_t>(50000.0 / std::max(nanoseconds_per_item, 1.0)));
}

/// Call body(limb, batch) for every row of n coefficients, each costing about the given time.
template <class Body>
inline void for_each_row(int64_t limbs, int64_t batches, int64_t n,
                         double nanoseconds_per_coefficient, const Body& body) {
  const int64_t grain = chunk_size(nanoseconds_per_coefficient * static_cast<double>(n));
  parallel_for(0, limbs * batches, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row / batches, row % batches);
  });
}

/// Call body(item, first coefficient, number of coefficients) for the tiles of n coefficients of
/// all items, each coefficient of an item costing about the given time.
template <class Body>
inline void for_each_tile(int64_t items, int64_t n, int64_t tile,
                          double nanoseconds_per_coefficient, const Body& body) {
  const int64_t tiles = (n + tile - 1) / tile;
  const double cost = nanoseconds_per_coefficient * static_cast<double>(std::min(n, tile));
  parallel_for(0, items * tiles, chunk_size(cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % tiles * tile;
      body(i / tiles, first, std::min(tile, n - first));
    }
  });
}

/// Whether the beginning of these rows leaves the caches before their end is written, and rows
/// begin on cache lines.
template <class Word>
inline bool exceeds_caches(const ResidueRows<Word>& rows) {
  constexpr int64_t kManyBytes = int64_t{16} << 20, kLine = 64;
  const int64_t row_bytes = rows.degree * static_cast<int64_t>(sizeof(Word));
  const bool on_lines =
      row_bytes % kLine == 0 && reinterpret_cast<uintptr_t>(rows.data) % kLine == 0;
  return on_lines && rows.batches * rows.limbs * row_bytes >= kManyBytes;
}

template <class Word>
inline void copy_row(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n) {
  for (i64 k = 0; k < n; ++k) out[k * out_step] = in[k * in_step];
}

}  // namespace fhelium
