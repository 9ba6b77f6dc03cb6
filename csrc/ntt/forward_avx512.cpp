// Forward NTT on AVX-512: x, y -> x + w y, x - w y down the tree of twiddles, eight words a
// register, products by Shoup's quotients (D. Harvey, "Faster arithmetic for number-theoretic
// transforms", 2014).
//
// A level adds a product, below kProduct q, to either side of a value, so a lazy value needs room
// below as well. kNever: the first level adds once and for all what every level may subtract.
// kPass: the first of each three levels brings x below kProduct q and lifts it by three products.
// kLevel: each level reduces x, and lifts x - w y by one product.
#include "ntt/avx512.h"
#include "ntt/kernels_avx512.h"
#include "ntt/layout_avx512.h"

namespace fhelium {
namespace {

enum class Reduce { kNever, kPass, kLevel };

template <class A, Reduce kReduce>
struct Forward {
  A a;
  Word8 lift, minus;

  FHELIUM_METHOD Forward(const Modulus& m, i64 degree) : a(m) {
    const int products = kReduce == Reduce::kNever  ? exact_log2(degree) + 1
                         : kReduce == Reduce::kPass ? 3
                                                    : 1;
    const u64 multiple = static_cast<u64>(products * A::kProduct);
    lift = spread(multiple * m.q);
    minus = spread(0 - multiple);
  }

  /// x as the level at `depth` of a pass needs it; kFirst: the first pass, whose x is below q.
  template <bool kFirst>
  FHELIUM_METHOD Word8 prepare(Word8 x, int depth) const {
    const bool fresh = kFirst && depth == 0;
    if constexpr (kReduce == Reduce::kNever) {
      return fresh ? add(x, lift) : x;
    } else if constexpr (kReduce == Reduce::kPass) {
      if (depth % 3 != 0) return x;
      return fresh ? add(x, lift) : a.reduce_lifted(x, minus);
    } else {
      return fresh ? x : a.reduce(x, 2 * A::kProduct);
    }
  }

  /// One level over kRows rows in registers; w holds the pass's twiddles, level by level.
  template <int kRows, bool kFirst, class Twiddles>
  FHELIUM_METHOD void level(Word8* v, int depth, const Twiddles& w) const {
    const int half = kRows >> (depth + 1);
    FHELIUM_UNROLL
    for (int group = 0; group < 1 << depth; ++group) {
      const Twiddle8 twiddle = w((1 << depth) - 1 + group);
      FHELIUM_UNROLL
      for (int i = 0; i < half; ++i) {
        Word8& x = v[2 * half * group + i];
        Word8& y = v[2 * half * group + half + i];
        const Word8 base = prepare<kFirst>(x, depth);
        const Word8 other = kReduce == Reduce::kLevel ? add(base, lift) : base;
        x = a.add_product(base, y, twiddle);
        y = subtract(add(base, other), x);
      }
    }
  }

  /// kLog levels over a block of n words: columns of 2^kLog words, n / 2^kLog apart.
  template <int kLog, bool kFirst>
  FHELIUM_METHOD void pass(u64* out, const u64* in, i64 n, const u64* nodes) const {
    constexpr int kRows = 1 << kLog;
    const Forward self = *this;  // in registers: a store could alias *this
    Twiddle8 twiddles[kRows - 1];
    FHELIUM_UNROLL
    for (int k = 0; k < kRows - 1; ++k)
      twiddles[k] = a.twiddle_spread(nodes + A::kTwiddleWords * k);
    const i64 stride = n >> kLog;
    for (i64 j = 0; j < stride; j += 8) {
      Word8 v[kRows];
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) v[i] = load(in + i * stride + j);
      FHELIUM_UNROLL
      for (int depth = 0; depth < kLog; ++depth)
        self.template level<kRows, kFirst>(v, depth, [&](int k) { return twiddles[k]; });
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) store(out + i * stride + j, v[i]);
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

  /// The last six levels of `count` blocks of 64 words, and the way to [0, q).
  void blocks(u64* x, i64 count, const u64* table, const u64* next) const {
    constexpr int kWords = A::kTwiddleWords;
    const Forward self = *this;
    for (; count > 0; --count, x += kBlockWords, table += kWords * kBlockWords) {
      for (int k = 0; k < kWords; ++k)
        prefetch_soon(table + (k + kWords * kPrefetchBlocks) * kBlockWords);
      next = prefetch_later(next);
      Word8 v[8];
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) v[i] = load(x + 8 * i);
      FHELIUM_UNROLL
      for (int depth = 0; depth < 3; ++depth)
        self.template level<8, false>(
            v, depth, [&](int k) { return self.a.twiddle_spread(table + kWords * k); });
      transpose(v);
      FHELIUM_UNROLL
      for (int depth = 0; depth < 3; ++depth)
        self.template level<8, false>(
            v, depth, [&](int k) { return self.a.twiddle_load(table + kWords * 8 * (k + 1)); });
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) v[i] = self.a.finish(v[i]);
      transpose(v);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) store(x + 8 * i, v[i]);
    }
  }

  /// What follows a pass over block `index` of n words: depth first, so that it stays in cache.
  void below(u64* x, i64 n, int pass, i64 index, const NttRow& row, const u64* next) const {
    const int log = row.plan.radix_log[pass];
    if (pass + 1 == row.plan.passes) {
      const i64 first = index * (n / kBlockWords);
      blocks(x, n / kBlockWords, row.block(first), next ? next + first * kBlockWords : next);
      return;
    }
    const int next_log = row.plan.radix_log[pass + 1];
    const i64 size = n >> log;
    for (i64 c = 0; c < 1 << log; ++c) {
      const i64 child = (index << log) + c;
      pass_of<false>(next_log, x + c * size, x + c * size, size, row.nodes(size, child, next_log));
      below(x + c * size, size, pass + 1, child, row, next);
    }
  }
};

template <class A, Reduce kReduce>
void transform(u64* out, const u64* in, i64 degree, const u64* table, const Modulus& m,
               const u64* next) {
  const NttRow row = {table, degree, A::kTwiddleWords, ntt_plan(degree)};
  const Forward<A, kReduce> forward(m, degree);
  const int log = row.plan.radix_log[0];
  forward.template pass_of<true>(log, out, in, degree, row.nodes(degree, 0, log));
  forward.below(out, degree, 0, 0, row, next);
}

}  // namespace

void forward_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus& m, const u64* next) {
  const NttPath path = ntt_path(degree, m);
  if (path == NttPath::kPortable)
    return kNttKernelsPortable.forward(out, in, step, degree, table, m, next);
  if (step != 1) {
    for (i64 k = 0; k < degree; ++k) out[k] = in[k * step];
    in = out;
  }
  switch (path) {
    case NttPath::kNarrowLazy:
      return transform<Narrow, Reduce::kNever>(out, in, degree, table, m, next);
    case NttPath::kNarrowPass:
      return transform<Narrow, Reduce::kPass>(out, in, degree, table, m, next);
    case NttPath::kNarrowLevel:
      return transform<Narrow, Reduce::kLevel>(out, in, degree, table, m, next);
    case NttPath::kWideLazy:
      return transform<Wide, Reduce::kNever>(out, in, degree, table, m, next);
    default: return transform<Wide, Reduce::kLevel>(out, in, degree, table, m, next);
  }
}

}  // namespace fhelium
