// The inner product of a key switch on 64-bit words, a template over how sums are taken. A kernel
// file includes this once it has said load_permuted(row, source) and Sums, made for a modulus and a
// number of products:
//   kBlock              vectors of each result at once
//   none(), operand(x)  an empty sum; what add_product and fold take
//   fits, room          whether one sum has room for all; after how many it is folded
//   finish<kFold>(sum)  its residues
#pragma once
#include "ckks/automorphism_source.h"

namespace fhelium {
namespace {

template <class Lanes>
FHELIUM_INLINE auto load_from(const u64* row, InOrder, i64 k, Lanes lanes) {
  return load(lanes, row + k);
}
template <class Lanes>
FHELIUM_INLINE auto load_from(const u64* row, Permuted order, i64 k, Lanes) {
  return load_permuted(row, order.source + k);
}

/// Three streams a digit are more than the machine follows by itself. A prefetch past the end of a
/// row does nothing.
constexpr i64 kAhead = 256, kLine = 8;

FHELIUM_INLINE void prefetch(const u64* row) {
  _mm_prefetch((const char*)(row + kAhead), _MM_HINT_T0);
}
FHELIUM_INLINE void prefetch_digit(const u64* row, InOrder) { prefetch(row); }
FHELIUM_INLINE void prefetch_digit(const u64*, Permuted) {}

/// Rows that are added on, times a factor; null where there are none.
struct Kept {
  const u64 *row0, *row1;
  u64 factor;
};

template <class Lanes>
FHELIUM_INLINE auto first_product(const u64* row, i64 at, Lanes lanes, u64 factor,
                                  const Sums& sums) {
  auto sum = sums.none();
  if (row != nullptr)
    add_product(sum, sums.operand(load(lanes, row + at)), sums.operand(broadcast(factor)));
  return sum;
}

/// kVectors vectors of both results; kFold: there are more products than one sum has room for.
template <bool kFold, int kVectors, class Lanes, class Order>
FHELIUM_INLINE void inner_block(u64* out0, u64* out1, const Kept& kept,
                                const KeySwitchTerm<u64>* terms, i64 count, Order order, i64 k,
                                Lanes lanes, const Sums& sums) {
  decltype(sums.none()) sum0[kVectors], sum1[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    sum0[v] = first_product(kept.row0, k + v * kLanes, lanes, kept.factor, sums);
    sum1[v] = first_product(kept.row1, k + v * kLanes, lanes, kept.factor, sums);
  }
  i64 left = sums.room - 1;
  for (i64 d = 0; d < count; ++d) {
    const KeySwitchTerm<u64> term = terms[d];
    for (int v = 0; v < kVectors; ++v) {
      const i64 at = k + v * kLanes;
      if (kVectors == Sums::kBlock && v * kLanes % kLine == 0) {
        prefetch_digit(term.digit + at, order);
        prefetch(term.key0 + at);
        prefetch(term.key1 + at);
      }
      const auto x = sums.operand(load_from(term.digit, order, at, lanes));
      add_product(sum0[v], x, sums.operand(load(lanes, term.key0 + at)));
      add_product(sum1[v], x, sums.operand(load(lanes, term.key1 + at)));
    }
    if (kFold && --left == 0) {
      left = sums.room;
      for (int v = 0; v < kVectors; ++v) {
        fold(sum0[v], sums.m);
        fold(sum1[v], sums.m);
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    store(lanes, out0 + k + v * kLanes, sums.template finish<kFold>(sum0[v]));
    store(lanes, out1 + k + v * kLanes, sums.template finish<kFold>(sum1[v]));
  }
}

template <class Order>
void inner_row(u64* out0, u64* out1, const u64* kept0, const u64* kept1, u64 factor,
               const KeySwitchTerm<u64>* terms, i64 count, Order order, i64 n,
               const Modulus<u64>& modulus) {
  const Sums sums(modulus, count);
  const Kept kept = {kept0, kept1, factor};
  for_blocks<Sums::kBlock>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    if (sums.fits)
      inner_block<false, kVectors>(out0, out1, kept, terms, count, order, k, lanes, sums);
    else
      inner_block<true, kVectors>(out0, out1, kept, terms, count, order, k, lanes, sums);
  });
}

}  // namespace
}  // namespace fhelium
