// The embedding's table. Sines come from integer arithmetic alone, so they are the nearest doubles
// and the same ones whatever the machine's long double or mathematical library is.
#include <cstring>

#include "ckks/embedding.h"
#include "common/number_theory.h"

namespace fhelium {
namespace {

// Fixed point with 127 fraction bits: 1 is 2^127.
constexpr u128 kOne = (u128)1 << 127;
constexpr u128 kQuarterPi = (((u128)0xC90FDAA22168C234u << 64) | 0xC4C6628B80DC1CD1u) >> 1;

u128 multiply_fixed(u128 a, u128 b) {
  const u64 a1 = (u64)(a >> 64), a0 = (u64)a, b1 = (u64)(b >> 64), b0 = (u64)b;
  const u128 cross = (u128)a1 * b0, other = (u128)a0 * b1;
  const u128 middle = ((u128)a0 * b0 >> 64) + (u64)cross + (u64)other;
  const u128 high = (u128)a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64);
  return (high << 1) | ((u64)middle >> 63);
}

double to_double(u128 fixed) {
  return (double)fixed * 0x1p-127;  // one rounding, to nearest; the factor is exact
}

struct Complex {
  double re, im;
};

/// exp(i x) for 0 <= x <= pi/4, x in fixed point: the Taylor series.
Complex unit_in_first_octant(u128 x) {
  u128 cosine = kOne, sine = 0, term = kOne;
  for (unsigned k = 1; term != 0; ++k) {
    term = multiply_fixed(term, x) / k;
    u128& sum = (k & 1) ? sine : cosine;
    sum = (k & 2) ? sum - term : sum + term;
  }
  return {to_double(cosine), to_double(sine)};
}

/// exp(2 pi i numerator / 2^log_denominator), each part the nearest double.
Complex unit_root(u64 numerator, int log_denominator) {
  const int shift = 64 - log_denominator;
  u64 turn = numerator << shift;  // 2^64 is a full turn
  const u64 octant = turn >> 61;
  // Odd octants run backwards from the next multiple of a quarter turn.
  u64 rest = turn << 3;
  const bool backwards = octant & 1;
  const u128 fraction = backwards ? ((u128)1 << 64) - rest : (u128)rest;  // of an octant
  const Complex first = unit_in_first_octant(multiply_fixed(kQuarterPi, fraction << 63));
  // Angle of the result: quarter * pi/2 plus or minus the first octant's.
  const u64 quarter = ((octant + 1) >> 1) & 3;
  const double re = first.re, im = backwards ? -first.im : first.im;
  switch (quarter) {
    case 0: return {re, im};
    case 1: return {-im, re};
    case 2: return {-re, -im};
    default: return {im, -re};
  }
}

}  // namespace

void fill_embedding_table(double* table, const EmbeddingLayout& layout) {
  const int log_slots = layout.log_slots;
  const i64 points = (i64)1 << layout.last_levels;
  // Where the number of a block's point or twiddle stands, of `width` ones in a block.
  const auto grouped = [&](i64 block, i64 number, i64 width) {
    const i64 lane = block % layout.group;
    return (block - lane) * width + number * layout.group + lane;
  };
  // Position p holds the value at zeta^(4 bitrev(p) + 1). Whole numbers go as bit patterns: a
  // table that was tampered with then has a defined meaning for the kernels' mask.
  u64 exponent = 1;
  for (u64 slot = 0; slot < (u64)layout.slots; ++slot) {
    const i64 position = (i64)reverse_bits(exponent >> 2, log_slots);
    std::memcpy(table + grouped(position / points, position % points, points), &slot, sizeof(slot));
    exponent = exponent * 5 & (((u64)4 << log_slots) - 1);
  }
  double* out = table + layout.slots;
  // Block b of 2^l blocks is x^(n / 2^l) - c with c = exp(2 pi i (4 bitrev(b) + 1) / 2^(l+2)).
  for (int pass = 0; pass < layout.passes; ++pass) {
    const int level = 2 * pass;
    for (u64 block = 0; block < (u64)1 << level; ++block) {
      const u64 root = 4 * reverse_bits(block, level) + 1;
      for (u64 power = 1; power <= 3; ++power, out += 2) {
        const Complex twiddle = unit_root(power * root, level + 4);
        out[0] = twiddle.re, out[1] = twiddle.im;
      }
    }
  }
  // The last pass keeps square roots: of c, then for each pair of factors x^l -+ r of the next
  // level that of r alone, since that of -r is i times it.
  const int level = 2 * layout.passes;
  for (u64 block = 0; block < (u64)1 << level; ++block) {
    i64 number = 0;
    for (int deeper = 0; deeper < layout.last_levels; ++deeper)
      for (u64 child = 0; child < (u64)1 << deeper; child += 2) {
        const u64 root = 4 * reverse_bits((block << deeper) + child, level + deeper) + 1;
        const Complex twiddle = unit_root(root, level + deeper + 3);
        out[grouped((i64)block, number++, layout.last_width)] = twiddle.re;
        out[grouped((i64)block, number++, layout.last_width)] = twiddle.im;
      }
  }
}

}  // namespace fhelium
