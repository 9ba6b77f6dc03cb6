// The last passes over a row of a key switch, fused: vectors where the file is compiled for them.
#pragma once
#include "common/modular_arithmetic.h"
#if defined(__AVX512IFMA__)
#include "common/ifma.h"
#endif

namespace fhelium {

/// out = (sum - rest) factor + kept kept_factor, factors in Montgomery form; `kept` may be null.
static inline void divide_and_add(u64* out, const u64* sum, const u64* rest, u64 factor,
                                  const u64* kept, u64 kept_factor, i64 n,
                                  const Modulus<u64>& modulus) {
  const Modulus<u64> m = modulus;
#if defined(__AVX512IFMA__)
  if (m.bits == 52) {
    const VectorModulus v = in_lanes(m);
    const __m512i w = broadcast(factor), w_kept = broadcast(kept_factor);
    for (i64 k = 0; k < n; k += kLanes) {
      const __m512i positive = _mm512_add_epi64(load(Whole{}, sum + k), v.q);
      Halves total = no_products();
      add_product(total, _mm512_sub_epi64(positive, load(Whole{}, rest + k)), w);
      if (kept) add_product(total, load(Whole{}, kept + k), w_kept);  // 3 q^2 < q R in all
      store(Whole{}, out + k, lift_once(montgomery_signed(carried_high(total), total.low, v), v));
    }
    return;
  }
#endif
  for (i64 k = 0; k < n; ++k) {
    u128 total = (u128)(sum[k] + (m.q - rest[k])) * factor;
    if (kept) total += (u128)kept[k] * kept_factor;
    out[k] = montgomery_reduce<u64>(total, m);
  }
}

/// sum = sum + t factor with t the centred representative of x mod q0.
static inline void add_centred(u64* sum, const u64* x, u64 q0, u64 factor, i64 n,
                               const Modulus<u64>& modulus) {
  const Modulus<u64> m = modulus;
  const u64 middle = q0 / 2;
  const u64 wrap = negate_modular(montgomery_multiply(reduce_word(q0, m), factor, m), m.q);
#if defined(__AVX512IFMA__)
  if (m.bits == 52 && q0 >> 50 == 0) {
    const VectorModulus v = in_lanes(m);
    const __m512i w = broadcast(factor), most = broadcast(middle), back = broadcast(wrap);
    for (i64 k = 0; k < n; k += kLanes) {
      const __m512i t = load(Whole{}, x + k);
      const __mmask8 above = _mm512_cmpgt_epu64_mask(t, most);
      __m512i total = _mm512_add_epi64(load(Whole{}, sum + k), montgomery_multiply(t, w, v));
      total = reduce_once(total, v.q);
      total = _mm512_mask_add_epi64(total, above, total, back);
      store(Whole{}, sum + k, reduce_once(total, v.q));
    }
    return;
  }
#endif
  for (i64 k = 0; k < n; ++k) {
    const u64 t = add_modular(sum[k], montgomery_multiply(reduce_word(x[k], m), factor, m), m.q);
    sum[k] = x[k] > middle ? add_modular(t, wrap, m.q) : t;
  }
}

/// sum = sum + x factor.
static inline void add_scaled(u64* sum, const u64* x, u64 factor, i64 n,
                              const Modulus<u64>& modulus) {
  const Modulus<u64> m = modulus;
#if defined(__AVX512IFMA__)
  if (m.bits == 52) {
    const VectorModulus v = in_lanes(m);
    const __m512i w = broadcast(factor);
    for (i64 k = 0; k < n; k += kLanes) {
      const __m512i scaled = montgomery_multiply(load(Whole{}, x + k), w, v);
      store(Whole{}, sum + k, add_modular(load(Whole{}, sum + k), scaled, v.q));
    }
    return;
  }
#endif
  for (i64 k = 0; k < n; ++k)
    sum[k] = add_modular(sum[k], montgomery_multiply(x[k], factor, m), m.q);
}

}  // namespace fhelium
