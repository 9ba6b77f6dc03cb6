// Portable NTT: lazy butterflies on Shoup quotients (D. Harvey, "Faster arithmetic for
// number-theoretic transforms", 2014), two levels a pass, depth first so that blocks stay in L1.
//
// The twiddles form a binary tree: node r = m + i is psi^bitrev(r), block i of the level with m
// blocks uses it, and the two halves of that block continue at nodes 2r and 2r + 1. Only the Shoup
// quotient floor(w 2^b / q) is stored, b the bits of a word: w = hi(quotient q) + 1, the high word,
// as q does not divide w 2^b.
// The inverse transform reads the same words: psi^-bitrev(m + i) = -psi^bitrev(m + (m - 1 - i)),
// and that sign moves into the difference it multiplies.
//
// How far values stray from [0, q) between two levels decides what a butterfly costs:
//   kLazy     no reduction between the levels. Forward, a level adds less than 2q to the bound, so
//             (2 log2 N + 1) q must fit the word; inverse, a level doubles it, so N q must.
//   kDoubled  values below 4q on the way forward and below 2q on the way back: 4q must fit.
//   kReduced  values below q: for 32-bit words with q above 2^30.
#include "common/number_theory.h"
#include "ntt/kernels.h"

namespace fhelium {
namespace {

enum Range { kLazy, kDoubled, kReduced };

template <class Word>
constexpr NttTableFormat kFormat = kWordBits<Word> == 32 ? kFormatPortable32 : kFormatPortable64;

// Behind the header a table holds one quotient a node. Words of this format behind the common
// header: Shoup quotients of ...
constexpr int kScale = kTableDegree + 1;  // N^-1
constexpr int kScaledRoot = kScale + 1;   // N^-1 psi^(N/2)
// Words worked level by level: 16 KiB, half of a small L1.
template <class Word>
constexpr i64 kBlock = 16384 / sizeof(Word);

template <class Word>
struct Twiddle {
  Word value, quotient;
};

template <class Word>
FHELIUM_INLINE Twiddle<Word> unpack(Word quotient, Word q) {
  return {multiply_high(quotient, q) + 1, quotient};
}

/// Any x -> w x in [0, 2q).
template <class Word>
FHELIUM_INLINE Word multiply_lazy(Word x, Twiddle<Word> w, Word q) {
  return shoup_multiply_lazy(x, w.value, w.quotient, q);
}

template <class Word>
FHELIUM_INLINE Word multiply(Word x, Twiddle<Word> w, Word q) {
  return reduce_once(multiply_lazy(x, w, q), q);
}

/// The narrowest of the three ranges that q leaves room for; `lazy` says whether it does for kLazy.
template <class Word>
FHELIUM_INLINE Range range_of(bool lazy, Word q) {
  if (lazy) return kLazy;
  return q >> (kWordBits<Word> - 2) == 0 ? kDoubled : kReduced;
}

// ---- forward -----------------------------------------------------------------------------------

/// x, y -> x + w y, x - w y; from and to [0, 4q) where kDoubled, [0, q) where kReduced.
template <Range kRange, class Word>
FHELIUM_INLINE void forward_butterfly(Word& x, Word& y, Twiddle<Word> w, Word q) {
  if constexpr (kRange == kReduced) {
    const Word a = x, b = multiply(y, w, q);
    x = add_modular(a, b, q);
    y = subtract_modular(a, b, q);
  } else {
    const Word a = kRange == kLazy ? x : reduce_once<Word>(x, 2 * q);
    const Word b = multiply_lazy(y, w, q);
    x = a + b;
    y = a + 2 * q - b;
  }
}

/// The levels of node r and of its children over a block of 4 * quarter words.
template <Range kRange, class Word>
FHELIUM_INLINE void forward_two_levels(Word* out, const Word* in, i64 step, i64 quarter, i64 r,
                                       const Word* nodes, Word q) {
  const Twiddle<Word> top = unpack(nodes[r], q);
  const Twiddle<Word> left = unpack(nodes[2 * r], q), right = unpack(nodes[2 * r + 1], q);
  for (i64 j = 0; j < quarter; ++j) {
    Word a = in[j * step], b = in[(j + quarter) * step];
    Word c = in[(j + 2 * quarter) * step], d = in[(j + 3 * quarter) * step];
    forward_butterfly<kRange>(a, c, top, q);
    forward_butterfly<kRange>(b, d, top, q);
    forward_butterfly<kRange>(a, b, left, q);
    forward_butterfly<kRange>(c, d, right, q);
    out[j] = a;
    out[j + quarter] = b;
    out[j + 2 * quarter] = c;
    out[j + 3 * quarter] = d;
  }
}

/// The last two levels and the reduction to [0, q), on four neighbours.
template <Range kRange, class Word>
FHELIUM_INLINE void forward_last(Word* x, i64 r, const Word* nodes, const Modulus<Word>& m) {
  forward_two_levels<kRange>(x, x, 1, 1, r, nodes, m.q);
  for (int k = 0; k < 4; ++k) {
    if constexpr (kRange == kLazy) x[k] = reduce_word(x[k], m);
    if constexpr (kRange == kDoubled) x[k] = reduce_once(reduce_once<Word>(x[k], 2 * m.q), m.q);
  }
}

/// A block of n words below node r, level after level.
template <Range kRange, class Word>
void forward_block(Word* x, i64 n, i64 r, const Word* nodes, const Modulus<Word>& m) {
  i64 size = n, first = r;  // first: the leftmost node of this level below r
  for (; size > 8; size /= 4, first *= 4)
    for (i64 i = 0; i * size < n; ++i)
      forward_two_levels<kRange>(x + i * size, x + i * size, 1, size / 4, first + i, nodes, m.q);
  if (size == 4) {
    for (i64 i = 0; i * 4 < n; ++i) forward_last<kRange>(x + i * 4, first + i, nodes, m);
    return;
  }
  for (i64 i = 0; i * 8 < n; ++i) {  // an odd number of levels leaves three
    Word* y = x + i * 8;
    const Twiddle<Word> w = unpack(nodes[first + i], m.q);
    for (int j = 0; j < 4; ++j) forward_butterfly<kRange>(y[j], y[j + 4], w, m.q);
    forward_last<kRange>(y, 2 * (first + i), nodes, m);
    forward_last<kRange>(y + 4, 2 * (first + i) + 1, nodes, m);
  }
}

template <Range kRange, class Word>
void forward_below(Word* x, i64 n, i64 r, const Word* nodes, const Modulus<Word>& m) {
  if (n <= kBlock<Word>) return forward_block<kRange>(x, n, r, nodes, m);
  forward_two_levels<kRange>(x, x, 1, n / 4, r, nodes, m.q);
  for (i64 c = 0; c < 4; ++c) forward_below<kRange>(x + c * (n / 4), n / 4, 4 * r + c, nodes, m);
}

template <Range kRange, class Word>
void forward_row(Word* out, const Word* in, i64 step, i64 n, const Word* nodes,
                 const Modulus<Word>& m) {
  if (step == 1)  // a constant step lets the compiler address the four streams directly
    forward_two_levels<kRange>(out, in, 1, n / 4, 1, nodes, m.q);
  else
    forward_two_levels<kRange>(out, in, step, n / 4, 1, nodes, m.q);
  for (i64 c = 0; c < 4; ++c) forward_below<kRange>(out + c * (n / 4), n / 4, 4 + c, nodes, m);
}

/// floor(2^w / q): how many q fit a word.
template <class Word>
FHELIUM_INLINE u64 room(const Modulus<Word>& m) {
  return m.reciprocal >> (64 - kWordBits<Word>);
}

template <class Word>
FHELIUM_INLINE bool forward_may_be_lazy(i64 degree, const Modulus<Word>& m) {
  return room(m) > 2 * static_cast<u64>(exact_log2(degree));
}

template <class Word>
void forward(Word* out, const Word* in, i64 step, i64 degree, const Word* table,
             const Modulus<Word>& m, const Word* /*next*/) {
  const Word* nodes = table + kTableHeaderWords;
  switch (range_of(forward_may_be_lazy(degree, m), m.q)) {
    case kLazy: return forward_row<kLazy>(out, in, step, degree, nodes, m);
    case kDoubled: return forward_row<kDoubled>(out, in, step, degree, nodes, m);
    case kReduced:
      if constexpr (kWordBits<Word> == 32)  // 64-bit words leave 4q below 2^62
        return forward_row<kReduced>(out, in, step, degree, nodes, m);
  }
}

// ---- inverse -----------------------------------------------------------------------------------

/// x, y -> x + y, (y - x) w, operands `half` words apart; from and to [0, 2q) where kDoubled, [0,
/// q) where kReduced; where kLazy from [0, half q) to [0, 2 half q).
template <Range kRange, class Word>
FHELIUM_INLINE void inverse_butterfly(Word& x, Word& y, i64 half, Twiddle<Word> w, Word q) {
  if constexpr (kRange == kReduced) {
    const Word sum = add_modular(x, y, q), difference = y + q - x;
    x = sum;
    y = multiply(difference, w, q);
  } else {
    const Word bound = kRange == kLazy ? static_cast<Word>(half) * q : 2 * q;
    const Word sum = x + y, difference = y + bound - x;
    x = kRange == kLazy ? sum : reduce_once(sum, bound);
    y = multiply_lazy(difference, w, q);
  }
}

/// The levels of the children of a node and of the node itself; `r` is the mirror of that node, the
/// one whose negative is its inverse, and the children's mirrors are r's children in reverse order.
template <Range kRange, class Word>
FHELIUM_INLINE void inverse_two_levels(Word* x, i64 quarter, i64 r, const Word* nodes, Word q) {
  const Twiddle<Word> top = unpack(nodes[r], q);
  const Twiddle<Word> left = unpack(nodes[2 * r + 1], q), right = unpack(nodes[2 * r], q);
  for (i64 j = 0; j < quarter; ++j) {
    Word a = x[j], b = x[j + quarter], c = x[j + 2 * quarter], d = x[j + 3 * quarter];
    inverse_butterfly<kRange>(a, b, quarter, left, q);
    inverse_butterfly<kRange>(c, d, quarter, right, q);
    inverse_butterfly<kRange>(a, c, 2 * quarter, top, q);
    inverse_butterfly<kRange>(b, d, 2 * quarter, top, q);
    x[j] = a;
    x[j + quarter] = b;
    x[j + 2 * quarter] = c;
    x[j + 3 * quarter] = d;
  }
}

/// A block of n words up to the level of one node, whose mirror is r.
template <Range kRange, class Word>
void inverse_block(Word* x, i64 n, i64 r, const Word* nodes, Word q) {
  const bool odd = exact_log2(n) % 2 != 0;
  i64 size = odd ? 8 : 4;
  i64 last = r * (n / size) + n / size - 1;  // mirror of the leftmost node of this level
  for (i64 i = 0; i * size < n; ++i) {
    Word* y = x + i * size;
    if (!odd) {
      inverse_two_levels<kRange>(y, 1, last - i, nodes, q);
      continue;
    }
    inverse_two_levels<kRange>(y, 1, 2 * (last - i) + 1, nodes, q);
    inverse_two_levels<kRange>(y + 4, 1, 2 * (last - i), nodes, q);
    const Twiddle<Word> w = unpack(nodes[last - i], q);
    for (int j = 0; j < 4; ++j) inverse_butterfly<kRange>(y[j], y[j + 4], 4, w, q);
  }
  for (size *= 4, last /= 4; size <= n; size *= 4, last /= 4)
    for (i64 i = 0; i * size < n; ++i)
      inverse_two_levels<kRange>(x + i * size, size / 4, last - i, nodes, q);
}

template <Range kRange, class Word>
void inverse_below(Word* x, i64 n, i64 r, const Word* nodes, Word q) {
  if (n <= kBlock<Word>) return inverse_block<kRange>(x, n, r, nodes, q);
  for (i64 c = 0; c < 4; ++c)
    inverse_below<kRange>(x + c * (n / 4), n / 4, 4 * r + 3 - c, nodes, q);
  inverse_two_levels<kRange>(x, n / 4, r, nodes, q);
}

/// The last two levels with N^-1 folded in, and the reduction to [0, q).
template <Range kRange, class Word>
void inverse_last(Word* x, i64 quarter, const Word* table, Word q) {
  const Word* nodes = table + kTableHeaderWords;
  const Twiddle<Word> scale = unpack(table[kScale], q), top = unpack(table[kScaledRoot], q);
  const Twiddle<Word> left = unpack(nodes[3], q), right = unpack(nodes[2], q);
  // What the first of the two levels leaves; two of them fit the word.
  const Word bound = kRange == kLazy      ? 2 * static_cast<Word>(quarter) * q
                     : kRange == kDoubled ? 2 * q
                                          : q;
  for (i64 j = 0; j < quarter; ++j) {
    Word a = x[j], b = x[j + quarter], c = x[j + 2 * quarter], d = x[j + 3 * quarter];
    inverse_butterfly<kRange>(a, b, quarter, left, q);
    inverse_butterfly<kRange>(c, d, quarter, right, q);
    x[j] = multiply<Word>(a + c, scale, q);
    x[j + quarter] = multiply<Word>(b + d, scale, q);
    x[j + 2 * quarter] = multiply<Word>(c + bound - a, top, q);
    x[j + 3 * quarter] = multiply<Word>(d + bound - b, top, q);
  }
}

template <Range kRange, class Word>
void inverse_row(Word* x, i64 n, const Word* table, Word q) {
  for (i64 c = 0; c < 4; ++c)
    inverse_below<kRange>(x + c * (n / 4), n / 4, 7 - c, table + kTableHeaderWords, q);
  inverse_last<kRange>(x, n / 4, table, q);
}

template <class Word>
FHELIUM_INLINE bool inverse_may_be_lazy(i64 degree, const Modulus<Word>& m) {
  return room(m) >= static_cast<u64>(degree);
}

template <class Word>
FHELIUM_INLINE void copy_unless_same(Word* out, const Word* in, i64 step, i64 n) {
  if (out != in || step != 1)
    for (i64 k = 0; k < n; ++k) out[k] = in[k * step];
}

template <class Word>
void inverse(Word* out, const Word* in, i64 step, i64 degree, const Word* table,
             const Modulus<Word>& m, const Word* /*next*/) {
  copy_unless_same(out, in, step, degree);
  switch (range_of(inverse_may_be_lazy(degree, m), m.q)) {
    case kLazy: return inverse_row<kLazy>(out, degree, table, m.q);
    case kDoubled: return inverse_row<kDoubled>(out, degree, table, m.q);
    case kReduced:
      if constexpr (kWordBits<Word> == 32) return inverse_row<kReduced>(out, degree, table, m.q);
  }
}

// ---- tables ------------------------------------------------------------------------------------

template <class Word>
i64 table_words(i64 degree, const Modulus<Word>& /*m*/) {
  return kTableHeaderWords + degree;
}

template <class Word>
void build_table(Word* table, i64 degree, Word root, const Modulus<Word>& m) {
  for (int k = 0; k < kTableHeaderWords; ++k) table[k] = 0;
  table[kTableFormat] = kFormat<Word>;
  table[kTableModulus] = m.q;
  table[kTableDegree] = static_cast<Word>(degree);

  Word* nodes = table + kTableHeaderWords;
  const Twiddle<Word> psi = {root, shoup_quotient(root, m.q)};
  Word power = 1, middle = 1;  // middle = psi^(N/2), node 1
  nodes[0] = 0;                // no block uses psi^0
  const int bits = exact_log2(degree);
  for (i64 k = 1; k < degree; ++k) {
    power = multiply(power, psi, m.q);
    const u64 node = reverse_bits(static_cast<u64>(k), bits);
    nodes[node] = shoup_quotient(power, m.q);
    if (node == 1) middle = power;
  }
  table[kScale] = shoup_quotient(from_montgomery(m.degree_inverse, m), m.q);
  // The inverse's node 1 is psi^-(N/2) = -psi^(N/2); its sign is in the difference, as elsewhere.
  table[kScaledRoot] = shoup_quotient(montgomery_multiply(middle, m.degree_inverse, m), m.q);
}

// ---- one range, whatever the prime -------------------------------------------------------------

template <Range kRange>
struct Held {
  static constexpr NttTableFormat kHeldFormat = path_format(kFormatPortable64, kRange);

