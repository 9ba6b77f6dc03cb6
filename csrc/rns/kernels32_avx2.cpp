// RNS rows of 32-bit residues with AVX2; strided ones go to the portable kernels.
#include "common/words32.h"
#include "rns/exact_half.h"
#include "rns/kernels.h"
#include "rns/small_rows.h"

namespace fhelium {
namespace {

const RnsKernels<u32>& portable = kRnsKernels32Portable;

// ---- coefficient-wise --------------------------------------------------------------------------

using Residue = u32;

FHELIUM_INLINE bool serves(const Modulus<u32>&) { return true; }

struct Product {
  WordModulus m;
  explicit Product(const Modulus<u32>& modulus) : m(in_lanes(modulus)) {}
  __m256i operator()(__m256i a, __m256i b) const {
    return montgomery_multiply(in_pairs(a), in_pairs(b), m);
  }
};
using LazyProduct = Product;
struct Scale : Product {
  Pairs w;
  Scale(u32 factor, const Modulus<u32>& modulus) : Product(modulus), w(in_pairs_all(factor)) {}
  __m256i operator()(__m256i a) const { return montgomery_multiply(in_pairs(a), w, m); }
};
struct Unscale : Scale {
  explicit Unscale(const Modulus<u32>& modulus) : Scale(1, modulus) {}
};

}  // namespace
}  // namespace fhelium

#include "rns/vector_kernels.h"

namespace fhelium {
namespace {

void reduce_integers(u32* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                     const Modulus<u32>& m) {
  if (out_step == 1 && in_step == 1)
    reduce_integers_avx2(out, in, n, m);
  else
    portable.reduce_integers(out, out_step, in, in_step, n, m);
}

// ---- basis conversion --------------------------------------------------------------------------

/// A row of 32-bit numbers that are exact as doubles, in two halves.
struct Doubles {
  __m256d half[2];
};

FHELIUM_INLINE Doubles to_doubles(__m256i x) {
  return {{_mm256_cvtepi32_pd(_mm256_castsi256_si128(x)),
           _mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1))}};
}

/// As in the portable kernel the sum of y_i / d_i decides unless it is within 2^-40 of a half; it
/// is rounded alike, one product and one addition for each prime, in order.
void centre(const BasisTile<u32>& tile, const u32* const* rows, i64 step, i64 n,
            const BasisSource<u32>& from) {
  if (step != 1) {
    portable.centre(tile, rows, step, n, from);
    return;
  }
  u32* whole = digit_of(tile, from.count);
  double reciprocals[kMaxSourcePrimes];
  for (int i = 0; i < from.count; ++i) reciprocals[i] = 1.0 / (double)(int32_t)from.moduli[i].q;
  for_vectors(n, [&](i64 k, auto lanes) {
    Doubles sum = {{_mm256_setzero_pd(), _mm256_setzero_pd()}};
    for (int i = 0; i < from.count; ++i) {
      const __m256i x = load(lanes, rows[i] + k);
      const __m256i y =
          montgomery_multiply(in_pairs(x), in_pairs_all(from.scale[i]), in_lanes(from.moduli[i]));
      store(Whole{}, digit_of(tile, i) + k, y);  // a tile has room for whole vectors
      const Doubles digits = to_doubles(y);
      for (int h = 0; h < 2; ++h)
        sum.half[h] = _mm256_add_pd(sum.half[h],
                                    _mm256_mul_pd(digits.half[h], _mm256_set1_pd(reciprocals[i])));
    }
    for (i64 h = 0; h < 2; ++h) {
      const __m128i nearest = _mm256_cvttpd_epi32(_mm256_add_pd(sum.half[h], _mm256_set1_pd(0.5)));
      _mm_storeu_si128((__m128i*)(whole + k + 4 * h), nearest);
      const __m256d rest = _mm256_sub_pd(sum.half[h], _mm256_cvtepi32_pd(nearest));
      const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), rest);
      const __m256d close = _mm256_cmp_pd(size, _mm256_set1_pd(kSure), _CMP_GT_OQ);
      if (const int unsure = _mm256_movemask_pd(close)) [[unlikely]] {
        double sums[4];
        _mm256_storeu_pd(sums, sum.half[h]);
        decide_exactly(tile, k + 4 * h, n, (unsigned)unsure, sums, from);
      }
    }
  });
}

/// sum_i digit_i factor_i R^-1 in [0, q): one sum where the source primes add up to at most R, else
/// two terms at a time, whose sum is below q R.
FHELIUM_INLINE __m256i dot(const BasisTile<u32>& tile, i64 k, const BasisTarget<u32>& to,
                           const WordModulus& m) {
  const int terms = to.count + 1, group = to.wide ? 2 : terms;
  __m256i total = _mm256_setzero_si256();
  for (int first = 0; first < terms; first += group) {
    const int past = first + group < terms ? first + group : terms;
    Pairs sum = no_products();
    for (int i = first; i < past; ++i)
      add_product(sum, in_pairs(load(Whole{}, digit_of(tile, i) + k)), in_pairs_all(to.factor[i]));
    const __m256i part = montgomery_reduce(sum, m);
    total = first == 0 ? part : add_modular(total, part, m);
  }
  return total;
}

void convert(u32* out, const BasisTile<u32>& tile, i64 n, const BasisTarget<u32>& to) {
  const WordModulus m = in_lanes(*to.target);
  for_vectors(n, [&](i64 k, auto lanes) { store(lanes, out + k, dot(tile, k, to, m)); });
}

/// in - x + q is below 2 q: the product is below 2 q^2 < q R.
void subtract_divide(u32* out, const u32* in, i64 step, const BasisTile<u32>& tile, i64 n,
                     const BasisTarget<u32>& to) {
  if (step != 1) {
    portable.subtract_divide(out, in, step, tile, n, to);
    return;
  }
  const WordModulus m = in_lanes(*to.target);
  const Pairs division = in_pairs_all(to.division);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i lifted = _mm256_add_epi32(load(lanes, in + k), m.q);
    const __m256i difference = _mm256_sub_epi32(lifted, dot(tile, k, to, m));
    store(lanes, out + k, montgomery_multiply(in_pairs(difference), division, m));
  });
}

}  // namespace

const RnsKernels<u32> kRnsKernels32Avx2 =
    vector_kernels(reduce_integers, centre, convert, subtract_divide);

}  // namespace fhelium
