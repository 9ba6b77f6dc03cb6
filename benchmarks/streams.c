// What a kernel is measured against: a bare loop over as many streams, and the machine's own rate
// of 52-bit multiplications. Compiled by the benchmark for the machine it runs on.
#include <immintrin.h>
#include <stdint.h>

// Read every input, write every output, eight words at a time; an output may be an input.
void bare_loop(uint64_t* const* out, int outs, const uint64_t* const* in, int ins, int64_t n) {
  for (int64_t k = 0; k + 8 <= n; k += 8) {
    __m512i x = _mm512_setzero_si512();
    for (int i = 0; i < ins; ++i) x = _mm512_xor_si512(x, _mm512_loadu_si512(in[i] + k));
    for (int j = 0; j < outs; ++j) _mm512_storeu_si512(out[j] + k, x);
  }
}

// So many times sixteen independent multiply-adds of vectors.
uint64_t multiply_rounds(int64_t rounds, uint64_t seed) {
  __m512i sum[16];
  const __m512i a = _mm512_set1_epi64((long long)seed), b = _mm512_set1_epi64((long long)seed + 1);
  for (int i = 0; i < 16; ++i) sum[i] = _mm512_set1_epi64(i);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) sum[i] = _mm512_madd52lo_epu64(sum[i], a, b);
  }
  for (int i = 1; i < 16; ++i) sum[0] = _mm512_xor_si512(sum[0], sum[i]);
  return (uint64_t)_mm512_reduce_add_epi64(sum[0]);
}
