// CKKS rows of 32-bit residues with AVX2: contiguous ones; the rest goes to the portable kernels.
#include "ckks/automorphism_source.h"
#include "common/words32.h"

namespace fhelium {
namespace {

const CkksKernels<u32>& portable = kCkksKernels32Portable;

using Residue = u32;

FHELIUM_INLINE bool serves(const Modulus<u32>&) { return true; }

/// The permutation reads the last three bits of a place.
FHELIUM_INLINE __m256i load_permuted(const u32* row, const uint32_t* source) {
  return _mm256_permutevar8x32_epi32(load(Whole{}, row + (source[0] & ~7u)), load(Whole{}, source));
}
template <class Lanes>
FHELIUM_INLINE __m256i load_from(const u32* row, InOrder, i64 k, Lanes lanes) {
  return load(lanes, row + k);
}
template <class Lanes>
FHELIUM_INLINE __m256i load_from(const u32* row, Permuted order, i64 k, Lanes) {
  return load_permuted(row, order.source + k);
}

// ---- key-switch inner product ------------------------------------------------------------------

/// Three streams a digit are more than the machine follows by itself. A prefetch past the end of a
/// row does nothing.
constexpr i64 kAhead = 512;

FHELIUM_INLINE void prefetch(const KeySwitchTerm<u32>& term, i64 k) {
  const u32* const rows[3] = {term.digit, term.key0, term.key1};
  for (const u32* row : rows) _mm_prefetch((const char*)(row + k + kAhead), _MM_HINT_T0);
}

/// Rows that are added on, times a factor in Montgomery form; null where there are none.
struct Kept {
  const u32 *row0, *row1;
  Pairs factor;
};

template <class Lanes>
FHELIUM_INLINE __m256i kept_product(const u32* row, i64 k, Lanes lanes, const Pairs& factor,
                                    const WordModulus& m) {
  if (row == nullptr) return _mm256_setzero_si256();
  return montgomery_multiply(in_pairs(load(lanes, row + k)), factor, m);
}

/// One vector of both results, in groups of products that stay below q R.
template <class Lanes, class Order>
FHELIUM_INLINE void inner_vector(u32* out0, u32* out1, const Kept& kept,
                                 const KeySwitchTerm<u32>* terms, i64 count, Order order, i64 group,
                                 i64 k, Lanes lanes, const WordModulus& m) {
  __m256i total0 = kept_product(kept.row0, k, lanes, kept.factor, m);
  __m256i total1 = kept_product(kept.row1, k, lanes, kept.factor, m);
  for (i64 first = 0; first < count; first += group) {
    const i64 past = count - first < group ? count : first + group;
    Pairs sum0 = no_products(), sum1 = no_products();
    for (i64 d = first; d < past; ++d) {
      prefetch(terms[d], k);
      const Pairs x = in_pairs(load_from(terms[d].digit, order, k, lanes));
      add_product(sum0, x, in_pairs(load(lanes, terms[d].key0 + k)));
      add_product(sum1, x, in_pairs(load(lanes, terms[d].key1 + k)));
    }
    total0 = add_modular(total0, montgomery_reduce(sum0, m), m);
    total1 = add_modular(total1, montgomery_reduce(sum1, m), m);
  }
  store(lanes, out0 + k, total0);
  store(lanes, out1 + k, total1);
}

template <class Order>
void inner_row(u32* out0, u32* out1, const u32* kept0, const u32* kept1, u32 factor,
               const KeySwitchTerm<u32>* terms, i64 count, Order order, i64 n,
               const Modulus<u32>& modulus) {
  const WordModulus m = in_lanes(modulus);
  const i64 group = most_products(modulus);
  const Kept kept = {kept0, kept1, in_pairs_all(factor)};
  for_vectors(n, [&](i64 k, auto lanes) {
    inner_vector(out0, out1, kept, terms, count, order, group, k, lanes, m);
  });
}

/// lhs - rhs + q is below 2 q: the product is below 2 q^2 < q R.
void subtract_scale(u32* out, const u32* lhs, const u32* rhs, u32 factor, i64 n,
                    const Modulus<u32>& modulus) {
  const WordModulus m = in_lanes(modulus);
  const Pairs by = in_pairs_all(factor);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i lifted = _mm256_add_epi32(load(lanes, lhs + k), m.q);
    const __m256i difference = _mm256_sub_epi32(lifted, load(lanes, rhs + k));
    store(lanes, out + k, montgomery_multiply(in_pairs(difference), by, m));
  });
}

// ---- ciphertext products -----------------------------------------------------------------------

