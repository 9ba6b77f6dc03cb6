// Loops over the vectors of a row. ifma.h, fma.h and words32.h include this once they have said
// what a vector is: kLanes, Part and its first_lanes(count), load, store, stream and broadcast.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

/// Call body(first index, lanes) for the vectors of a row.
template <class Body>
FHELIUM_INLINE void for_vectors(i64 n, const Body& body) {
  i64 k = 0;
  for (; k + kLanes <= n; k += kLanes) body(k, Whole{});
  if (k < n) body(k, first_lanes(n - k));
}

/// How many vectors a body takes at once.
template <int kVectors>
struct Vectors {};

/// Call body(Vectors<kBlock>, first index, all lanes) for the blocks of a row, then
/// body(Vectors<1>, first index, lanes) for the vectors of the rest.
template <int kBlock, class Body>
FHELIUM_INLINE void for_blocks(i64 n, const Body& body) {
  i64 k = 0;
  for (; k + kBlock * kLanes <= n; k += kBlock * kLanes) body(Vectors<kBlock>{}, k, Whole{});
  for_vectors(n - k, [&](i64 rest, auto lanes) { body(Vectors<1>{}, k + rest, lanes); });
}

/// Where a row is written: into the caches, or past them into memory, which needs no reading of
/// what is overwritten. Rows that go past the caches begin on cache lines.
struct IntoCaches {};
struct PastCaches {};

template <class Lanes, class Word, class Vector>
FHELIUM_INLINE void put(IntoCaches, Lanes lanes, Word* p, Vector x) {
  store(lanes, p, x);
}
template <class Word, class Vector>
FHELIUM_INLINE void put(PastCaches, Whole, Word* p, Vector x) {
  stream(p, x);
}
template <class Word, class Vector>
FHELIUM_INLINE void put(PastCaches, Part lanes, Word* p, Vector x) {
  store(lanes, p, x);
}
/// Order what was written before what this thread does next.
FHELIUM_INLINE void finish(IntoCaches) {}
FHELIUM_INLINE void finish(PastCaches) { _mm_sfence(); }

/// out[k] = f(in[k]) on vectors. False where the rows lie in another way.
template <class To = IntoCaches, class Word, class Function>
FHELIUM_INLINE bool map(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n,
                        const Function& f) {
  if (out_step != 1 || in_step != 1) return false;
  for_vectors(n, [&](i64 k, auto lanes) { put(To{}, lanes, out + k, f(load(lanes, in + k))); });
  finish(To{});
  return true;
}

/// out[k] = f(lhs[k], rhs[k]), the right side a row or one constant.
template <class To = IntoCaches, class Word, class Function>
FHELIUM_INLINE bool map(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs,
                        i64 rhs_step, i64 n, const Function& f) {
  if (out_step != 1 || lhs_step != 1 || n < 1) return false;
  if (rhs_step == 1) {
    for_vectors(n, [&](i64 k, auto lanes) {
      put(To{}, lanes, out + k, f(load(lanes, lhs + k), load(lanes, rhs + k)));
    });
    finish(To{});
    return true;
  }
  const auto constant = broadcast(rhs[0]);
  return rhs_step == 0 && map<To>(out, 1, lhs, 1, n, [&](auto x) { return f(x, constant); });
}

}  // namespace fhelium
