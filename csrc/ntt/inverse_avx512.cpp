// Inverse NTT on AVX-512: x, y -> x + y, (x - y) / w up the tree of twiddles. The mirror's twiddle
// is -1 / w, so the product is of y - x (see the layout).
//
// Sums double the bound of a lazy value, so each register carries its bound, a number of q, while
// the levels unroll: what would pass kBound is reduced first, what a pass leaves above kKept is
// reduced before it is stored. All of that is decided at compile time.
#include "ntt/avx512.h"
#include "ntt/kernels_avx512.h"
#include "ntt/layout_avx512.h"

namespace fhelium {
namespace {

constexpr int kMultiples = 6;  // q, 2q, .. 32q

template <class A, int kBound>
struct Inverse {
  static constexpr int kKept = kBound < 2 * 4 ? A::kProduct : 4;

  A a;
  Word8 multiples[kMultiples];

  FHELIUM_METHOD explicit Inverse(const Modulus& m) : a(m) {
    FHELIUM_UNROLL
    for (int k = 0; k < kMultiples; ++k) multiples[k] = spread(m.q << k);
  }

  /// Bring a value with the given bound (in q, a power of two) below kProduct q.
  FHELIUM_METHOD void reduce(Word8& x, int& bound) const {
    if (bound <= A::kProduct) return;
    x = a.reduce(x, bound);
    bound = A::kProduct;
  }

  /// The sum, and the difference that is to be multiplied.
  FHELIUM_METHOD void spread_sum(Word8& x, Word8& y, int& x_bound, int& y_bound) const {
    if (x_bound + y_bound > kBound) {
      reduce(x, x_bound);
      reduce(y, y_bound);
    }
    const Word8 sum = add(x, y);
    y = subtract(add(y, multiples[__builtin_ctz(static_cast<unsigned>(x_bound))]), x);
    x = sum;
    x_bound += y_bound;
    y_bound = A::kProduct;
  }

  /// The level whose operands stand `half` rows apart; twiddles in the mirror's order.
  template <int kRows, class Twiddles>
  FHELIUM_METHOD void level(Word8* v, int* bounds, int half, const Twiddles& w) const {
    const int groups = kRows / (2 * half);
    FHELIUM_UNROLL
    for (int group = 0; group < groups; ++group) {
      const Twiddle8 twiddle = w(2 * groups - 2 - group);
      FHELIUM_UNROLL
      for (int i = 0; i < half; ++i) {
        const int x = 2 * half * group + i, y = x + half;
        spread_sum(v[x], v[y], bounds[x], bounds[y]);
        v[y] = a.product(v[y], twiddle);
      }
    }
  }

