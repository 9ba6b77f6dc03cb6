// Grids over the rows of a tensor, and how a block walks the rows that are its own.
#pragma once
#include "common/cuda.h"
#include "common/device_rows.h"

namespace fhelium {

/// What y and z of a grid hold at most: where there are more rows, a block takes several.
inline constexpr i64 kMaxGridRows = 65535;

inline unsigned capped(i64 rows) { return (unsigned)(rows < kMaxGridRows ? rows : kMaxGridRows); }

/// So many tiles cover `count`.
inline unsigned tiles_of(i64 count, i64 tile) { return (unsigned)((count + tile - 1) / tile); }

/// The grid over the rows of `rows`, in tiles of so many coefficients.
inline dim3 grid_over(const DeviceRows& rows, i64 tile) {
  return dim3(tiles_of(rows.degree, tile), capped(rows.limbs), capped(rows.batches));
}

inline bool has_no_rows(const DeviceRows& rows) {
  return rows.batches == 0 || rows.limbs == 0 || rows.degree == 0;
}

/// Call body(batch, limb) for this block's rows.
template <class Body>
__device__ __forceinline__ void for_rows(i64 batches, i64 limbs, const Body& body) {
  for (i64 limb = blockIdx.y; limb < limbs; limb += gridDim.y)
    for (i64 batch = blockIdx.z; batch < batches; batch += gridDim.z) body(batch, limb);
}

}  // namespace fhelium
