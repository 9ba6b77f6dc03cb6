// RNS rows with AVX-512 IFMA. What they do not cover goes to the portable kernels: strided rows,
// and moduli from 2^50 on wherever a product is needed.
#include "common/ifma.h"
#include "rns/exact_half.h"
#include "rns/kernels.h"
#include "rns/small_rows.h"

namespace fhelium {
namespace {

const RnsKernels<u64>& portable = kRnsKernels64Portable;

// ---- coefficient-wise --------------------------------------------------------------------------

using Residue = u64;

FHELIUM_INLINE bool serves(const Modulus<u64>& m) { return m.bits == 52; }

struct Unscale {
  VectorModulus m;
  explicit Unscale(const Modulus<u64>& modulus) : m(in_lanes(modulus)) {}
  __m512i operator()(__m512i a) const { return lift_once(montgomery_signed(zero(), a, m), m); }
};
struct Product : Unscale {
  using Unscale::Unscale;
  __m512i operator()(__m512i a, __m512i b) const { return montgomery_multiply(a, b, m); }
};
using LazyProduct = Product;
struct Scale : Product {
  __m512i w;
  Scale(u64 factor, const Modulus<u64>& modulus) : Product(modulus), w(broadcast(factor)) {}
  __m512i operator()(__m512i a) const { return montgomery_multiply(a, w, m); }
};

}  // namespace
}  // namespace fhelium

#include "rns/vector_kernels.h"

namespace fhelium {
namespace {

void reduce_integers(u64* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                     const Modulus<u64>& m) {
  const auto f = [by = word_reduction(m, true)](__m512i x) {
    return reduce_words(_mm512_xor_si512(x, broadcast((u64)1 << 63)), by);
  };
  if (!serves(m) || !map(out, out_step, (const u64*)in, in_step, n, f))
    portable.reduce_integers(out, out_step, in, in_step, n, m);
}

// ---- basis conversion --------------------------------------------------------------------------

/// kVectors vectors of the digits and of the sum of y_i / d_i, which is rounded as in the portable
/// kernel: one product and one addition for each prime, in order.
template <int kVectors, class Lanes>
FHELIUM_INLINE void scale_vectors(const BasisTile<u64>& tile, double* sum, const u64* const* rows,
                                  i64 k, Lanes lanes, const BasisSource<u64>& from,
                                  const double* reciprocals) {
  __m512d total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = _mm512_setzero_pd();
  for (int i = 0; i < from.count; ++i) {
    const VectorModulus m = in_lanes(from.moduli[i]);
    const __m512i scale = broadcast(from.scale[i]);
    const __m512d reciprocal = _mm512_set1_pd(reciprocals[i]);
    for (int v = 0; v < kVectors; ++v) {
      const i64 at = k + v * kLanes;
      const __m512i y = montgomery_multiply(load(lanes, rows[i] + at), scale, m);
      store(Whole{}, digit_of(tile, i) + at, y);  // a tile has room for whole vectors
      total[v] = _mm512_add_pd(total[v], _mm512_mul_pd(_mm512_cvtepi64_pd(y), reciprocal));
    }
  }
  for (int v = 0; v < kVectors; ++v) _mm512_store_pd(sum + k + v * kLanes, total[v]);
}

void centre(const BasisTile<u64>& tile, const u64* const* rows, i64 step, i64 n,
            const BasisSource<u64>& from) {
  alignas(64) double sum[kBasisTile];
  double reciprocals[kMaxSourcePrimes];
  bool narrow = step == 1;
  for (int i = 0; i < from.count; ++i) {
    narrow = narrow && from.moduli[i].bits == 52;
    reciprocals[i] = 1.0 / (double)(i64)from.moduli[i].q;
  }
  if (narrow)
    for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
      scale_vectors<kVectors>(tile, sum, rows, k, lanes, from, reciprocals);
    });
  else
    scale_into_digits(tile, sum, rows, step, n, from);
  u64* whole = digit_of(tile, from.count);
  const __m512d half = _mm512_set1_pd(0.5), sure = _mm512_set1_pd(kSure);
  for_vectors(n, [&](i64 k, auto) {
    const __m512d total = _mm512_load_pd(sum + k);
    const __m512i nearest = _mm512_cvttpd_epi64(_mm512_add_pd(total, half));
    store(Whole{}, whole + k, nearest);
    const __m512d rest = _mm512_sub_pd(total, _mm512_cvtepi64_pd(nearest));
    const __mmask8 unsure = _mm512_cmp_pd_mask(_mm512_abs_pd(rest), sure, _CMP_GT_OQ);
    if (unsure) [[unlikely]]
      decide_exactly(tile, k, n, unsure, sum + k, from);
  });
}

