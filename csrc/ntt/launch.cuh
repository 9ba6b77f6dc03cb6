// Launches of a transform's passes, with what they read and write left open.
#pragma once
#include "common/device_rows.h"
#include "ntt/pass.cuh"

namespace fhelium {

/// Read and write rows as they are.
template <class Word>
struct PlainLoad {
  DeviceRows in;
  __device__ auto row(u32 limb, u32 item) const {
    return [p = row_at<const Word>(in, item, limb), step = in.step](u32 k) { return p[k * step]; };
  }
};

template <class Word>
struct PlainStore {
  DeviceRows out;
  __device__ auto row(u32 limb, u32 item) const {
    return [p = row_at<Word>(out, item, limb), step = out.step](u32 k, Word x) { p[k * step] = x; };
  }
};

/// Twiddles of the launched rows, and how many rows there are.
template <class Word>
struct NttRows {
  const TwiddlePair<Word>* twiddles;
  i64 twiddle_stride;
  int log_degree;
  u32 limbs, items;
};

inline constexpr int kContiguousLog = 8, kStridedLog = 9;

/// Whether one pass can take these levels of the tree.
inline bool is_pass(int log_degree, int first, int levels) {
  const bool inside = first >= 0 && levels >= 1 && first + levels <= log_degree;
  return inside && (first >= log_degree - kContiguousLog || levels <= kStridedLog);
}

/// Launch one pass. Returns what the launch did.
template <bool kInverse, class Word, class Load, class Store>
int launch_pass(const NttRows<Word>& rows, int first, int levels, const Load& load,
                const Store& store, void* stream) {
  constexpr u32 kMostItems = 65535;
  NttPass<Word> pass = {rows.twiddles, rows.twiddle_stride, rows.log_degree, first, levels, 0};
  const u32 degree = 1u << rows.log_degree;
  const auto over_items = [&](auto kernel, u32 columns, dim3 block, size_t words) {
    int status = 0;
    for (u32 left = rows.items; left > 0 && status == 0; pass.first_item += kMostItems) {
      const u32 items = left < kMostItems ? left : kMostItems;
      status = launch(kernel, dim3(columns, rows.limbs, items), block, words * sizeof(Word), stream,
                      pass, load, store);
      left -= items;
    }
    return status;
  };
  if (first >= rows.log_degree - kContiguousLog) {
    const u32 tiles = degree >> kContiguousLog, together = tiles < 1 ? 1 : tiles < 8 ? tiles : 8;
    return over_items(ntt_contiguous<Word, kInverse, Load, Store>, tiles < 1 ? 1 : tiles / together,
                      dim3(16, together), together * 16 * 17);
  }
  const auto strided = [&](auto kernel, int tile_log, u32 most) {
    const u32 room = degree >> (first + levels) >> (tile_log - levels);
    const u32 columns = room < most ? room : most;
    return over_items(kernel, (degree >> tile_log) / columns, dim3(columns, 16),
                      (size_t)columns << tile_log);
  };
  return levels <= 8 ? strided(ntt_strided<Word, 8, kInverse, Load, Store>, 8, 16)
                     : strided(ntt_strided<Word, 9, kInverse, Load, Store>, 9, 8);
}

}  // namespace fhelium
