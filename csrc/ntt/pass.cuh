// One pass of a transform over memory: a tile of 2^kTileLog words goes once through registers and
// shared memory and takes up to that many levels of butterflies (lazy, on Shoup quotients: D.
// Harvey, "Faster arithmetic for number-theoretic transforms", 2014).
//
// Level l of the tree has 2^l blocks of N / 2^l words; its butterflies pair words half a block
// apart. A tile is either
//   contiguous   neighbours, for any of the last levels; or
//   strided      the rows of one block, N / 2^(first + levels) words apart, in groups of columns
//                that are neighbours.
// A word's place in its tile has kTileLog bits, and level l of the tile pairs places that differ in
// bit kTileLog - 1 - l. A thread holds 2^kTopLog words: in the top layout places that differ in the
// upper bits, in the bottom layout places that differ in the lower ones; from one to the other goes
// an exchange in shared memory. Levels that are not of the pass are left out, by all threads of a
// launch alike: so one kernel serves every ring degree.
//
// Between levels 64-bit values stay below 4q (forward) and 2q (inverse), where q < 2^62; 32-bit
// ones, where q < 2^31, are reduced.
#pragma once
#include "common/cuda.h"
#include "ntt/cuda_table.h"

namespace fhelium {

/// What all threads of a launch share. Row number r of the launch is that of limb first_limb + r,
/// after the last limb comes the first.
template <class Word>
struct NttPass {
  const TwiddlePair<Word>* twiddles;
  i64 twiddle_stride;  // pairs from one limb to the next
  u32 limbs, first_limb, first_item;
  int log_degree, first, levels;  // levels first .. first + levels - 1 of the tree
};

/// What a block works on.
struct NttRow {
  u32 limb, row, item;
};

template <class Word>
__device__ __forceinline__ NttRow row_of_block(const NttPass<Word>& pass) {
  const u32 limb = pass.first_limb + blockIdx.y;
  return {limb < pass.limbs ? limb : limb - pass.limbs, blockIdx.y, pass.first_item + blockIdx.z};
}

/// x, y -> x + w y, x - w y; the inverse x, y -> x + y, (y - x) w.
template <bool kInverse, class Word>
FHELIUM_INLINE void butterfly(Word& x, Word& y, const TwiddlePair<Word>& w, Word q) {
  const Word a = x;
  if constexpr (kWordBits<Word> == 32) {
    const Word factor = kInverse ? y + q - a : y;
    const Word b = reduce_once(shoup_multiply_lazy(factor, w.value, w.quotient, q), q);
    x = add_modular(a, kInverse ? y : b, q);
    y = kInverse ? b : subtract_modular(a, b, q);
  } else if constexpr (kInverse) {
    x = reduce_once<Word>(a + y, 2 * q);
    y = shoup_multiply_lazy<Word>(y + 2 * q - a, w.value, w.quotient, q);
  } else {
    const Word low = reduce_once<Word>(a, 2 * q);
    const Word b = shoup_multiply_lazy(y, w.value, w.quotient, q);
    x = low + b;
    y = low + 2 * q - b;
  }
}

/// A tile of a pass as one of its threads sees it.
template <class Word, int kTileLog, bool kInverse>
struct NttTile {
  static constexpr int kTopLog = (kTileLog + 1) / 2, kBottomLog = kTileLog - kTopLog;
  static constexpr int kValues = 1 << kTopLog, kThreads = 1 << kBottomLog;

  const TwiddlePair<Word>* table;
  Word q;
  int log_degree, base;  // level 0 of the tile is level `base` of the tree
  int from, past;        // levels of the tile that are of the pass
  u32 unit, thread;      // number of its block on level `base`, number of this thread

  /// Where register j stands in the two layouts.
  __device__ __forceinline__ u32 top_place(int j) const { return (u32)j * kThreads + thread; }
  __device__ __forceinline__ u32 bottom_place(int j) const { return thread * kValues + (u32)j; }

  __device__ __forceinline__ bool ends_transform() const {
    return kInverse ? base + from == 0 : base + past == log_degree;
  }

