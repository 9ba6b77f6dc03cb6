#include "ckks/embedding.h"

namespace fhelium {
namespace {

/// One radix-4 block on separate real and imaginary planes: four quarters of `quarter` points.
void split_block(double* __restrict re0, double* __restrict re1, double* __restrict re2,
                 double* __restrict re3, double* __restrict im0, double* __restrict im1,
                 double* __restrict im2, double* __restrict im3, i64 quarter, const double* w) {
  const double w1 = w[0], v1 = w[1], w2 = w[2], v2 = w[3], w3 = w[4], v3 = w[5];
  for (i64 k = 0; k < quarter; ++k) {
    const double b1 = re1[k] * w1 - im1[k] * v1, c1 = re1[k] * v1 + im1[k] * w1;
    const double b2 = re2[k] * w2 - im2[k] * v2, c2 = re2[k] * v2 + im2[k] * w2;
    const double b3 = re3[k] * w3 - im3[k] * v3, c3 = re3[k] * v3 + im3[k] * w3;
    const double e = re0[k] + b2, f = re0[k] - b2, g = b1 + b3, h = b1 - b3;
    const double ei = im0[k] + c2, fi = im0[k] - c2, gi = c1 + c3, hi = c1 - c3;
    re0[k] = e + g, im0[k] = ei + gi;
    re1[k] = e - g, im1[k] = ei - gi;
    re2[k] = f - hi, im2[k] = fi + h;
    re3[k] = f + hi, im3[k] = fi - h;
  }
}

/// The inverse of split_block, times 4.
void join_block(double* __restrict re0, double* __restrict re1, double* __restrict re2,
                double* __restrict re3, double* __restrict im0, double* __restrict im1,
                double* __restrict im2, double* __restrict im3, i64 quarter, const double* w) {
  const double w1 = w[0], v1 = w[1], w2 = w[2], v2 = w[3], w3 = w[4], v3 = w[5];
  for (i64 k = 0; k < quarter; ++k) {
    const double e = re0[k] + re1[k], g = re0[k] - re1[k];
    const double f = re2[k] + re3[k], hi = re3[k] - re2[k];
    const double ei = im0[k] + im1[k], gi = im0[k] - im1[k];
    const double fi = im2[k] + im3[k], h = im2[k] - im3[k];
    const double b1 = g + h, b2 = e - f, b3 = g - h;
    const double c1 = gi + hi, c2 = ei - fi, c3 = gi - hi;
    re0[k] = e + f, im0[k] = ei + fi;
    re1[k] = b1 * w1 + c1 * v1, im1[k] = c1 * w1 - b1 * v1;
    re2[k] = b2 * w2 + c2 * v2, im2[k] = c2 * w2 - b2 * v2;
    re3[k] = b3 * w3 + c3 * v3, im3[k] = c3 * w3 - b3 * v3;
  }
}

template <auto kBlock>
void radix4_pass(double* re, double* im, i64 slots, int pass, const double* twiddles) {
  const i64 blocks = (i64)1 << (2 * pass), length = slots >> (2 * pass), quarter = length / 4;
  for (i64 block = 0; block < blocks; ++block) {
    double *r = re + block * length, *i = im + block * length;
    kBlock(r, r + quarter, r + 2 * quarter, r + 3 * quarter, i, i + quarter, i + 2 * quarter,
           i + 3 * quarter, quarter, twiddles + block * kPassWidth);
  }
}

/// The last kLevels levels of one block, in registers: coefficients -> values.
template <int kLevels>
FHELIUM_INLINE void split_points(double* re, double* im, const double* w) {
#pragma GCC unroll 3
  for (int level = 0; level < kLevels; ++level) {
    const int half = 1 << (kLevels - level - 1);
#pragma GCC unroll 4
    for (int factor = 0; factor < 1 << level; ++factor) {
      const double c = w[factor & ~1], s = w[(factor & ~1) + 1];
#pragma GCC unroll 4
      for (int k = 2 * half * factor; k < 2 * half * factor + half; ++k) {
        double b = re[k + half] * c - im[k + half] * s, d = re[k + half] * s + im[k + half] * c;
        if (factor & 1) {  // the twiddle is i times its neighbour's
          const double swap = b;
          b = -d, d = swap;
        }
        re[k + half] = re[k] - b, im[k + half] = im[k] - d;
        re[k] = re[k] + b, im[k] = im[k] + d;
      }
    }
    w += level == 0 ? 2 : 1 << level;
  }
}

/// The inverse of split_points, times 2^kLevels.
template <int kLevels>
FHELIUM_INLINE void join_points(double* re, double* im, const double* w) {
#pragma GCC unroll 3
  for (int level = kLevels - 1; level >= 0; --level) {
    const int half = 1 << (kLevels - level - 1);
    const double* twiddles = w + (level == 0 ? 0 : 1 << level);
#pragma GCC unroll 4
    for (int factor = 0; factor < 1 << level; ++factor) {
      const double c = twiddles[factor & ~1], s = twiddles[(factor & ~1) + 1];
#pragma GCC unroll 4
      for (int k = 2 * half * factor; k < 2 * half * factor + half; ++k) {
        double b = re[k] - re[k + half], d = im[k] - im[k + half];
        re[k] = re[k] + re[k + half], im[k] = im[k] + im[k + half];
        if (factor & 1) {
          const double swap = b;
          b = d, d = -swap;
        }
        re[k + half] = b * c + d * s, im[k + half] = d * c - b * s;
      }
    }
  }
}

/// The masked slot number of a position: a wrong table gives wrong values, never a wild access.
FHELIUM_INLINE i64 slot_at(const double* table, i64 position, i64 mask) {
  i64 slot;
  __builtin_memcpy(&slot, table + position, sizeof(slot));
  return slot & mask;
}

template <int kLevels>
void write_slots(double* slots, const double* re, const double* im, const double* table,
                 const EmbeddingLayout& layout) {
  constexpr int kPoints = 1 << kLevels;
  const double* w = table + layout.last_offset;
  for (i64 first = 0; first < layout.slots; first += kPoints, w += layout.last_width) {
    double r[kPoints], i[kPoints];
#pragma GCC unroll 8
    for (int k = 0; k < kPoints; ++k) r[k] = re[first + k], i[k] = im[first + k];
    split_points<kLevels>(r, i, w);
#pragma GCC unroll 8
    for (int k = 0; k < kPoints; ++k) {
      double* slot = slots + 2 * slot_at(table, first + k, layout.slots - 1);
      slot[0] = r[k], slot[1] = i[k];
    }
  }
}

template <int kLevels>
void read_slots(double* re, double* im, const double* slots, const double* table,
                const EmbeddingLayout& layout) {
  constexpr int kPoints = 1 << kLevels;
  const double* w = table + layout.last_offset;
  const double scale = 1.0 / (double)layout.slots;  // a power of two: exact, and nothing overflows
  for (i64 first = 0; first < layout.slots; first += kPoints, w += layout.last_width) {
    double r[kPoints], i[kPoints];
#pragma GCC unroll 8
    for (int k = 0; k < kPoints; ++k) {
      const double* slot = slots + 2 * slot_at(table, first + k, layout.slots - 1);
      r[k] = slot[0] * scale, i[k] = slot[1] * scale;
    }
    join_points<kLevels>(r, i, w);
#pragma GCC unroll 8
    for (int k = 0; k < kPoints; ++k) re[first + k] = r[k], im[first + k] = i[k];
  }
}

void to_slots(double* slots, double* scratch, const double* coefficients, const double* table,
              const EmbeddingLayout& layout) {
  const i64 n = layout.slots;
  double *re = scratch, *im = scratch + n;
  __builtin_memcpy(scratch, coefficients, (u64)(2 * n) * sizeof(double));
  const double* twiddles = table + n;
  for (int pass = 0; pass < layout.passes; ++pass) {
    radix4_pass<split_block>(re, im, n, pass, twiddles);
    twiddles += kPassWidth << (2 * pass);
  }
  switch (layout.last_levels) {
    case 0: return write_slots<0>(slots, re, im, table, layout);
    case 1: return write_slots<1>(slots, re, im, table, layout);
    case 2: return write_slots<2>(slots, re, im, table, layout);
    default: return write_slots<3>(slots, re, im, table, layout);
  }
}

void to_coefficients(double* coefficients, const double* slots, const double* table,
                     const EmbeddingLayout& layout) {
  const i64 n = layout.slots;
  double *re = coefficients, *im = coefficients + n;
  switch (layout.last_levels) {
    case 0: read_slots<0>(re, im, slots, table, layout); break;
    case 1: read_slots<1>(re, im, slots, table, layout); break;
    case 2: read_slots<2>(re, im, slots, table, layout); break;
    default: read_slots<3>(re, im, slots, table, layout); break;
  }
  const double* twiddles = table + layout.last_offset;
  for (int pass = layout.passes - 1; pass >= 0; --pass) {
    twiddles -= kPassWidth << (2 * pass);
    radix4_pass<join_block>(re, im, n, pass, twiddles);
  }
}

}  // namespace

const EmbeddingKernels kEmbeddingKernelsPortable = {to_slots, to_coefficients};

}  // namespace fhelium
