// Inverse NTT on vectors: x, y -> x + y, (x - y) / w up the tree of twiddles. The mirror's twiddle
// is -1 / w, so the product is of y - x (see the layout).
//
// Sums double the bound of a lazy value, so each register carries its bound, a number of q, while
// the levels unroll: what would pass kBound is reduced first, what a pass leaves above kKept is
// reduced before it is stored. All of that is decided at compile time.
#pragma once
#include "ntt/layout.h"

namespace fhelium {
namespace {

template <class A, int kBound>
struct Inverse {
  using Vector = typename A::Vector;
  using Layout = NttLayout<A::kLanes, A::kWords>;
  // A pass that starts from twice kProduct leaves fewer values to reduce, if there is room for it.
  static constexpr int kKept = kBound >= 8 && A::kProduct <= 2 ? 2 * A::kProduct : A::kProduct;

  A a;
  typename A::Multiples multiples;

  FHELIUM_METHOD explicit Inverse(const Modulus<u64>& m) : a(m), multiples(m) {}

  FHELIUM_METHOD void reduce(Vector& x, int& bound) const {
    if (bound <= A::kProduct) return;
    x = a.reduce(x, bound);
    bound = A::kProduct;
  }

  /// The level whose operands stand `half` rows apart; bounds are powers of two.
  template <int kRows, class Twiddles>
  FHELIUM_METHOD void level(Vector* v, int* bounds, int half, const Twiddles& twiddles) const {
    const int groups = kRows / (2 * half);
    FHELIUM_UNROLL
    for (int group = 0; group < groups; ++group) {
      const auto w = twiddles(2 * groups - 2 - group);
      FHELIUM_UNROLL
      for (int i = 2 * half * group; i < 2 * half * group + half; ++i) {
        Vector &x = v[i], &y = v[i + half];
        int &x_bound = bounds[i], &y_bound = bounds[i + half];
        if (x_bound + y_bound > kBound) {
          reduce(x, x_bound);
          reduce(y, y_bound);
        }
        const Vector sum = A::add(x, y);
        y = a.product(a.difference(y, x, multiples, x_bound), w);
        x = sum;
        x_bound += y_bound;
        y_bound = A::kProduct;
      }
    }
  }

  template <int kRows>
  FHELIUM_METHOD void settle(Vector* v, int* bounds) const {
    FHELIUM_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (bounds[i] > kKept) reduce(v[i], bounds[i]);
      bounds[i] = kKept;
    }
  }

  /// kLog levels over a block of n words; kLast: with N^-1 and the way to [0, q).
  template <int kLog, bool kLast>
  FHELIUM_METHOD void pass(u64* x, i64 n, const u64* nodes, const u64* table) const {
    constexpr int kRows = 1 << kLog;
    const Inverse self = *this;  // in registers: a store could alias *this
    typename A::Twiddle twiddles[kRows];
    FHELIUM_UNROLL
    for (int k = 0; k < kRows - 1; ++k) twiddles[k] = a.twiddle_spread(nodes + A::kWords * k);
    if (kLast) {
      twiddles[0] = a.twiddle_spread(table + kScaledRoot);
      twiddles[kRows - 1] = a.twiddle_spread(table + kScale);
    }
    const i64 stride = n >> kLog;
    for (i64 j = 0; j < stride; j += A::kLanes) {
      Vector v[kRows];
      int bounds[kRows];
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) {
        v[i] = A::load(x + i * stride + j);
        bounds[i] = kKept;
      }
      FHELIUM_UNROLL
      for (int log = 0; log < kLog; ++log)
        self.template level<kRows>(v, bounds, 1 << log, [&](int k) { return twiddles[k]; });
      if (kLast) {
        FHELIUM_UNROLL
        for (int i = 0; i < kRows / 2; ++i) v[i] = self.a.product(v[i], twiddles[kRows - 1]);
        FHELIUM_UNROLL
        for (int i = 0; i < kRows; ++i)
          self.a.store_residues(x + i * stride + j, self.a.finish_product(v[i]));
      } else {
        self.template settle<kRows>(v, bounds);
        FHELIUM_UNROLL
        for (int i = 0; i < kRows; ++i) A::store(x + i * stride + j, v[i]);
      }
    }
  }

  template <bool kLast>
  void pass_of(int log, u64* x, i64 n, const u64* nodes, const u64* table) const {
    switch (log) {
      case 1: return pass<1, kLast>(x, n, nodes, table);
      case 2: return pass<2, kLast>(x, n, nodes, table);
      case 3: return pass<3, kLast>(x, n, nodes, table);
      default: return pass<4, kLast>(x, n, nodes, table);
    }
  }

