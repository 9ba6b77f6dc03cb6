// CKKS rows with AVX-512 IFMA: moduli below 2^50 and contiguous rows; the rest goes to the portable
// kernels.
#include "ckks/automorphism_source.h"
#include "common/ifma.h"

namespace fhelium {
namespace {

const CkksKernels<u64>& portable = kCkksKernels64Portable;

using Residue = u64;

FHELIUM_INLINE bool serves(const Modulus<u64>& m) { return m.bits == 52; }

/// The permutation reads the last three bits of a place.
FHELIUM_INLINE __m512i load_permuted(const u64* row, const uint32_t* source) {
  const __m512i places = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i*)source));
  return _mm512_permutexvar_epi64(places, load(Whole{}, row + (source[0] & ~7u)));
}

/// Sums of products in halves. floor(R / q) products stay below q R, 2^11 low halves below 2^63.
struct Sums {
  static constexpr int kBlock = 4;  // a row's stretch of four cache lines
  static constexpr i64 room = kFoldEvery;

  VectorModulus m;
  bool fits;

  Sums(const Modulus<u64>& modulus, i64 count)
      : m(in_lanes(modulus)), fits((u64)count < modulus.reciprocal >> 12 && count < 2048) {}
  FHELIUM_METHOD static Halves none() { return no_products(); }
  FHELIUM_METHOD static __m512i operand(__m512i x) { return x; }
  template <bool kFold>
  FHELIUM_METHOD __m512i finish(Halves sum) const {
    if (kFold) fold(sum, m);
    return lift_once(montgomery_signed(carried_high(sum), sum.low, m), m);
  }
};

}  // namespace
}  // namespace fhelium

#include "ckks/inner_product_simd.h"

namespace fhelium {
namespace {

/// lhs - rhs + q lies in (0, 2 q): the product is below 2 q^2 < q R.
void subtract_scale(u64* out, const u64* lhs, const u64* rhs, u64 factor, i64 n,
                    const Modulus<u64>& modulus) {
  if (!serves(modulus)) {
    portable.subtract_scale(out, lhs, rhs, factor, n, modulus);
    return;
  }
  const VectorModulus m = in_lanes(modulus);
  const __m512i by = broadcast(factor);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512i lifted = _mm512_add_epi64(load(lanes, lhs + k), m.q);
    const __m512i difference = _mm512_sub_epi64(lifted, load(lanes, rhs + k));
    store(lanes, out + k, montgomery_multiply(difference, by, m));
  });
}

// ---- ciphertext products -----------------------------------------------------------------------

/// x R mod q as a representative in (0, 2 q).
FHELIUM_INLINE __m512i to_montgomery_lazy(__m512i x, __m512i square, const VectorModulus& m) {
  return _mm512_add_epi64(montgomery_multiply_signed(x, square, m), m.q);
}

// The right factors go to Montgomery form first and stay below 2 q: the middle sum is below
// 4 q^2 < q R.
void product(u64* const out[3], const u64* const lhs[2], i64 lhs_step, const u64* const rhs[2],
             i64 rhs_step, i64 n, const Modulus<u64>& modulus) {
  if (!serves(modulus) || lhs_step != 1 || rhs_step != 1) {
    portable.product(out, lhs, lhs_step, rhs, rhs_step, n, modulus);
    return;
  }
  const VectorModulus m = in_lanes(modulus);
  const __m512i square = broadcast(modulus.montgomery_square);
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const lhs0 = lhs[0], *const lhs1 = lhs[1], *const rhs0 = rhs[0], *const rhs1 = rhs[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512i a0 = load(lanes, lhs0 + k), a1 = load(lanes, lhs1 + k);
    const __m512i b0 = to_montgomery_lazy(load(lanes, rhs0 + k), square, m);
    const __m512i b1 = to_montgomery_lazy(load(lanes, rhs1 + k), square, m);
    Halves cross = no_products();
    add_product(cross, a0, b1);
    add_product(cross, a1, b0);
    store(lanes, out0 + k, montgomery_multiply(a0, b0, m));
    store(lanes, out1 + k, lift_once(montgomery_signed(carried_high(cross), cross.low, m), m));
    store(lanes, out2 + k, montgomery_multiply(a1, b1, m));
  });
}