  /// One level of a layout, whose registers differ in bit kBit; `place` is that of register 0.
  template <int kBit>
  __device__ __forceinline__ void take(Word (&r)[kValues], int level, u32 place) const {
    const int depth = base + level;
    const bool scales = kInverse && depth == 0;
    const u32 mask = (1u << log_degree) - 1;
    const u32 node = (1u << depth) + (unit << level) + (place >> (kTileLog - level));
#pragma unroll
    for (int g = 0; g < kValues >> (kBit + 1); ++g) {
      // The inverse of node m + i is the negative of node m + (m - 1 - i).
      const u32 own = kInverse ? (3u << depth) - 1 - (node + (u32)g) : node + (u32)g;
      const TwiddlePair<Word> w = table[scales ? scaled_root_pair(mask + 1) : own & mask];
#pragma unroll
      for (int j = 0; j < 1 << kBit; ++j) {
        Word& x = r[(g << (kBit + 1)) + j];
        butterfly<kInverse>(x, r[(g << (kBit + 1)) + j + (1 << kBit)], w, q);
        if (scales) x = shoup_multiply_lazy(x, table[0].value, table[0].quotient, q);
      }
    }
  }

  /// Levels of the tile that pair upper bits of a place; the inverse takes them backwards.
  template <int kStep = 0>
  __device__ __forceinline__ void take_top(Word (&r)[kValues]) const {
    if constexpr (kStep < kTopLog) {
      constexpr int kBit = kInverse ? kStep : kTopLog - 1 - kStep, kLevel = kTopLog - 1 - kBit;
      if (kLevel >= from && kLevel < past) take<kBit>(r, kLevel, 0);
      take_top<kStep + 1>(r);
    }
  }

  /// Those that pair lower bits.
  template <int kStep = 0>
  __device__ __forceinline__ void take_bottom(Word (&r)[kValues]) const {
    if constexpr (kStep < kBottomLog) {
      constexpr int kBit = kInverse ? kStep : kBottomLog - 1 - kStep, kLevel = kTileLog - 1 - kBit;
      if (kLevel >= from && kLevel < past) take<kBit>(r, kLevel, thread * kValues);
      take_bottom<kStep + 1>(r);
    }
  }

  /// To [0, q), from the bounds that a transform ends with.
  __device__ __forceinline__ void reduce(Word (&r)[kValues]) const {
#pragma unroll
    for (int j = 0; j < kValues; ++j) {
      if (!kInverse && kWordBits<Word> == 64) r[j] = reduce_once<Word>(r[j], 2 * q);
      r[j] = reduce_once(r[j], q);
    }
  }
};

// Load and Store say what a pass reads and writes: row(NttRow) gives a function of a position, and
// of a position and a word; skips(NttRow) says that a row has no work. A function is written out
// for every register where kAtOnce is 0; a long one is called in a loop, through the thread's own
// words of shared memory, and written out as often as kAtOnce says.

/// r[j] = read(j), by way of cell(j).
template <int kAtOnce, class Word, int kValues, class Read, class Cell>
__device__ __forceinline__ void take_in(Word (&r)[kValues], const Read& read, const Cell& cell) {
  if constexpr (kAtOnce > 0) {
#pragma unroll kAtOnce
    for (int j = 0; j < kValues; ++j) cell(j) = read(j);
  }
#pragma unroll
  for (int j = 0; j < kValues; ++j) r[j] = kAtOnce > 0 ? cell(j) : read(j);
}

/// write(j, r[j]), likewise.
template <int kAtOnce, class Word, int kValues, class Write, class Cell>
__device__ __forceinline__ void put_down(const Word (&r)[kValues], const Write& write,
                                         const Cell& cell) {
#pragma unroll
  for (int j = 0; j < kValues; ++j) {
    if constexpr (kAtOnce > 0)
      cell(j) = r[j];
    else
      write(j, r[j]);
  }
  if constexpr (kAtOnce > 0) {
#pragma unroll kAtOnce
    for (int j = 0; j < kValues; ++j) write(j, cell(j));
  }
}

// How many blocks a multiprocessor holds at least is said, as the compiler would spill for more.

/// Contiguous tiles, blockDim = (kThreads, tiles of a block). Reading and writing are in the top
/// layout, where a half-warp's words are neighbours.
template <class Word, bool kInverse, class Load, class Store>
__global__ void __launch_bounds__(128, 4)
    ntt_contiguous(const NttPass<Word> pass, const Load load, const Store store) {
  constexpr int kTileLog = 8;
  using Tile = NttTile<Word, kTileLog, kInverse>;
  constexpr u32 kRow = Tile::kThreads * (Tile::kValues + 1);  // shared words: a gap a bottom thread
  Word* const shared = shared_memory<Word>();

  const NttRow row = row_of_block(pass);
  if (load.skips(row) || store.skips(row)) return;
  const u32 degree = 1u << pass.log_degree;
  const TwiddlePair<Word>* table = pass.twiddles + row.limb * pass.twiddle_stride;
  const int base = pass.log_degree - kTileLog;
  const Tile tile = {table,
                     table[modulus_pair(degree)].value,
                     pass.log_degree,
                     base,
                     pass.first - base,
                     pass.first + pass.levels - base,
                     blockIdx.x * blockDim.y + threadIdx.y,
                     threadIdx.x};
  Word* own = shared + threadIdx.y * kRow;
  const auto read = load.row(row);
  const auto write = store.row(row);

  const auto top = [&](int j) -> Word& { return own[j * (Tile::kThreads + 1) + tile.thread]; };
  const auto bottom = [&](int j) -> Word& { return own[tile.thread * (Tile::kValues + 1) + j]; };
  const auto position = [&](int j) { return (tile.unit << kTileLog) + tile.top_place(j); };

  Word r[Tile::kValues];
  take_in<Load::kAtOnce>(
      r, [&](int j) { return position(j) < degree ? read(position(j)) : 0; }, top);
  if constexpr (!kInverse) tile.take_top(r);
#pragma unroll
  for (int j = 0; j < Tile::kValues; ++j) top(j) = r[j];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < Tile::kValues; ++j) r[j] = bottom(j);
  tile.take_bottom(r);
#pragma unroll
  for (int j = 0; j < Tile::kValues; ++j) bottom(j) = r[j];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < Tile::kValues; ++j) r[j] = top(j);
  if constexpr (kInverse) tile.take_top(r);
  if (tile.ends_transform()) tile.reduce(r);
  const auto write_inside = [&](int j, Word x) {
    if (position(j) < degree) write(position(j), x);
  };
  put_down<Store::kAtOnce>(r, write_inside, top);
}