  static bool admits(i64 degree, const Modulus<u64>& m) {
    return kRange != kLazy || (forward_may_be_lazy(degree, m) && inverse_may_be_lazy(degree, m));
  }
  static void build(u64* table, i64 degree, u64 root, const Modulus<u64>& m) {
    build_table(table, degree, root, m);
    table[kTableFormat] = kHeldFormat;
  }
  static void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* /*next*/) {
    forward_row<kRange>(out, in, step, degree, table + kTableHeaderWords, m);
  }
  static void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                      const Modulus<u64>& m, const u64* /*next*/) {
    copy_unless_same(out, in, step, degree);
    inverse_row<kRange>(out, degree, table, m.q);
  }
  static constexpr NttPath named(const char* name) {
    return {name, admits, {kHeldFormat, table_words<u64>, build, forward, inverse}};
  }
};

template <class Word>
constexpr NttKernels<Word> kPortable = {
    kFormat<Word>, table_words<Word>, build_table<Word>, forward<Word>, inverse<Word>,
};

}  // namespace

const NttKernels<u32> kNttKernels32Portable = kPortable<u32>;
const NttKernels<u64> kNttKernels64Portable = kPortable<u64>;
const NttPath kNttPathsPortable[] = {Held<kLazy>::named("lazy"), Held<kDoubled>::named("doubled")};

}  // namespace fhelium
