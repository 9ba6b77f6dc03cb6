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

}  // namespace fhelium