void square(u64* const out[3], const u64* const in[2], i64 step, i64 n,
            const Modulus<u64>& modulus) {
  if (!serves(modulus) || step != 1) {
    portable.square(out, in, step, n, modulus);
    return;
  }
  const VectorModulus m = in_lanes(modulus);
  const __m512i square = broadcast(modulus.montgomery_square);
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const in0 = in[0], *const in1 = in[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512i a0 = load(lanes, in0 + k), a1 = load(lanes, in1 + k);
    const __m512i b0 = to_montgomery_lazy(a0, square, m), b1 = to_montgomery_lazy(a1, square, m);
    store(lanes, out0 + k, montgomery_multiply(a0, b0, m));
    store(lanes, out1 + k, montgomery_multiply(_mm512_add_epi64(a0, a0), b1, m));
    store(lanes, out2 + k, montgomery_multiply(a1, b1, m));
  });
}

// ---- rescaling ---------------------------------------------------------------------------------

/// With h = (q0 - 1) / 2 and t = x + h mod q0, the centred r of a residue x modulo q0 is t - h.
struct Centring {
  __m512i q0, half;
  u64 shift;  // h mod q

  Centring(u64 dropped, const Modulus<u64>& m)
      : q0(broadcast(dropped)),
        half(broadcast((dropped - 1) / 2)),
        shift(reduce_word((dropped - 1) / 2, m)) {}
};

/// t modulo q, below 2 q.
FHELIUM_INLINE __m512i shifted(__m512i x, const Centring& by, const VectorModulus& m) {
  return reduce_lazy(add_modular(x, by.half, by.q0), m);
}

// x - r is x + h - t; with t below 2 q, x + h + 2 q - t lies in (0, 4 q): the product is below
// 4 q^2 < q R.
void rescale(u64* out, const u64* in, const u64* dropped, i64 step, i64 n, u64 q0, u64 inverse,
             const Modulus<u64>& modulus) {
  if (!serves(modulus) || step != 1 || q0 >> 52 != 0) {
    portable.rescale(out, in, dropped, step, n, q0, inverse, modulus);
    return;
  }
  const VectorModulus m = in_lanes(modulus);
  const Centring centring(q0, modulus);
  const __m512i factor = broadcast(inverse), lift = broadcast(centring.shift + 2 * modulus.q);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512i t = shifted(load(lanes, dropped + k), centring, m);
    const __m512i x = _mm512_add_epi64(load(lanes, in + k), lift);
    store(lanes, out + k, montgomery_multiply(_mm512_sub_epi64(x, t), factor, m));
  });
}

/// t + q - (h mod q) lies in (0, 3 q).
void centred_remainder(u64* out, const u64* dropped, i64 n, u64 q0, const Modulus<u64>& modulus) {
  if (!serves(modulus) || q0 >> 52 != 0) {
    portable.centred_remainder(out, dropped, n, q0, modulus);
    return;
  }
  const VectorModulus m = in_lanes(modulus);
  const Centring centring(q0, modulus);
  const __m512i lift = broadcast(modulus.q - centring.shift);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512i t = shifted(load(lanes, dropped + k), centring, m);
    const __m512i lifted = _mm512_add_epi64(t, lift);
    store(lanes, out + k, reduce_once(reduce_once(lifted, m.q), m.q));
  });
}

}  // namespace
}  // namespace fhelium

#include "ckks/vector_kernels.h"

namespace fhelium {

const CkksKernels<u64> kCkksKernels64Avx512 = kVectorKernels;

}  // namespace fhelium
