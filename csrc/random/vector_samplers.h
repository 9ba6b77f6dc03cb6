// What the samplers of every vector instruction set share beside the streams. A kernel file
// includes this after vector_streams.h, and then defines uniform_row, ternary_values, magnitudes,
// with_sign.
#pragma once
#include "common/number_theory.h"
#include "random/vector_streams.h"

namespace fhelium {
namespace {

using Vector = decltype(broadcast(u64{}));

/// The first accepted word from attempt 1 on.
u64 redraw(i64 coefficient, const StreamKey& key, const StreamPosition& position, u64 limit) {
  u64 words[kTile];
  u32 attempt = 0;
  do draw(words, coefficient - coefficient % kWordsPerBlock, key, position, ++attempt);
  while (words[coefficient % kWordsPerBlock] >= limit);
  return words[coefficient % kWordsPerBlock];
}

/// Accept a word below the largest multiple of q < 2^50, which is all but one in 2^14. The values
/// are public, so a rejection may take its own way.
template <class Word>
void uniform_row(Word* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
                 const Modulus<u64>& modulus);

void uniform(u64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position,
             const Modulus<u64>& m) {
  if (m.bits == 52)
    uniform_row(out, first, n, key, position, m);
  else
    kRandomKernelsPortable.uniform(out, first, n, key, position, m);
}

void uniform_narrow(u32* out, i64 first, i64 n, const StreamKey& key,
                    const StreamPosition& position, const Modulus<u32>& m) {
  uniform_row(out, first, n, key, position, widened(m));
}

/// floor(3 w / 2^64) - 1 of each word w: it is 0 from a third of 2^64 on and 1 from two thirds on.
FHELIUM_INLINE Vector ternary_values(Vector words);

void ternary(i64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position) {
  alignas(64) u64 words[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    draw(words, first + begin, key, position, 0);
    for_vectors(smaller(kTile, n - begin), [&](i64 k, auto lanes) {
      store(lanes, (u64*)out + begin + k, ternary_values(load(Whole{}, words + k)));
    });
  }
}

constexpr int kTogether = 4;  // vectors that share one walk through the table

/// How many thresholds the words of 127 bits reach, which stand above the last bit of (high, low).
FHELIUM_INLINE void magnitudes(Vector (&found)[kTogether], const Vector (&high)[kTogether],
                               const Vector (&low)[kTogether]);

/// A magnitude, negative where the last bit of `low` says so.
FHELIUM_INLINE Vector with_sign(Vector magnitude, Vector low);

/// Magnitude by inversion of the cumulative table, read in full whatever the value; its lowest
/// random bit is the sign.
void gaussian(i64* out, i64 first, i64 n, const StreamKey& key, const StreamPosition& position) {
  alignas(64) u64 high[kTile], low[kTile], values[kTile];
  for (i64 begin = 0; begin < n; begin += kTile) {
    const i64 size = smaller(kTile, n - begin);
    draw(high, first + begin, key, position, 0);
    draw(low, first + begin, key, position, 1);
    for (i64 k = 0; k < size; k += kTogether * kLanes) {
      Vector h[kTogether], l[kTogether], magnitude[kTogether];
#pragma GCC unroll 4
      for (int v = 0; v < kTogether; ++v) {
        h[v] = load(Whole{}, high + k + v * kLanes);
        l[v] = load(Whole{}, low + k + v * kLanes);
      }
      magnitudes(magnitude, h, l);
#pragma GCC unroll 4
      for (int v = 0; v < kTogether; ++v)
        store(Whole{}, values + k + v * kLanes, with_sign(magnitude[v], l[v]));
    }
    for (i64 k = 0; k < size; ++k) out[begin + k] = (i64)values[k];
  }
}

constexpr RandomKernels kVectorKernels = {
    blocks, uniform, uniform_narrow, ternary, gaussian, rounded_gaussian_row,
};

}  // namespace
}  // namespace fhelium