  /// The levels of `count` blocks in registers; `table` is the first block's mirror.
  void blocks(u64* out, const u64* in, i64 count, const u64* table, const u64* next) const {
    constexpr i64 kWords = A::kTogether * Layout::kBlock;
    for (; count >= A::kTogether; count -= A::kTogether) {
      next = some_blocks<A::kTogether>(out, in, table, next);
      out += kWords, in += kWords, table -= A::kWords * kWords;
    }
    for (; count > 0; --count) {
      next = some_blocks<1>(out, in, table, next);
      out += Layout::kBlock, in += Layout::kBlock, table -= A::kWords * Layout::kBlock;
    }
  }

  /// Several blocks, level by level: one alone would wait for its own products.
  template <int kBlocks>
  FHELIUM_METHOD const u64* some_blocks(u64* out, const u64* in, const u64* table,
                                        const u64* next) const {
    const Inverse self = *this;
    constexpr i64 kTable = A::kWords * Layout::kBlock;
    Vector v[kBlocks][8], rows[kBlocks][8];
    int bounds[kBlocks][8];
    FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b) {
      prefetch_soon<kTable>(table - kTable * (b + kPrefetchBlocks));
      next = prefetch_later<Layout::kBlock>(next);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) {  // row 7 - i of the mirror is row i
        v[b][i] = self.a.load_residues(in + Layout::kBlock * b + A::kLanes * (7 - i));
        bounds[b][i] = 1;
      }
    }
    FHELIUM_UNROLL
    for (int first = 0; first < 8; first += A::kLanes) {
      const int vectors = first / A::kLanes * (A::kLanes - 1);
      FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b) A::transpose(v[b] + first);
      FHELIUM_UNROLL
      for (int log = 0; log < Layout::kRowLevels; ++log) FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        self.template level<A::kLanes>(v[b] + first, bounds[b] + first, 1 << log, [&](int k) {
          return self.a.twiddle_load(table - kTable * b +
                                     A::kWords * Layout::vector_offset(vectors + k));
        });
      FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        self.template settle<A::kLanes>(v[b] + first, bounds[b] + first);
        A::transpose(v[b] + first);
      }
    }
    FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b) FHELIUM_UNROLL
    for (int i = 0; i < 8; ++i) rows[b][i] = v[b][7 - i];
    FHELIUM_UNROLL
    for (int log = 0; log < 3; ++log) FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b)
      self.template level<8>(rows[b], bounds[b], 1 << log, [&](int k) {
        return self.a.twiddle_spread(table - kTable * b + A::kWords * k);
      });
    FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b) {
      self.template settle<8>(rows[b], bounds[b]);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) A::store(out + Layout::kBlock * b + A::kLanes * i, rows[b][i]);
    }
    return next;
  }

  /// What precedes pass number `pass` over block `index` of n words: depth first, to stay in cache.
  void below(u64* out, const u64* in, i64 n, int pass, i64 index, const Layout& layout,
             const u64* table, const u64* next) const {
    if (pass + 1 == layout.plan.passes) {
      const i64 mirror = layout.degree / Layout::kBlock - 1 - index * (n / Layout::kBlock);
      if (next != nullptr) next += index * n;
      return blocks(out, in, n / Layout::kBlock, table + layout.block_offset(mirror), next);
    }
    const int log = layout.plan.radix_log[pass], child_log = layout.plan.radix_log[pass + 1];
    const i64 size = n >> log, last = layout.degree / size - 1;
    for (i64 c = 0; c < 1 << log; ++c) {
      const i64 child = (index << log) + c;
      below(out + c * size, in + c * size, size, pass + 1, child, layout, table, next);
      const u64* nodes = table + layout.pass_offset(size, last - child, child_log);
      pass_of<false>(child_log, out + c * size, size, nodes, table);
    }
  }
};

template <class A, int kBound>
void inverse_row(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                 const Modulus<u64>& m, const u64* next) {
  if (step != 1) {
    for (i64 k = 0; k < degree; ++k) out[k] = in[k * step];
    in = out;
  }
  const Inverse<A, kBound> inverse(m);
  const typename Inverse<A, kBound>::Layout layout(degree);
  inverse.below(out, in, degree, 0, 0, layout, table, next);
  const int log = layout.plan.radix_log[0];
  const u64* nodes = table + layout.pass_offset(degree, 0, log);
  inverse.template pass_of<true>(log, out, degree, nodes, table);
}

}  // namespace
}  // namespace fhelium