// The right factors go to Montgomery form first; the middle sum is below 2 q^2 < q R.
void product(u32* const out[3], const u32* const lhs[2], i64 lhs_step, const u32* const rhs[2],
             i64 rhs_step, i64 n, const Modulus<u32>& modulus) {
  if (lhs_step != 1 || rhs_step != 1) {
    portable.product(out, lhs, lhs_step, rhs, rhs_step, n, modulus);
    return;
  }
  const WordModulus m = in_lanes(modulus);
  const Pairs square = in_pairs_all(modulus.montgomery_square);
  u32 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u32 *const lhs0 = lhs[0], *const lhs1 = lhs[1], *const rhs0 = rhs[0], *const rhs1 = rhs[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const Pairs a0 = in_pairs(load(lanes, lhs0 + k)), a1 = in_pairs(load(lanes, lhs1 + k));
    const Pairs b0 = in_pairs(montgomery_multiply(in_pairs(load(lanes, rhs0 + k)), square, m));
    const Pairs b1 = in_pairs(montgomery_multiply(in_pairs(load(lanes, rhs1 + k)), square, m));
    Pairs cross = multiply(a0, b1);
    add_product(cross, a1, b0);
    store(lanes, out0 + k, montgomery_multiply(a0, b0, m));
    store(lanes, out1 + k, montgomery_reduce(cross, m));
    store(lanes, out2 + k, montgomery_multiply(a1, b1, m));
  });
}

void square(u32* const out[3], const u32* const in[2], i64 step, i64 n,
            const Modulus<u32>& modulus) {
  if (step != 1) {
    portable.square(out, in, step, n, modulus);
    return;
  }
  const WordModulus m = in_lanes(modulus);
  const Pairs square = in_pairs_all(modulus.montgomery_square);
  u32 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u32 *const in0 = in[0], *const in1 = in[1];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i x0 = load(lanes, in0 + k);
    const Pairs a0 = in_pairs(x0), a1 = in_pairs(load(lanes, in1 + k));
    const Pairs twice = in_pairs(_mm256_add_epi32(x0, x0));
    const Pairs b0 = in_pairs(montgomery_multiply(a0, square, m));
    const Pairs b1 = in_pairs(montgomery_multiply(a1, square, m));
    store(lanes, out0 + k, montgomery_multiply(a0, b0, m));
    store(lanes, out1 + k, montgomery_multiply(twice, b1, m));
    store(lanes, out2 + k, montgomery_multiply(a1, b1, m));
  });
}

// ---- rescaling ---------------------------------------------------------------------------------

/// The smallest multiple of q from x on.
FHELIUM_INLINE u32 multiple_from(u32 x, u32 q) { return (x + q - 1) / q * q; }

/// q0 where x is above its half: what makes x its centred representative when it is taken off.
FHELIUM_INLINE __m256i excess(__m256i x, __m256i half, __m256i q0) {
  return _mm256_and_si256(_mm256_cmpgt_epi32(x, half), q0);
}

/// With h = (q0 - 1) / 2 the centred r is at least -h and at most h; x - r plus the smallest
/// multiple of q from h on is below 2 q + q0 <= R, and its product with the inverse below q R.
void rescale(u32* out, const u32* in, const u32* dropped, i64 step, i64 n, u32 q0, u32 inverse,
             const Modulus<u32>& modulus) {
  if (step != 1 || 2 * (u64)modulus.q + q0 > (u64)1 << 32) {
    portable.rescale(out, in, dropped, step, n, q0, inverse, modulus);
    return;
  }
  const WordModulus m = in_lanes(modulus);
  const u32 middle = (q0 - 1) / 2;
  const __m256i whole = broadcast(q0), half = broadcast(middle);
  const __m256i lift = broadcast(multiple_from(middle, modulus.q));
  const Pairs factor = in_pairs_all(inverse);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i r = load(lanes, dropped + k);
    const __m256i lifted = _mm256_add_epi32(load(lanes, in + k), lift);
    const __m256i raised = _mm256_add_epi32(lifted, excess(r, half, whole));
    store(lanes, out + k, montgomery_multiply(in_pairs(_mm256_sub_epi32(raised, r)), factor, m));
  });
}

/// r plus a multiple of q is below q + q0, and its product with R mod q below q R.
void centred_remainder(u32* out, const u32* dropped, i64 n, u32 q0, const Modulus<u32>& modulus) {
  const WordModulus m = in_lanes(modulus);
  const u32 middle = (q0 - 1) / 2;
  const __m256i whole = broadcast(q0), half = broadcast(middle);
  const __m256i lift = broadcast(multiple_from(middle, modulus.q));
  const Pairs one = in_pairs_all(modulus.montgomery_one);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i r = load(lanes, dropped + k);
    const __m256i lifted = _mm256_sub_epi32(_mm256_add_epi32(r, lift), excess(r, half, whole));
    store(lanes, out + k, montgomery_multiply(in_pairs(lifted), one, m));
  });
}

}  // namespace
}  // namespace fhelium

#include "ckks/vector_kernels.h"

namespace fhelium {

const CkksKernels<u32> kCkksKernels32Avx2 = kVectorKernels;

}  // namespace fhelium
