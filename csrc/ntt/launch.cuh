// Launches of a transform's passes, with what they read and write left open.
#pragma once
#include "common/grid.h"
#include "common/number_theory.h"
#include "ntt/pass.cuh"
#include "ntt/schedule.h"

namespace fhelium {

/// Read and write rows as they are: row number r of the launch is row r of the tensor.
template <class Word>
struct PlainLoad {
  static constexpr int kAtOnce = 0;
  DeviceRows in;
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [p = row_at<const Word>(in, at.item, at.row), step = in.step](u32 k) {
      return p[k * step];
    };
  }
};

template <class Word>
struct PlainStore {
  static constexpr int kAtOnce = 0;
  DeviceRows out;
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [p = row_at<Word>(out, at.item, at.row), step = out.step](u32 k, Word x) {
      p[k * step] = x;
    };
  }
};

/// The rows of a launch: `rows` of them for each of `items`, from limb `first_limb` on.
template <class Word>
struct NttRows {
  const TwiddlePair<Word>* twiddles;
  i64 twiddle_stride;
  int log_degree;
  u32 limbs, first_limb, rows, items;
};

/// All limbs of each item; twiddle rows lie so many words apart.
template <class Word>
NttRows<Word> ntt_rows(const void* twiddles, i64 twiddle_stride, i64 degree, i64 limbs, i64 items) {
  return {static_cast<const TwiddlePair<Word>*>(twiddles),
          twiddle_stride / 2,
          exact_log2(degree),
          (u32)limbs,
          0,
          (u32)limbs,
          (u32)items};
}

namespace detail {

/// Launch a kernel for blocks of columns, rows and items, in pieces of what a grid holds.
template <class Word, class Load, class Store>
int launch_rows(void (*kernel)(NttPass<Word>, Load, Store), const NttRows<Word>& rows, int first,
                int levels, u32 columns, dim3 block, size_t words, const Load& load,
                const Store& store, void* stream) {
  int status = 0;
  for (u32 item = 0; item < rows.items && status == 0; item += kMaxGridRows) {
    const NttPass<Word> pass = {rows.twiddles, rows.twiddle_stride, rows.limbs, rows.first_limb,
                                item,          rows.log_degree,     first,      levels};
    status = launch(kernel, dim3(columns, rows.rows, capped(rows.items - item)), block,
                    words * sizeof(Word), stream, pass, load, store);
  }
  return status;
}

}  // namespace detail

/// Levels from `first` on, the last kContiguousLog of the tree or some of them.
template <bool kInverse, class Word, class Load, class Store>
int launch_contiguous(const NttRows<Word>& rows, int first, int levels, const Load& load,
                      const Store& store, void* stream) {
  const u32 tiles = 1u << rows.log_degree >> kContiguousLog;
  const u32 together = tiles < 1 ? 1 : tiles < 8 ? tiles : 8;
  return detail::launch_rows(ntt_contiguous<Word, kInverse, Load, Store>, rows, first, levels,
                             tiles < 1 ? 1 : tiles / together, dim3(16, together),
                             together * 16 * 17, load, store, stream);
}

/// Levels that end in front of the last ones, so that a tile has whole groups of columns.
template <bool kInverse, class Word, class Load, class Store>
int launch_strided(const NttRows<Word>& rows, int first, int levels, const Load& load,
                   const Store& store, void* stream) {
  const u32 degree = 1u << rows.log_degree;
  const auto strided = [&](auto kernel, int tile_log, u32 most) {
    const u32 room = degree >> (first + levels) >> (tile_log - levels);
    const u32 columns = room < most ? room : most;
    return detail::launch_rows(kernel, rows, first, levels, (degree >> tile_log) / columns,
                               dim3(columns, 16), (size_t)columns << tile_log, load, store, stream);
  };
  return levels <= 8 ? strided(ntt_strided<Word, 8, kInverse, Load, Store>, 8, 16)
                     : strided(ntt_strided<Word, 9, kInverse, Load, Store>, 9, 8);
}

/// One pass of either kind. Returns what the launch did.
template <bool kInverse, class Word, class Load, class Store>
int launch_pass(const NttRows<Word>& rows, int first, int levels, const Load& load,
                const Store& store, void* stream) {
  return first >= rows.log_degree - kContiguousLog
             ? launch_contiguous<kInverse>(rows, first, levels, load, store, stream)
             : launch_strided<kInverse>(rows, first, levels, load, store, stream);
}

/// A whole transform: the first pass reads with `load`, the last writes with `store`, and between
/// passes values stand in `middle`, a tensor of the launch's rows.
template <class Word, class Load, class Store>
int forward_transform(const NttRows<Word>& rows, const Load& load, const DeviceRows& middle,
                      const Store& store, void* stream) {
  const int passes = compact_passes(rows.log_degree), ahead = rows.log_degree - kContiguousLog;
  if (passes == 1) return launch_contiguous<false>(rows, 0, rows.log_degree, load, store, stream);
  const int top = passes == 2 ? ahead : ahead - kContiguousLog;
  const PlainStore<Word> put = {middle};
  const PlainLoad<Word> get = {middle};
  int status = launch_strided<false>(rows, 0, top, load, put, stream);
  if (status == 0 && passes == 3)
    status = launch_strided<false>(rows, top, kContiguousLog, get, put, stream);
  if (status != 0) return status;
  return launch_contiguous<false>(rows, ahead, kContiguousLog, get, store, stream);
}

template <class Word, class Load, class Store>
int inverse_transform(const NttRows<Word>& rows, const Load& load, const DeviceRows& middle,
                      const Store& store, void* stream) {
  const int passes = compact_passes(rows.log_degree), ahead = rows.log_degree - kContiguousLog;
  if (passes == 1) return launch_contiguous<true>(rows, 0, rows.log_degree, load, store, stream);
  const int top = passes == 2 ? ahead : ahead - kContiguousLog;
  const PlainStore<Word> put = {middle};
  const PlainLoad<Word> get = {middle};
  int status = launch_contiguous<true>(rows, ahead, kContiguousLog, load, put, stream);
  if (status == 0 && passes == 3)
    status = launch_strided<true>(rows, top, kContiguousLog, get, put, stream);
  if (status != 0) return status;
  return launch_strided<true>(rows, 0, top, get, store, stream);
}

}  // namespace fhelium
