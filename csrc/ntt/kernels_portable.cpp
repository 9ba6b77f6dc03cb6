// Portable NTT: lazy butterflies on Shoup quotients (D. Harvey, "Faster arithmetic for
// number-theoretic transforms", 2014), two levels a pass, depth first so that blocks stay in L1.
//
// The twiddles form a binary tree: node r = m + i is psi^bitrev(r), block i of the level with m
// blocks uses it, and the two halves of that block continue at nodes 2r and 2r + 1. Only the Shoup
// quotient floor(w 2^64 / q) is stored: w = hi64(quotient q) + 1, as q does not divide w 2^64.
// The inverse transform reads the same words: psi^-bitrev(m + i) = -psi^bitrev(m + (m - 1 - i)),
// and that sign moves into the difference it multiplies.
//
// kLazy kernels never reduce between the levels. Forward, a level adds less than 2q to the bound,
// so (2 log2 N + 1) q must fit 64 bits; inverse, a level doubles it, so N q must.
#include "common/number_theory.h"
#include "ntt/kernels.h"

namespace fhelium {
namespace {

// Behind the header a table holds one 64-bit quotient a node. Words of this format behind the
// common header: Shoup quotients of ...
constexpr int kScale = kTableDegree + 1;  // N^-1
constexpr int kScaledRoot = kScale + 1;   // N^-1 psi^(N/2)
constexpr i64 kBlock = 2048;              // words worked level by level: 16 KiB, half of a small L1

struct Twiddle {
  u64 value, quotient;
};

FHELIUM_INLINE Twiddle unpack(u64 quotient, u64 q) {
  return {multiply_high(quotient, q) + 1, quotient};
}

/// Any x -> w x in [0, 2q).
FHELIUM_INLINE u64 multiply_lazy(u64 x, Twiddle w, u64 q) {
  return shoup_multiply_lazy(x, w.value, w.quotient, q);
}

// ---- forward -----------------------------------------------------------------------------------

/// x, y -> x + w y, x - w y; from [0, 4q) to [0, 4q) unless lazy.
template <bool kLazy>
FHELIUM_INLINE void forward_butterfly(u64& x, u64& y, Twiddle w, u64 q) {
  const u64 a = kLazy ? x : reduce_once(x, 2 * q);
  const u64 b = multiply_lazy(y, w, q);
  x = a + b;
  y = a + 2 * q - b;
}

/// The levels of node r and of its children over a block of 4 * quarter words.
template <bool kLazy>
FHELIUM_INLINE void forward_two_levels(u64* out, const u64* in, i64 step, i64 quarter, i64 r,
                                       const u64* nodes, u64 q) {
  const Twiddle top = unpack(nodes[r], q);
  const Twiddle left = unpack(nodes[2 * r], q), right = unpack(nodes[2 * r + 1], q);
  for (i64 j = 0; j < quarter; ++j) {
    u64 a = in[j * step], b = in[(j + quarter) * step];
    u64 c = in[(j + 2 * quarter) * step], d = in[(j + 3 * quarter) * step];
    forward_butterfly<kLazy>(a, c, top, q);
    forward_butterfly<kLazy>(b, d, top, q);
    forward_butterfly<kLazy>(a, b, left, q);
    forward_butterfly<kLazy>(c, d, right, q);
    out[j] = a;
    out[j + quarter] = b;
    out[j + 2 * quarter] = c;
    out[j + 3 * quarter] = d;
  }
}

/// The last two levels and the reduction to [0, q), on four neighbours.
template <bool kLazy>
FHELIUM_INLINE void forward_last(u64* x, i64 r, const u64* nodes, const Modulus& m) {
  forward_two_levels<kLazy>(x, x, 1, 1, r, nodes, m.q);
  for (int k = 0; k < 4; ++k)
    x[k] = kLazy ? reduce_word(x[k], m) : reduce_once(reduce_once(x[k], 2 * m.q), m.q);
}

/// A block of n words below node r, level after level.
template <bool kLazy>
void forward_block(u64* x, i64 n, i64 r, const u64* nodes, const Modulus& m) {
  i64 size = n, first = r;  // first: the leftmost node of this level below r
  for (; size > 8; size /= 4, first *= 4)
    for (i64 i = 0; i * size < n; ++i)
      forward_two_levels<kLazy>(x + i * size, x + i * size, 1, size / 4, first + i, nodes, m.q);
  if (size == 4) {
    for (i64 i = 0; i * 4 < n; ++i) forward_last<kLazy>(x + i * 4, first + i, nodes, m);
    return;
  }
  for (i64 i = 0; i * 8 < n; ++i) {  // an odd number of levels leaves three
    u64* y = x + i * 8;
    const Twiddle w = unpack(nodes[first + i], m.q);
    for (int j = 0; j < 4; ++j) forward_butterfly<kLazy>(y[j], y[j + 4], w, m.q);
    forward_last<kLazy>(y, 2 * (first + i), nodes, m);
    forward_last<kLazy>(y + 4, 2 * (first + i) + 1, nodes, m);
  }
}

template <bool kLazy>
void forward_below(u64* x, i64 n, i64 r, const u64* nodes, const Modulus& m) {
  if (n <= kBlock) return forward_block<kLazy>(x, n, r, nodes, m);
  forward_two_levels<kLazy>(x, x, 1, n / 4, r, nodes, m.q);
  for (i64 c = 0; c < 4; ++c) forward_below<kLazy>(x + c * (n / 4), n / 4, 4 * r + c, nodes, m);
}

template <bool kLazy>
void forward_row(u64* out, const u64* in, i64 step, i64 n, const u64* nodes, const Modulus& m) {
  if (step == 1)  // a constant step lets the compiler address the four streams directly
    forward_two_levels<kLazy>(out, in, 1, n / 4, 1, nodes, m.q);
  else
    forward_two_levels<kLazy>(out, in, step, n / 4, 1, nodes, m.q);
  for (i64 c = 0; c < 4; ++c) forward_below<kLazy>(out + c * (n / 4), n / 4, 4 + c, nodes, m);
}

void forward(u64* out, const u64* in, i64 step, i64 degree, const u64* table, const Modulus& m,
             const u64* /*next*/) {
  const u64* nodes = table + kTableHeaderWords;
  const u64 levels = static_cast<u64>(exact_log2(degree));
  if (m.reciprocal > 2 * levels)
    forward_row<true>(out, in, step, degree, nodes, m);
  else
    forward_row<false>(out, in, step, degree, nodes, m);
}

// ---- inverse -----------------------------------------------------------------------------------

/// x, y -> x + y, (y - x) w, operands `half` words apart; from [0, 2q) to [0, 2q) unless lazy, then
/// from [0, half q) to [0, 2 half q).
template <bool kLazy>
FHELIUM_INLINE void inverse_butterfly(u64& x, u64& y, i64 half, Twiddle w, u64 q) {
  const u64 bound = kLazy ? static_cast<u64>(half) * q : 2 * q;
  const u64 sum = x + y, difference = y + bound - x;
  x = kLazy ? sum : reduce_once(sum, bound);
  y = multiply_lazy(difference, w, q);
}

/// The levels of the children of a node and of the node itself; `r` is the mirror of that node, the
/// one whose negative is its inverse, and the children's mirrors are r's children in reverse order.
template <bool kLazy>
FHELIUM_INLINE void inverse_two_levels(u64* x, i64 quarter, i64 r, const u64* nodes, u64 q) {
  const Twiddle top = unpack(nodes[r], q);
  const Twiddle left = unpack(nodes[2 * r + 1], q), right = unpack(nodes[2 * r], q);
  for (i64 j = 0; j < quarter; ++j) {
    u64 a = x[j], b = x[j + quarter], c = x[j + 2 * quarter], d = x[j + 3 * quarter];
    inverse_butterfly<kLazy>(a, b, quarter, left, q);
    inverse_butterfly<kLazy>(c, d, quarter, right, q);
    inverse_butterfly<kLazy>(a, c, 2 * quarter, top, q);
    inverse_butterfly<kLazy>(b, d, 2 * quarter, top, q);
    x[j] = a;
    x[j + quarter] = b;
    x[j + 2 * quarter] = c;
    x[j + 3 * quarter] = d;
  }
}

/// A block of n words up to the level of one node, whose mirror is r.
template <bool kLazy>
void inverse_block(u64* x, i64 n, i64 r, const u64* nodes, u64 q) {
  const bool odd = exact_log2(n) % 2 != 0;
  i64 size = odd ? 8 : 4;
  i64 last = r * (n / size) + n / size - 1;  // mirror of the leftmost node of this level
  for (i64 i = 0; i * size < n; ++i) {
    u64* y = x + i * size;
    if (!odd) {
      inverse_two_levels<kLazy>(y, 1, last - i, nodes, q);
      continue;
    }
    inverse_two_levels<kLazy>(y, 1, 2 * (last - i) + 1, nodes, q);
    inverse_two_levels<kLazy>(y + 4, 1, 2 * (last - i), nodes, q);
    const Twiddle w = unpack(nodes[last - i], q);
    for (int j = 0; j < 4; ++j) inverse_butterfly<kLazy>(y[j], y[j + 4], 4, w, q);
  }
  for (size *= 4, last /= 4; size <= n; size *= 4, last /= 4)
    for (i64 i = 0; i * size < n; ++i)
      inverse_two_levels<kLazy>(x + i * size, size / 4, last - i, nodes, q);
}

template <bool kLazy>
void inverse_below(u64* x, i64 n, i64 r, const u64* nodes, u64 q) {
  if (n <= kBlock) return inverse_block<kLazy>(x, n, r, nodes, q);
  for (i64 c = 0; c < 4; ++c) inverse_below<kLazy>(x + c * (n / 4), n / 4, 4 * r + 3 - c, nodes, q);
  inverse_two_levels<kLazy>(x, n / 4, r, nodes, q);
}

/// The last two levels with N^-1 folded in, and the reduction to [0, q).
template <bool kLazy>
void inverse_last(u64* x, i64 quarter, const u64* table, u64 q) {
  const u64* nodes = table + kTableHeaderWords;
  const Twiddle scale = unpack(table[kScale], q), top = unpack(table[kScaledRoot], q);
  const Twiddle left = unpack(nodes[3], q), right = unpack(nodes[2], q);
  const u64 bound = kLazy ? 2 * static_cast<u64>(quarter) * q : 2 * q;
  for (i64 j = 0; j < quarter; ++j) {
    u64 a = x[j], b = x[j + quarter], c = x[j + 2 * quarter], d = x[j + 3 * quarter];
    inverse_butterfly<kLazy>(a, b, quarter, left, q);
    inverse_butterfly<kLazy>(c, d, quarter, right, q);
    x[j] = reduce_once(multiply_lazy(a + c, scale, q), q);
    x[j + quarter] = reduce_once(multiply_lazy(b + d, scale, q), q);
    x[j + 2 * quarter] = reduce_once(multiply_lazy(c + bound - a, top, q), q);
    x[j + 3 * quarter] = reduce_once(multiply_lazy(d + bound - b, top, q), q);
  }
}

template <bool kLazy>
void inverse_row(u64* x, i64 n, const u64* table, u64 q) {
  for (i64 c = 0; c < 4; ++c)
    inverse_below<kLazy>(x + c * (n / 4), n / 4, 7 - c, table + kTableHeaderWords, q);
  inverse_last<kLazy>(x, n / 4, table, q);
}

void inverse(u64* out, const u64* in, i64 step, i64 degree, const u64* table, const Modulus& m,
             const u64* /*next*/) {
  if (out != in || step != 1)
    for (i64 k = 0; k < degree; ++k) out[k] = in[k * step];
  if (m.reciprocal >= static_cast<u64>(degree))
    inverse_row<true>(out, degree, table, m.q);
  else
    inverse_row<false>(out, degree, table, m.q);
}

// ---- tables ------------------------------------------------------------------------------------

i64 table_words(i64 degree, const Modulus& /*m*/) { return kTableHeaderWords + degree; }

void build_table(u64* table, i64 degree, u64 root, const Modulus& m) {
  for (int k = 0; k < kTableHeaderWords; ++k) table[k] = 0;
  table[kTableFormat] = kFormatPortable;
  table[kTableModulus] = m.q;
  table[kTableDegree] = static_cast<u64>(degree);

  u64* nodes = table + kTableHeaderWords;
  const Twiddle psi = {root, shoup_quotient(root, m.q)};
  u64 power = 1, middle = 1;  // middle = psi^(N/2), node 1
  nodes[0] = 0;               // no block uses psi^0
  const int bits = exact_log2(degree);
  for (i64 k = 1; k < degree; ++k) {
    power = reduce_once(multiply_lazy(power, psi, m.q), m.q);
    const u64 node = reverse_bits(static_cast<u64>(k), bits);
    nodes[node] = shoup_quotient(power, m.q);
    if (node == 1) middle = power;
  }
  table[kScale] = shoup_quotient(from_montgomery(m.degree_inverse, m), m.q);
  // The inverse's node 1 is psi^-(N/2) = -psi^(N/2); its sign is in the difference, as elsewhere.
  table[kScaledRoot] = shoup_quotient(montgomery_multiply(middle, m.degree_inverse, m), m.q);
}

// ---- indexed radix 2 ---------------------------------------------------------------------------

void forward_indexed(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                     const i64* schedule, const u64* twiddles, const Modulus& m) {
  for (i64 k = 0; k < stages * (degree / 2); ++k) {
    const u64 a = row[even[k]];
    const u64 b = montgomery_multiply(row[odd[k]], twiddles[schedule[k]], m);
    row[even[k]] = add_modular(a, b, m.q);
    row[odd[k]] = subtract_modular(a, b, m.q);
  }
}

void inverse_indexed(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                     const i64* schedule, const u64* twiddles, const Modulus& m) {
  for (i64 k = 0; k < stages * (degree / 2); ++k) {
    const u64 a = row[even[k]], b = row[odd[k]];
    row[even[k]] = add_modular(a, b, m.q);
    row[odd[k]] = montgomery_multiply(subtract_modular(a, b, m.q), twiddles[schedule[k]], m);
  }
  for (i64 k = 0; k < degree; ++k) row[k] = montgomery_multiply(row[k], m.degree_inverse, m);
}

}  // namespace

const NttKernels kNttKernelsPortable = {kFormatPortable, table_words, build_table, forward,
                                        inverse};
const IndexedNttKernels kIndexedNttKernels = {forward_indexed, inverse_indexed};

}  // namespace fhelium