/// So many vectors at once keep both multipliers busy: each has a high and a low sum, and a sum
/// waits four cycles for its last product.
constexpr int kBlock = 8;

/// sum_i digit_i factor_i R^-1 of kVectors vectors, in (-q, q), or in (-q, 2 q) where kWide.
/// The sum is below q (sum_i d_i): see BasisTarget. Not wide, that is q R. Wide, with sources below
/// 2^50, it is below 2^54 q: the high half stays below 2^52 and is reduced to below 2 q first.
template <bool kWide, int kVectors>
FHELIUM_INLINE void dot(__m512i (&x)[kVectors], const BasisTile<u64>& tile, i64 k,
                        const u64* factor, int terms, const VectorModulus& m) {
  Halves sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = no_products();
  for (int i = 0; i < terms; ++i) {
    const __m512i c = broadcast(factor[i]);
    for (int v = 0; v < kVectors; ++v)
      add_product(sum[v], load(Whole{}, digit_of(tile, i) + k + v * kLanes), c);
  }
  for (int v = 0; v < kVectors; ++v) {
    const __m512i high = carried_high(sum[v]);
    x[v] = montgomery_signed(kWide ? reduce_lazy(high, m) : high, sum[v].low, m);
  }
}

/// Call put(first index, lanes, x) for the vectors of a tile.
template <bool kWide, class Put>
FHELIUM_INLINE void for_values(const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to,
                               const VectorModulus& m, const Put& put) {
  for_blocks<kBlock>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    __m512i x[kVectors];
    dot<kWide>(x, tile, k, to.factor, to.count + 1, m);
    for (int v = 0; v < kVectors; ++v) put(k + v * kLanes, lanes, x[v]);
  });
}

template <bool kWide>
void convert_row(u64* out, const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to) {
  const VectorModulus m = in_lanes(*to.target);
  for_values<kWide>(tile, n, to, m, [&](i64 k, auto lanes, __m512i x) {
    if constexpr (kWide) x = reduce_once(_mm512_add_epi64(x, m.q), _mm512_add_epi64(m.q, m.q));
    store(lanes, out + k, kWide ? reduce_once(x, m.q) : lift_once(x, m));
  });
}

void convert(u64* out, const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to) {
  if (to.target->bits != 52 || !to.narrow_sources)
    portable.convert(out, tile, n, to);
  else if (to.wide)
    convert_row<true>(out, tile, n, to);
  else
    convert_row<false>(out, tile, n, to);
}

/// With x in (-q, 2 q), in - x + 2 q lies in (0, 4 q), below R: the product is below 4 q^2 < q R.
template <bool kWide>
void subtract_divide_row(u64* out, const u64* in, const BasisTile<u64>& tile, i64 n,
                         const BasisTarget<u64>& to) {
  const VectorModulus m = in_lanes(*to.target);
  const __m512i twice = _mm512_add_epi64(m.q, m.q), division = broadcast(to.division);
  for_values<kWide>(tile, n, to, m, [&](i64 k, auto lanes, __m512i x) {
    const __m512i difference = _mm512_sub_epi64(_mm512_add_epi64(load(lanes, in + k), twice), x);
    store(lanes, out + k, montgomery_multiply(difference, division, m));
  });
}

void subtract_divide(u64* out, const u64* in, i64 step, const BasisTile<u64>& tile, i64 n,
                     const BasisTarget<u64>& to) {
  if (to.target->bits != 52 || !to.narrow_sources || step != 1)
    portable.subtract_divide(out, in, step, tile, n, to);
  else if (to.wide)
    subtract_divide_row<true>(out, in, tile, n, to);
  else
    subtract_divide_row<false>(out, in, tile, n, to);
}

}  // namespace

const RnsKernels<u64> kRnsKernels64Avx512 =
    vector_kernels(reduce_integers, centre, convert, subtract_divide);

}  // namespace fhelium