/// Strided tiles, blockDim = (columns of a group, kThreads).
template <class Word, int kTileLog, bool kInverse, class Load, class Store>
__global__ void __launch_bounds__(kTileLog == 8 ? 256 : 128, 2)
    ntt_strided(const NttPass<Word> pass, const Load load, const Store store) {
  using Tile = NttTile<Word, kTileLog, kInverse>;
  Word* const shared = shared_memory<Word>();

  const NttRow row = row_of_block(pass);
  if (load.skips(row) || store.skips(row)) return;
  const u32 degree = 1u << pass.log_degree;
  const TwiddlePair<Word>* table = pass.twiddles + row.limb * pass.twiddle_stride;
  const int idle = kTileLog - pass.levels;  // lower bits of a place that are no row but a column
  const u32 stride = degree >> (pass.first + pass.levels);
  const u32 columns = blockDim.x << idle, tiles = stride / columns;
  const Tile tile = {table,
                     table[modulus_pair(degree)].value,
                     pass.log_degree,
                     pass.first,
                     0,
                     pass.levels,
                     blockIdx.x / tiles,
                     threadIdx.y};
  const u32 first =
      tile.unit * (stride << pass.levels) + blockIdx.x % tiles * columns + threadIdx.x;
  const auto position = [&](u32 place) {
    return first + (place >> idle) * stride + (place & ((1u << idle) - 1)) * blockDim.x;
  };
  const auto at = [&](u32 place) -> Word& { return shared[place * blockDim.x + threadIdx.x]; };
  const auto read = load.row(row);
  const auto write = store.row(row);

  Word r[Tile::kValues];
  const auto exchange = [&](auto from, auto to) {
#pragma unroll
    for (int j = 0; j < Tile::kValues; ++j) at(from(j)) = r[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < Tile::kValues; ++j) r[j] = at(to(j));
  };
  const auto top = [&](int j) { return tile.top_place(j); };
  const auto bottom = [&](int j) { return tile.bottom_place(j); };
  const auto read_from = [&](auto place) {
    take_in<Load::kAtOnce>(
        r, [&](int j) { return read(position(place(j))); },
        [&](int j) -> Word& { return at(place(j)); });
  };
  const auto write_to = [&](auto place) {
    if (tile.ends_transform()) tile.reduce(r);
    put_down<Store::kAtOnce>(
        r, [&](int j, Word x) { write(position(place(j)), x); },
        [&](int j) -> Word& { return at(place(j)); });
  };
  if constexpr (kInverse) {
    read_from(bottom);
    tile.take_bottom(r);
    exchange(bottom, top);
    tile.take_top(r);
    write_to(top);
  } else {
    read_from(top);
    tile.take_top(r);
    exchange(top, bottom);
    tile.take_bottom(r);
    write_to(bottom);
  }
}

}  // namespace fhelium