  template <int kRows>
  FHELIUM_METHOD void settle(Word8* v, int* bounds) const {
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
    Twiddle8 twiddles[kRows];
    FHELIUM_UNROLL
    for (int k = 0; k < kRows - 1; ++k)
      twiddles[k] = a.twiddle_spread(nodes + A::kTwiddleWords * k);
    if (kLast) {
      twiddles[0] = a.twiddle_spread(table + kScaledRoot);
      twiddles[kRows - 1] = a.twiddle_spread(table + kScale);
    }
    const i64 stride = n >> kLog;
    for (i64 j = 0; j < stride; j += 8) {
      Word8 v[kRows];
      int bounds[kRows];
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) {
        v[i] = load(x + i * stride + j);
        bounds[i] = kKept;
      }
      FHELIUM_UNROLL
      for (int log = 0; log < kLog; ++log)
        self.template level<kRows>(v, bounds, 1 << log, [&](int k) { return twiddles[k]; });
      if (kLast) {
        FHELIUM_UNROLL
        for (int i = 0; i < kRows / 2; ++i) v[i] = self.a.product(v[i], twiddles[kRows - 1]);
        FHELIUM_UNROLL
        for (int i = 0; i < kRows; ++i) v[i] = self.a.finish_product(v[i]);
      } else {
        self.template settle<kRows>(v, bounds);
      }
      FHELIUM_UNROLL
      for (int i = 0; i < kRows; ++i) store(x + i * stride + j, v[i]);
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

  /// The first six levels of `count` blocks of 64 words; `table` is the first block's mirror.
  void blocks(u64* out, const u64* in, i64 count, const u64* table, const u64* next) const {
    constexpr int kWords = A::kTwiddleWords;
    const Inverse self = *this;
    for (; count > 0; --count, out += kBlockWords, in += kBlockWords) {
      for (int k = 0; k < kWords; ++k)
        prefetch_soon(table + (k - kWords * kPrefetchBlocks) * kBlockWords);
      next = prefetch_later(next);
      Word8 v[8], rows[8];
      int bounds[8];
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) {
        v[i] = load(in + 8 * (7 - i));  // lane i of the mirror's vectors serves row 7 - i
        bounds[i] = 1;
      }
      transpose(v);
      FHELIUM_UNROLL
      for (int log = 0; log < 3; ++log)
        self.template level<8>(v, bounds, 1 << log, [&](int k) {
          return self.a.twiddle_load(table + kWords * 8 * (k + 1));
        });
      self.template settle<8>(v, bounds);
      transpose(v);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) rows[i] = v[7 - i];
      FHELIUM_UNROLL
      for (int log = 0; log < 3; ++log)
        self.template level<8>(rows, bounds, 1 << log,
                               [&](int k) { return self.a.twiddle_spread(table + kWords * k); });
      self.template settle<8>(rows, bounds);
      FHELIUM_UNROLL
      for (int i = 0; i < 8; ++i) store(out + 8 * i, rows[i]);
      table -= kWords * kBlockWords;
    }
  }

  /// Everything below a pass over block `index` of n words, then nothing of the pass itself.
  void below(u64* out, const u64* in, i64 n, int pass, i64 index, const NttRow& row,
             const u64* next) const {
    const int log = row.plan.radix_log[pass];
    if (pass + 1 == row.plan.passes) {
      const i64 first = index * (n / kBlockWords);
      const i64 mirror = row.degree / kBlockWords - 1 - first;
      blocks(out, in, n / kBlockWords, row.block(mirror), next ? next + first * kBlockWords : next);
      return;
    }
    const int next_log = row.plan.radix_log[pass + 1];
    const i64 size = n >> log, count = row.degree / size;
    for (i64 c = 0; c < 1 << log; ++c) {
      const i64 child = (index << log) + c;
      below(out + c * size, in + c * size, size, pass + 1, child, row, next);
      pass_of<false>(next_log, out + c * size, size, row.nodes(size, count - 1 - child, next_log),
                     row.table);
    }
  }
};

template <class A, int kBound>
void transform(u64* out, const u64* in, i64 degree, const u64* table, const Modulus& m,
               const u64* next) {
  const NttRow row = {table, degree, A::kTwiddleWords, ntt_plan(degree)};
  const Inverse<A, kBound> inverse(m);
  inverse.below(out, in, degree, 0, 0, row, next);
  const int log = row.plan.radix_log[0];
  inverse.template pass_of<true>(log, out, degree, row.nodes(degree, 0, log), table);
}

}  // namespace

void inverse_avx512(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                    const Modulus& m, const u64* next) {
  const NttPath path = ntt_path(degree, m);
  if (path == NttPath::kPortable)
    return kNttKernelsPortable.inverse(out, in, step, degree, table, m, next);
  if (step != 1) {
    for (i64 k = 0; k < degree; ++k) out[k] = in[k * step];
    in = out;
  }
  switch (path) {
    case NttPath::kNarrowLazy:
      return transform<Narrow, kNarrowLazyBound>(out, in, degree, table, m, next);
    case NttPath::kNarrowPass:
      return transform<Narrow, kNarrowPassBound>(out, in, degree, table, m, next);
    case NttPath::kNarrowLevel:
      return transform<Narrow, kNarrowLevelBound>(out, in, degree, table, m, next);
    case NttPath::kWideLazy:
      return transform<Wide, kWideLazyBound>(out, in, degree, table, m, next);
    default: return transform<Wide, kWideLevelBound>(out, in, degree, table, m, next);
  }
}

}  // namespace fhelium
