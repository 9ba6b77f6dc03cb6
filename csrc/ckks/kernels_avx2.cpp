// CKKS rows with AVX2 and FMA: moduli below 2^50 and contiguous rows; the rest goes to the portable
// kernels.
#include "ckks/automorphism_source.h"
#include "common/fma.h"

namespace fhelium {
namespace {

const CkksKernels<u64>& portable = kCkksKernels64Portable;

using Residue = u64;

FHELIUM_INLINE bool serves(const Modulus<u64>& m) { return m.bits == 52; }

/// A permutation of four words takes the places of their half words, of which it reads the last
/// three bits.
FHELIUM_INLINE __m256i load_permuted(const u64* row, const uint32_t* source) {
  const __m256i places = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)source));
  const __m256i odd = _mm256_add_epi64(_mm256_slli_epi64(places, 33), broadcast((u64)1 << 32));
  return _mm256_permutevar8x32_epi32(load(Whole{}, row + (source[0] & ~3u)),
                                     _mm256_or_si256(_mm256_slli_epi64(places, 1), odd));
}

/// Sums of products in doubles.
struct Sums {
  static constexpr int kBlock = 2;  // a row's stretch of one cache line

  SumModulus m;
  Factor radix_inverse;
  i64 room;
  bool fits;

  Sums(const Modulus<u64>& modulus, i64 count)
      : m(in_sums(modulus)),
        radix_inverse(montgomery_factor<u64>(1, modulus)),
        room(most_products(modulus)),
        fits(count < room) {}
  FHELIUM_METHOD Sum none() const { return no_products(m); }
  FHELIUM_METHOD static __m256d operand(__m256i x) { return to_doubles(x); }
  template <bool kFold>
  FHELIUM_METHOD __m256i finish(const Sum& sum) const {
    return to_residues(multiply(reduce(sum, m), radix_inverse, m), m);
  }
};

}  // namespace
}  // namespace fhelium

#include "ckks/inner_product_simd.h"

namespace fhelium {
namespace {

void subtract_scale(u64* out, const u64* lhs, const u64* rhs, u64 factor, i64 n,
                    const Modulus<u64>& modulus) {
  if (!serves(modulus)) {
    portable.subtract_scale(out, lhs, rhs, factor, n, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  const Factor w = montgomery_factor(factor, modulus);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d x = to_doubles(load(lanes, lhs + k)), y = to_doubles(load(lanes, rhs + k));
    store(lanes, out + k, to_residues(multiply(_mm256_sub_pd(x, y), w, m), m));
  });
}

// ---- ciphertext products -----------------------------------------------------------------------

void product(u64* const out[3], const u64* const lhs[2], i64 lhs_step, const u64* const rhs[2],
             i64 rhs_step, i64 n, const Modulus<u64>& modulus) {
  if (!serves(modulus) || lhs_step != 1 || rhs_step != 1) {
    portable.product(out, lhs, lhs_step, rhs, rhs_step, n, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const lhs0 = lhs[0], *const lhs1 = lhs[1], *const rhs0 = rhs[0], *const rhs1 = rhs[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d a0 = to_doubles(load(lanes, lhs0 + k)), a1 = to_doubles(load(lanes, lhs1 + k));
    const __m256d b0 = to_doubles(load(lanes, rhs0 + k)), b1 = to_doubles(load(lanes, rhs1 + k));
    const __m256d cross = _mm256_add_pd(multiply(a0, b1, m), multiply(a1, b0, m));
    store(lanes, out0 + k, to_residues(multiply(a0, b0, m), m));
    store(lanes, out1 + k, to_residues(reduce(cross, m), m));
    store(lanes, out2 + k, to_residues(multiply(a1, b1, m), m));
  });
}

void square(u64* const out[3], const u64* const in[2], i64 step, i64 n,
            const Modulus<u64>& modulus) {
  if (!serves(modulus) || step != 1) {
    portable.square(out, in, step, n, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const in0 = in[0], *const in1 = in[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d a0 = to_doubles(load(lanes, in0 + k)), a1 = to_doubles(load(lanes, in1 + k));
    const __m256d cross = multiply(a0, a1, m);
    store(lanes, out0 + k, to_residues(multiply(a0, a0, m), m));
    store(lanes, out1 + k, to_residues(reduce(_mm256_add_pd(cross, cross), m), m));
    store(lanes, out2 + k, to_residues(multiply(a1, a1, m), m));
  });
}

// ---- rescaling ---------------------------------------------------------------------------------

/// A residue modulo q0 as the centred representative.
FHELIUM_INLINE __m256d centred(__m256d x, __m256d half, __m256d q0) {
  return _mm256_sub_pd(x, _mm256_and_pd(_mm256_cmp_pd(x, half, _CMP_GT_OQ), q0));
}

/// With r the centred dropped residue, x - r is an integer below 2^51.
void rescale(u64* out, const u64* in, const u64* dropped, i64 step, i64 n, u64 q0, u64 inverse,
             const Modulus<u64>& modulus) {
  if (!serves(modulus) || step != 1 || q0 >> 50 != 0) {
    portable.rescale(out, in, dropped, step, n, q0, inverse, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  const Factor w = montgomery_factor(inverse, modulus);
  const __m256d whole = broadcast((double)(i64)q0), half = broadcast((double)(i64)(q0 / 2));
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d x = to_doubles(load(lanes, in + k));
    const __m256d r = centred(to_doubles(load(lanes, dropped + k)), half, whole);
    store(lanes, out + k, to_residues(multiply(_mm256_sub_pd(x, r), w, m), m));
  });
}

void centred_remainder(u64* out, const u64* dropped, i64 n, u64 q0, const Modulus<u64>& modulus) {
  if (!serves(modulus) || q0 >> 50 != 0) {
    portable.centred_remainder(out, dropped, n, q0, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  const __m256d whole = broadcast((double)(i64)q0), half = broadcast((double)(i64)(q0 / 2));
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d r = centred(to_doubles(load(lanes, dropped + k)), half, whole);
    store(lanes, out + k, to_residues(reduce(r, m), m));
  });
}

}  // namespace
}  // namespace fhelium

#include "ckks/vector_kernels.h"

namespace fhelium {

const CkksKernels<u64> kCkksKernels64Avx2 = kVectorKernels;

}  // namespace fhelium
