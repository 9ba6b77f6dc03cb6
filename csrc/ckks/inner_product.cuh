// Sums of products modulo one prime.
#pragma once
#include "common/cuda.h"
#include "common/device_rows.h"

namespace fhelium {

/// sum_d x(d) key(d) R^-1 in [0, q): standard values times keys in Montgomery form. Products are
/// added as they are while a wide word holds them, kMaxProducts of them whatever the prime.
template <class Word, class Value, class Key>
__device__ __forceinline__ Word sum_of_products(int count, const Value& x, const Key& key,
                                                const Modulus<Word>& m) {
  constexpr int kBits = kWordBits<Word>, kMost = (int)kMaxProducts<Word>;
  const int shift = kBits - m.bits;
  Word total = 0;
  for (int first = 0; first < count; first += kMost) {
    const int past = first + kMost < count ? first + kMost : count;
    WideOf<Word> sum = 0;
    for (int d = first; d < past; ++d) sum += (WideOf<Word>)x(d) * key(d);
    // Below 2^50 sixteen products and the shift leave a word of room.
    total = add_modular(total, montgomery_reduce_wide<kBits>(sum << shift, m), m.q);
  }
  return total;
}

}  // namespace fhelium
