// Canonical embedding of CKKS: slot j = m(zeta^(5^j)) with zeta = exp(i pi / N).
//
// All exponents 5^j mod 2N are 4t + 1, so the N/2 slots are the values of the complex polynomial
//   w(x) = sum_k (m_k + i m_(k+n)) x^k,  n = N/2,
// at the n roots of x^n - i. The kernels split x^n - i into factors down to the single roots, four
// at a time, and once more in blocks of up to eight while the slots are written or read. A factor
// x^l - c has one root c for all its coefficients, so a block needs one set of twiddles and the
// table stays smaller than the data.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// Where things stand in the table of one degree, counted in doubles.
/// [slot of each position: n words] [radix-4 passes, 6 a block] [last pass, 2/4/8 a block]
/// The last pass takes a group of blocks side by side, a lane each: point k, and twiddle k, of all
/// blocks of a group stand together, of slot numbers and twiddles alike.
struct EmbeddingLayout {
  i64 slots;        // n, the number of positions
  int log_slots;    // log2 n
  int last_levels;  // levels of the last pass: 0 .. 3
  int passes;       // radix-4 passes before it
  i64 last_width;   // twiddle doubles of one block of the last pass
  i64 last_offset;  // where the last pass begins
  i64 group;        // blocks of a group: kEmbeddingGroup, or all where there are fewer
  i64 size;         // of the whole table
};

inline constexpr i64 kEmbeddingGroup = 8;

/// A radix-4 pass keeps (s, s^2, s^3) with s^4 = c of its block.
inline constexpr i64 kPassWidth = 6;

FHELIUM_INLINE EmbeddingLayout embedding_layout(int log_slots) {
  EmbeddingLayout layout{};
  layout.slots = (i64)1 << log_slots;
  layout.log_slots = log_slots;
  layout.last_levels = log_slots < 2 ? log_slots : 2 + (log_slots & 1);
  layout.passes = (log_slots - layout.last_levels) / 2;
  layout.last_width = layout.last_levels == 0 ? 0 : (i64)1 << layout.last_levels;
  layout.last_offset = layout.slots;
  for (int pass = 0; pass < layout.passes; ++pass) layout.last_offset += kPassWidth << (2 * pass);
  const i64 blocks = layout.slots >> layout.last_levels;
  layout.group = blocks < kEmbeddingGroup ? blocks : kEmbeddingGroup;
  layout.size = layout.last_offset + layout.last_width * blocks;
  return layout;
}

struct EmbeddingKernels {
  /// coefficients [2n] / scale -> slots [n][2]; what the coefficients become is of no use.
  void (*to_slots)(double* slots, double* coefficients, double scale, const double* table,
                   const EmbeddingLayout& layout);
  /// slots [n][2] -> coefficients [2n], scaled by 1/n.
  void (*to_coefficients)(double* coefficients, const double* slots, const double* table,
                          const EmbeddingLayout& layout);
};

/// The table of the active instruction set.
const EmbeddingKernels& embedding_kernels();

extern const EmbeddingKernels kEmbeddingKernelsPortable;
extern const EmbeddingKernels kEmbeddingKernelsAvx2;
extern const EmbeddingKernels kEmbeddingKernelsAvx512;

/// Write layout.size doubles; the same bits on every machine.
void fill_embedding_table(double* table, const EmbeddingLayout& layout);

}  // namespace fhelium
