// One kernel for every operator that computes coefficient by coefficient: out[k] =
// f(sources[k]...).
#pragma once
#include "common/grid.h"

namespace fhelium {

inline constexpr unsigned kMapThreads = 256, kMapElements = 4;
inline constexpr unsigned kMapTile = kMapThreads * kMapElements;

/// The operands of a function of one or two coefficients.
template <int kCount>
struct MapSources {
  DeviceRows rows[kCount];
};

/// A block takes one tile of the rows of one limb, and of every batch item that its z says.
/// Function is constructed from the limb's modulus and takes what the sources hold, In. Loads come
/// before stores, so that several are on their way at once; `out` may be a source.
template <class Word, class Function, class In, int kCount>
__global__ void __launch_bounds__(kMapThreads)
    map_rows_kernel(const __grid_constant__ DeviceRows out,
                    const __grid_constant__ DeviceParameters parameters,
                    const __grid_constant__ MapSources<kCount> sources) {
  const i64 first = (i64)blockIdx.x * kMapTile + threadIdx.x;
  const DeviceRows &lhs = sources.rows[0], &rhs = sources.rows[kCount - 1];
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Function function(modulus_at<Word>(parameters, limb));
    for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z) {
      Word* const to = row_at<Word>(out, batch, limb);
      const In* const a = row_at<In>(lhs, batch, limb);
      const In* const b = kCount == 1 ? a : row_at<In>(rhs, batch, limb);
      Word results[kMapElements];
#pragma unroll
      for (unsigned i = 0; i < kMapElements; ++i) {
        const i64 k = first + i * kMapThreads;
        if (k >= out.degree) continue;
        if constexpr (kCount == 1)
          results[i] = function(a[k * lhs.step]);
        else
          results[i] = function(a[k * lhs.step], b[k * rhs.step]);
      }
#pragma unroll
      for (unsigned i = 0; i < kMapElements; ++i) {
        const i64 k = first + i * kMapThreads;
        if (k < out.degree) to[k * out.step] = results[i];
      }
    }
  }
}

/// Launch it on one or two sources.
template <class Word, class Function, class In, class... Sources>
int map_rows(const DeviceRows& out, const DeviceParameters& parameters, void* stream,
             const Sources&... sources) {
  constexpr int kCount = sizeof...(Sources);
  if (has_no_rows(out)) return 0;
  return launch(map_rows_kernel<Word, Function, In, kCount>, grid_over(out, kMapTile),
                dim3(kMapThreads), 0, stream, out, parameters, MapSources<kCount>{{sources...}});
}

}  // namespace fhelium
