// The embedding's kernels as a template over the number of lanes. Every lane does the same
// operations in the same order, so all instruction sets give the same bits.
#pragma once
#include "ckks/embedding.h"

namespace fhelium {
namespace {

template <int kLanes>
struct LanesOf {
  typedef double Type __attribute__((vector_size(8 * kLanes)));
};
template <>
struct LanesOf<1> {
  using Type = double;
};
template <int kLanes>
using Lanes = typename LanesOf<kLanes>::Type;

/// A ring of at least kWideSlots slots fills four lanes in every pass, if not eight. Smaller ones
/// go to the portable kernels, with two lanes or one: of single doubles gcc makes fused operations
/// that -ffp-contract=off forbids, where the machine has them.
constexpr i64 kWideSlots = 16;
template <int kLanes>
constexpr int kFewerLanes = kLanes == 8   ? 4
                            : kLanes == 2 ? 1
                                          : kLanes;

template <class V>
FHELIUM_INLINE void load(V& v, const double* p) {
  __builtin_memcpy(&v, p, sizeof(V));
}
template <class V>
FHELIUM_INLINE void store(double* p, const V& v) {
  __builtin_memcpy(p, &v, sizeof(V));
}

/// One radix-4 block on separate real and imaginary planes: four quarters of `quarter` points.
template <int kLanes>
void split_block(double* re, double* im, i64 quarter, const double* w) {
  const double w1 = w[0], v1 = w[1], w2 = w[2], v2 = w[3], w3 = w[4], v3 = w[5];
  for (i64 k = 0; k < quarter; k += kLanes) {
    double *r = re + k, *i = im + k;
    Lanes<kLanes> re0, re1, re2, re3, im0, im1, im2, im3;
    load(re0, r), load(re1, r + quarter), load(re2, r + 2 * quarter), load(re3, r + 3 * quarter);
    load(im0, i), load(im1, i + quarter), load(im2, i + 2 * quarter), load(im3, i + 3 * quarter);
    const Lanes<kLanes> b1 = re1 * w1 - im1 * v1, c1 = re1 * v1 + im1 * w1;
    const Lanes<kLanes> b2 = re2 * w2 - im2 * v2, c2 = re2 * v2 + im2 * w2;
    const Lanes<kLanes> b3 = re3 * w3 - im3 * v3, c3 = re3 * v3 + im3 * w3;
    const Lanes<kLanes> e = re0 + b2, f = re0 - b2, g = b1 + b3, h = b1 - b3;
    const Lanes<kLanes> ei = im0 + c2, fi = im0 - c2, gi = c1 + c3, hi = c1 - c3;
    store(r, e + g), store(i, ei + gi);
    store(r + quarter, e - g), store(i + quarter, ei - gi);
    store(r + 2 * quarter, f - hi), store(i + 2 * quarter, fi + h);
    store(r + 3 * quarter, f + hi), store(i + 3 * quarter, fi - h);
  }
}

/// The inverse of split_block, times 4.
template <int kLanes>
void join_block(double* re, double* im, i64 quarter, const double* w) {
  const double w1 = w[0], v1 = w[1], w2 = w[2], v2 = w[3], w3 = w[4], v3 = w[5];
  for (i64 k = 0; k < quarter; k += kLanes) {
    double *r = re + k, *i = im + k;
    Lanes<kLanes> re0, re1, re2, re3, im0, im1, im2, im3;
    load(re0, r), load(re1, r + quarter), load(re2, r + 2 * quarter), load(re3, r + 3 * quarter);
    load(im0, i), load(im1, i + quarter), load(im2, i + 2 * quarter), load(im3, i + 3 * quarter);
    const Lanes<kLanes> e = re0 + re1, g = re0 - re1, f = re2 + re3, hi = re3 - re2;
    const Lanes<kLanes> ei = im0 + im1, gi = im0 - im1, fi = im2 + im3, h = im2 - im3;
    const Lanes<kLanes> b1 = g + h, b2 = e - f, b3 = g - h;
    const Lanes<kLanes> c1 = gi + hi, c2 = ei - fi, c3 = gi - hi;
    store(r, e + f), store(i, ei + fi);
    store(r + quarter, b1 * w1 + c1 * v1), store(i + quarter, c1 * w1 - b1 * v1);
    store(r + 2 * quarter, b2 * w2 + c2 * v2), store(i + 2 * quarter, c2 * w2 - b2 * v2);
    store(r + 3 * quarter, b3 * w3 + c3 * v3), store(i + 3 * quarter, c3 * w3 - b3 * v3);
  }
}

/// Blocks [first, first + count) of a radix-4 pass.
template <bool kSplit, int kLanes>
void radix4_blocks(double* re, double* im, i64 first, i64 count, i64 length, const double* w) {
  if constexpr (kFewerLanes<kLanes> != kLanes)
    if (length / 4 < kLanes)
      return radix4_blocks<kSplit, kFewerLanes<kLanes>>(re, im, first, count, length, w);
  for (i64 block = first; block < first + count; ++block) {
    double *r = re + block * length, *i = im + block * length;
    const auto transform = kSplit ? split_block<kLanes> : join_block<kLanes>;
    transform(r, i, length / 4, w + block * kPassWidth);
  }
}

/// All passes but the first over one quarter of the points, which the nearest cache holds longer
/// than it would the whole; the first pass has one block.
template <bool kSplit, int kLanes>
void radix4_quarter(double* re, double* im, i64 which, const double* table,
                    const EmbeddingLayout& layout) {
  for (int k = 1; k < layout.passes; ++k) {
    const int pass = kSplit ? k : layout.passes - k;
    const i64 blocks = (i64)1 << (2 * pass);
    const i64 twiddles = layout.slots + kPassWidth * ((blocks - 1) / 3);
    radix4_blocks<kSplit, kLanes>(re, im, which * (blocks / 4), blocks / 4, layout.slots / blocks,
                                  table + twiddles);
  }
}

/// The last kLevels levels of as many blocks as there are lanes: coefficients -> values. Twiddle k
/// of a block is at w[k * stride].
template <int kLevels, class V>
FHELIUM_INLINE void split_points(V* re, V* im, const double* w, i64 stride) {
#pragma GCC unroll 3
  for (int level = 0; level < kLevels; ++level) {
    const int half = 1 << (kLevels - level - 1);
#pragma GCC unroll 4
    for (int factor = 0; factor < 1 << level; ++factor) {
      V c, s;
      load(c, w + (factor & ~1) * stride), load(s, w + ((factor & ~1) + 1) * stride);
#pragma GCC unroll 4
      for (int k = 2 * half * factor; k < 2 * half * factor + half; ++k) {
        V b = re[k + half] * c - im[k + half] * s, d = re[k + half] * s + im[k + half] * c;
        if (factor & 1) {  // the twiddle is i times its neighbour's
          const V swap = b;
          b = -d, d = swap;
        }
        re[k + half] = re[k] - b, im[k + half] = im[k] - d;
        re[k] = re[k] + b, im[k] = im[k] + d;
      }
    }
    w += (level == 0 ? 2 : 1 << level) * stride;
  }
}

/// The inverse of split_points, times 2^kLevels.
template <int kLevels, class V>
FHELIUM_INLINE void join_points(V* re, V* im, const double* w, i64 stride) {
#pragma GCC unroll 3
  for (int level = kLevels - 1; level >= 0; --level) {
    const int half = 1 << (kLevels - level - 1);
    const double* twiddles = w + (level == 0 ? 0 : 1 << level) * stride;
#pragma GCC unroll 4
    for (int factor = 0; factor < 1 << level; ++factor) {
      V c, s;
      load(c, twiddles + (factor & ~1) * stride), load(s, twiddles + ((factor & ~1) + 1) * stride);
#pragma GCC unroll 4
      for (int k = 2 * half * factor; k < 2 * half * factor + half; ++k) {
        V b = re[k] - re[k + half], d = im[k] - im[k + half];
        re[k] = re[k] + re[k + half], im[k] = im[k] + im[k + half];
        if (factor & 1) {
          const V swap = b;
          b = d, d = -swap;
        }
        re[k + half] = b * c + d * s, im[k + half] = d * c - b * s;
      }
    }
  }
}

/// Points that the last pass takes at a time.
constexpr i64 kChunk = 512;

/// Points of whole blocks, one after the other, to or from the order of the table: point k of all
/// blocks of a group together.
template <bool kToGroups, int kPoints>
void regroup(double* grouped, double* points, i64 count, i64 group) {
  for (i64 first = 0; first < count; first += group * kPoints)
    for (i64 lane = 0; lane < group; ++lane)
#pragma GCC unroll 8
      for (i64 k = 0; k < kPoints; ++k) {
        double &inside = grouped[first + k * group + lane],
               &own = points[first + lane * kPoints + k];
        if constexpr (kToGroups)
          inside = own;
        else
          own = inside;
      }
}

/// The slot of a position, its number masked: a wrong table gives wrong values, never a wild
/// access.
template <class Double>
FHELIUM_INLINE Double* slot_at(Double* slots, const double* number, i64 mask) {
  i64 slot;
  __builtin_memcpy(&slot, number, sizeof(slot));
  return slots + 2 * (slot & mask);
}

/// The last levels of all points of a chunk. Lane l of a vector is block l of kLanes neighbours.
template <bool kSplit, int kLevels, int kLanes>
void transform_chunk(double* re, double* im, i64 count, const double* w,
                     const EmbeddingLayout& layout) {
  if constexpr (kFewerLanes<kLanes> != kLanes)
    if (layout.group < kLanes)
      return transform_chunk<kSplit, kLevels, kFewerLanes<kLanes>>(re, im, count, w, layout);
  constexpr int kPoints = 1 << kLevels;
  const i64 group = layout.group;
  for (i64 first = 0; first < count; first += group * kPoints, w += group * layout.last_width)
    for (i64 lane = 0; lane < group; lane += kLanes) {
      double *r = re + first + lane, *i = im + first + lane;
      Lanes<kLanes> x[kPoints], y[kPoints];
#pragma GCC unroll 8
      for (int k = 0; k < kPoints; ++k) load(x[k], r + k * group), load(y[k], i + k * group);
      if constexpr (kSplit)
        split_points<kLevels>(x, y, w + lane, group);
      else
        join_points<kLevels>(x, y, w + lane, group);
#pragma GCC unroll 8
      for (int k = 0; k < kPoints; ++k) store(r + k * group, x[k]), store(i + k * group, y[k]);
    }
}

/// The last pass of to_slots.
template <int kLevels, int kLanes>
void write_slots(double* slots, double* re, double* im, const double* table,
                 const EmbeddingLayout& layout) {
  const i64 count = layout.slots < kChunk ? layout.slots : kChunk;
  const double* w = table + layout.last_offset;
  for (i64 k = 0; k < 2 * layout.slots; ++k) slots[k] = 0;  // a wrong table may leave some out
  for (i64 first = 0; first < layout.slots; first += count) {
    double x[kChunk], y[kChunk];
    regroup<true, 1 << kLevels>(x, re + first, count, layout.group);
    regroup<true, 1 << kLevels>(y, im + first, count, layout.group);
    transform_chunk<true, kLevels, kLanes>(x, y, count, w + (first >> kLevels) * layout.last_width,
                                           layout);
    for (i64 k = 0; k < count; ++k) {
      double* slot = slot_at(slots, table + first + k, layout.slots - 1);
      slot[0] = x[k], slot[1] = y[k];
    }
  }
}

/// The first pass of to_coefficients.
template <int kLevels, int kLanes>
void read_slots(const double* slots, double* re, double* im, const double* table,
                const EmbeddingLayout& layout) {
  const i64 count = layout.slots < kChunk ? layout.slots : kChunk;
  const double* w = table + layout.last_offset;
  const double scale = 1.0 / (double)layout.slots;  // a power of two: exact, and nothing overflows
  for (i64 first = 0; first < layout.slots; first += count) {
    double x[kChunk], y[kChunk];
    for (i64 k = 0; k < count; ++k) {
      const double* slot = slot_at(slots, table + first + k, layout.slots - 1);
      x[k] = slot[0] * scale, y[k] = slot[1] * scale;
    }
    transform_chunk<false, kLevels, kLanes>(x, y, count, w + (first >> kLevels) * layout.last_width,
                                            layout);
    regroup<false, 1 << kLevels>(x, re + first, count, layout.group);
    regroup<false, 1 << kLevels>(y, im + first, count, layout.group);
  }
}

template <bool kSplit, int kLanes, class Slots>
void last_levels(Slots* slots, double* re, double* im, const double* table,
                 const EmbeddingLayout& layout) {
  const auto pass = [&]<int kLevels>() {
    if constexpr (kSplit)
      write_slots<kLevels, kLanes>(slots, re, im, table, layout);
    else
      read_slots<kLevels, kLanes>(slots, re, im, table, layout);
  };
  switch (layout.last_levels) {
    case 0: return pass.template operator()<0>();
    case 1: return pass.template operator()<1>();
    case 2: return pass.template operator()<2>();
    default: return pass.template operator()<3>();
  }
}

template <int kLanes>
void to_slots(double* slots, double* coefficients, double scale, const double* table,
              const EmbeddingLayout& layout) {
  const i64 n = layout.slots;
  if (kLanes > 2 && n < kWideSlots)
    return kEmbeddingKernelsPortable.to_slots(slots, coefficients, scale, table, layout);
  double *re = coefficients, *im = coefficients + n;
  if (scale != 1.0)
    for (i64 k = 0; k < 2 * n; ++k) coefficients[k] /= scale;
  if (layout.passes > 0) {
    radix4_blocks<true, kLanes>(re, im, 0, 1, n, table + n);
    for (i64 k = 0; k < 4; ++k) radix4_quarter<true, kLanes>(re, im, k, table, layout);
  }
  last_levels<true, kLanes>(slots, re, im, table, layout);
}

template <int kLanes>
void to_coefficients(double* coefficients, const double* slots, const double* table,
                     const EmbeddingLayout& layout) {
  const i64 n = layout.slots;
  if (kLanes > 2 && n < kWideSlots)
    return kEmbeddingKernelsPortable.to_coefficients(coefficients, slots, table, layout);
  double *re = coefficients, *im = coefficients + n;
  last_levels<false, kLanes>(slots, re, im, table, layout);
  if (layout.passes == 0) return;
  for (i64 k = 0; k < 4; ++k) radix4_quarter<false, kLanes>(re, im, k, table, layout);
  radix4_blocks<false, kLanes>(re, im, 0, 1, n, table + n);
}

}  // namespace
}  // namespace fhelium
