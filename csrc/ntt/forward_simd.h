// Forward NTT on vectors: x, y -> x + w y, x - w y down the tree of twiddles. The arithmetic A says
// what a vector is, how far a lazy value may go and how a product is taken.
//
// A level adds a product to either side of a value. Where values are unsigned they need room below
// as well: kNever lifts x once, in the first level, by what all levels may subtract; kPass, in the
// first of each three levels, reduces x and lifts it by three products; kLevel reduces x in each
// level and lifts x - w y by one product.
#pragma once
#include "ntt/layout.h"

namespace fhelium {
namespace {

enum class Reduce { kNever, kPass, kLevel };

template <class A, Reduce kReduce>
struct Forward {
  using Vector = typename A::Vector;
  using Layout = NttLayout<A::kLanes, A::kWords>;

  A a;
  typename A::Lift lift;

  FHELIUM_METHOD Forward(const Modulus<u64>& m, i64 degree)
      : a(m),
        lift(m, kReduce == Reduce::kNever  ? exact_log2(degree) + 1
                : kReduce == Reduce::kPass ? 3
                                           : 1) {}

  /// One level over kRows rows in registers; `twiddles` counts the nodes of a pass.
  template <int kRows, bool kFirst, class Twiddles>
  FHELIUM_METHOD void level(Vector* v, int depth, const Twiddles& twiddles) const {
    const int half = kRows >> (depth + 1);
    const bool fresh = kFirst && depth == 0;  // x < q
    FHELIUM_UNROLL
    for (int group = 0; group < 1 << depth; ++group) {
      const auto w = twiddles((1 << depth) - 1 + group);
      FHELIUM_UNROLL
      for (int i = 0; i < half; ++i) {
        Vector& x = v[2 * half * group + i];
        Vector& y = v[2 * half * group + half + i];
        if constexpr (kReduce == Reduce::kLevel) {
          if (!fresh) x = a.reduce(x, 2 * A::kProduct);
          a.butterfly_lifting(x, y, w, lift);
        } else {
          if constexpr (kReduce == Reduce::kPass)
            if (depth % 3 == 0 && !fresh) x = a.reduce_lifted(x, lift);
          if (fresh) x = a.lifted(x, lift);
          a.butterfly(x, y, w);
        }
      }
    }
  }

  /// kLog levels over a block of n words: columns of 2^kLog words, n / 2^kLog apart.
  template <int kLog, bool kFirst>
  FHELIUM_METHOD void pass(u64* out, const u64* in, i64 n, const u64* nodes) const {
    constexpr int kRows = 1 << kLog;
    const Forward self = *this;  // in registers: a store could alias *this
    typename A::Twiddle twiddles[kRows - 1];
    FHELIUM_UNROLL
    for (int k = 0; k < kRows - 1; ++k) twiddles[k] = a.twiddle_spread(nodes + A::kWords * k);
    const i64 stride = n >> kLog;
    for (i64 j = 0; j < stride; j += A::kLanes) {
      Vector v[kRows];
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const u64* p = in + i * stride + j;
        v[i] = kFirst ? self.a.load_residues(p) : A::load(p);
      }
      FHELIUM_UNROLL
      for (int depth = 0; depth < kLog; ++depth)
        self.template level<kRows, kFirst>(v, depth, [&](int k) { return twiddles[k]; });
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) A::store(out + i * stride + j, v[i]);
    }
  }

  template <bool kFirst>
  void pass_of(int log, u64* out, const u64* in, i64 n, const u64* nodes) const {
    switch (log) {
      case 1: return pass<1, kFirst>(out, in, n, nodes);
      case 2: return pass<2, kFirst>(out, in, n, nodes);
      case 3: return pass<3, kFirst>(out, in, n, nodes);
      default: return pass<4, kFirst>(out, in, n, nodes);
    }
  }

