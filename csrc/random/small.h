// Masks and errors inside a larger computation: integers that fit a byte, kept as one, so that all
// limbs read them from the nearest cache.
#pragma once
#include <algorithm>

#include "random/kernels.h"

namespace fhelium {

/// Coefficients of one task of drawing.
inline constexpr i64 kDrawTile = 1024;

inline i64 draw_tiles(i64 degree) { return (degree + kDrawTile - 1) / kDrawTile; }

/// Tile number `tile` of a row: sample(values, first, n) writes its integers, below 2^7.
template <class Sample>
void draw_small(int8_t* row, i64 degree, i64 tile, const Sample& sample) {
  const i64 first = tile * kDrawTile, n = std::min(kDrawTile, degree - first);
  i64 values[kDrawTile];
  sample(values, first, n);
  for (i64 k = 0; k < n; ++k) row[first + k] = static_cast<int8_t>(values[k]);
}

/// Task number `task` of drawing errors, rows of which number r takes the stream of that index.
inline void draw_errors(int8_t* errors, i64 degree, i64 task, const StreamKey& key) {
  const i64 tiles = draw_tiles(degree), row = task / tiles;
  draw_small(errors + row * degree, degree, task % tiles, [&](i64* values, i64 first, i64 n) {
    random_kernels().gaussian(values, first, n, key, {kNoPrime, static_cast<u32>(row), 0});
  });
}

}  // namespace fhelium
