// What the native benchmarks need of memory and primes: huge blocks and the constants of a modulus.
#pragma once
#include <sys/mman.h>

#include <cstdlib>

#include "common/number_theory.h"

namespace fhelium {

/// Words on huge pages, touched, never given back: a benchmark's process ends soon.
static inline u64* huge_block(i64 words) {
  const size_t page = size_t{2} << 20,
               bytes = (static_cast<size_t>(words) * 8 + page - 1) / page * page;
  void* block = nullptr;
  if (posix_memalign(&block, page, bytes) != 0) abort();
  madvise(block, bytes, MADV_HUGEPAGE);
  for (size_t k = 0; k < bytes; k += 4096) static_cast<char*>(block)[k] = 0;
  return static_cast<u64*>(block);
}

static inline Modulus<u64> modulus_of(u64 q, u64 degree) {
  Modulus<u64> m = {};
  m.q = q;
  m.inverse = inverse_modulo_word(q);
  m.bits = q < u64{1} << 50 ? 52 : 64;
  const u128 radix = u128{1} << m.bits;
  m.montgomery_one = static_cast<u64>(radix % q);
  m.montgomery_square = multiply_modular(m.montgomery_one, m.montgomery_one, q);
  m.reciprocal = static_cast<u64>((u128{1} << 64) / q);
  m.degree_inverse = multiply_modular(inverse_modular(degree, q), m.montgomery_one, q);
  return m;
}

}  // namespace fhelium