  /// The levels of `count` blocks in registers, and the way to [0, q).
  void blocks(u64* x, i64 count, const u64* table, const u64* next) const {
    constexpr i64 kWords = A::kTogether * Layout::kBlock;
    for (; count >= A::kTogether; count -= A::kTogether) {
      next = some_blocks<A::kTogether>(x, table, next);
      x += kWords, table += A::kWords * kWords;
    }
    for (; count > 0; --count) {
      next = some_blocks<1>(x, table, next);
      x += Layout::kBlock, table += A::kWords * Layout::kBlock;
    }
  }

  /// Several blocks, level by level: one alone would wait for its own products.
  template <int kBlocks>
  FHELIUM_METHOD const u64* some_blocks(u64* x, const u64* table, const u64* next) const {
    const Forward self = *this;
    constexpr i64 kTable = A::kWords * Layout::kBlock;
    Vector v[kBlocks][8];
    FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b) {
      prefetch_soon<kTable>(table + kTable * (b + kPrefetchBlocks));
      next = prefetch_later<Layout::kBlock>(next);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) v[b][i] = A::load(x + Layout::kBlock * b + A::kLanes * i);
    }
    FHELIUM_UNROLL
    for (int depth = 0; depth < 3; ++depth) FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b)
      self.template level<8, false>(v[b], depth, [&](int k) {
        return self.a.twiddle_spread(table + kTable * b + A::kWords * k);
      });
    FHELIUM_UNROLL
    for (int first = 0; first < 8; first += A::kLanes) {
      const int vectors = first / A::kLanes * (A::kLanes - 1);
      FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b) A::transpose(v[b] + first);
      FHELIUM_UNROLL
      for (int depth = 0; depth < Layout::kRowLevels; ++depth) FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b)
        self.template level<A::kLanes, false>(v[b] + first, depth, [&](int k) {
          return self.a.twiddle_load(table + kTable * b +
                                     A::kWords * Layout::vector_offset(vectors + k));
        });
      FHELIUM_UNROLL
      for (int b = 0; b < kBlocks; ++b) {
        FHELIUM_UNROLL
        for (int i = first; i < first + A::kLanes; ++i) v[b][i] = self.a.finish(v[b][i]);
        A::transpose(v[b] + first);
      }
    }
    FHELIUM_UNROLL
    for (int b = 0; b < kBlocks; ++b) FHELIUM_UNROLL
    for (int i = 0; i < 8; ++i)
      self.a.store_residues(x + Layout::kBlock * b + A::kLanes * i, v[b][i]);
    return next;
  }

  /// What follows pass number `pass` over block `index` of n words: depth first, to stay in cache.
  void below(u64* x, i64 n, int pass, i64 index, const Layout& layout, const u64* table,
             const u64* next) const {
    if (pass + 1 == layout.plan.passes) {
      const i64 first = index * (n / Layout::kBlock);
      if (next != nullptr) next += index * n;
      return blocks(x, n / Layout::kBlock, table + layout.block_offset(first), next);
    }
    const int log = layout.plan.radix_log[pass], child_log = layout.plan.radix_log[pass + 1];
    const i64 size = n >> log;
    for (i64 c = 0; c < 1 << log; ++c) {
      const i64 child = (index << log) + c;
      u64* part = x + c * size;
      pass_of<false>(child_log, part, part, size,
                     table + layout.pass_offset(size, child, child_log));
      below(part, size, pass + 1, child, layout, table, next);
    }
  }
};

template <class A, Reduce kReduce>
void forward_row(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                 const Modulus<u64>& m, const u64* next) {
  if (step != 1) {
    for (i64 k = 0; k < degree; ++k) out[k] = in[k * step];
    in = out;
  }
  const Forward<A, kReduce> forward(m, degree);
  const typename Forward<A, kReduce>::Layout layout(degree);
  const int log = layout.plan.radix_log[0];
  forward.template pass_of<true>(log, out, in, degree, table + layout.pass_offset(degree, 0, log));
  forward.below(out, degree, 0, 0, layout, table, next);
}

}  // namespace
}  // namespace fhelium
