// RNS rows with AVX2 and FMA. What they do not cover goes to the portable kernels: strided rows,
// and moduli from 2^50 on wherever a product is needed.
#include "common/fma.h"
#include "rns/exact_half.h"
#include "rns/kernels.h"
#include "rns/small_rows.h"

namespace fhelium {
namespace {

const RnsKernels<u64>& portable = kRnsKernels64Portable;

// ---- coefficient-wise --------------------------------------------------------------------------

using Residue = u64;

FHELIUM_INLINE bool serves(const Modulus<u64>& m) { return m.bits == 52; }

/// Any a < 2^52.
struct Scale {
  DoubleModulus m;
  Factor w;
  Scale(u64 factor, const Modulus<u64>& modulus)
      : m(in_lanes(modulus)), w(montgomery_factor(factor, modulus)) {}
  __m256i operator()(__m256i a) const { return to_residues(multiply(to_doubles(a), w, m), m); }
};
struct Unscale : Scale {
  explicit Unscale(const Modulus<u64>& modulus) : Scale(1, modulus) {}
};

struct Product : Unscale {
  using Unscale::Unscale;
  __m256i operator()(__m256i a, __m256i b) const {
    return to_residues(montgomery_multiply(to_doubles(a), to_doubles(b), w, m), m);
  }
};
struct LazyProduct : Product {
  using Product::Product;
  __m256i operator()(__m256i a, __m256i b) const {
    return Product::operator()(reduce_once(a, m), reduce_once(b, m));
  }
};

}  // namespace
}  // namespace fhelium

#include "rns/vector_kernels.h"

namespace fhelium {
namespace {

void reduce_integers(u64* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                     const Modulus<u64>& modulus) {
  const auto f = [m = in_lanes(modulus)](__m256i x) {
    return to_residues(reduce_words<true>(x, m), m);
  };
  if (!serves(modulus) || !map(out, out_step, (const u64*)in, in_step, n, f))
    portable.reduce_integers(out, out_step, in, in_step, n, modulus);
}

// ---- basis conversion --------------------------------------------------------------------------
// Where every source prime is below 2^50 a tile holds doubles.

FHELIUM_INLINE __m256d load(const double* p) { return _mm256_loadu_pd(p); }

FHELIUM_INLINE BasisTile<double> as_doubles(const BasisTile<u64>& tile) {
  return {(double*)tile.digits, tile.stride};
}

FHELIUM_INLINE bool narrow(const BasisSource<u64>& from) {
  bool all = true;
  for (int i = 0; i < from.count; ++i) all = all && from.moduli[i].bits == 52;
  return all;
}

/// Call body(first, width, row of that width) for stretches of a strided row.
template <class Body>
FHELIUM_INLINE void for_copies(const u64* row, i64 step, i64 n, const Body& body) {
  u64 copy[kBasisTile];
  for (i64 first = 0; first < n; first += kBasisTile) {
    const i64 width = n - first < kBasisTile ? n - first : kBasisTile;
    for (i64 k = 0; k < width; ++k) copy[k] = row[(first + k) * step];
    body(first, width, copy);
  }
}

void centre(const BasisTile<u64>& words, const u64* const* rows, i64 step, i64 n,
            const BasisSource<u64>& from) {
  if (!narrow(from)) {
    portable.centre(words, rows, step, n, from);
    return;
  }
  const BasisTile<double> tile = as_doubles(words);
  const u64* source[kMaxSourcePrimes];
  DoubleModulus moduli[kMaxSourcePrimes];
  Factor scale[kMaxSourcePrimes];
  for (int i = 0; i < from.count; ++i) {
    source[i] = rows[i];
    moduli[i] = in_lanes(from.moduli[i]);
    scale[i] = montgomery_factor(from.scale[i], from.moduli[i]);
    if (step == 1) continue;
    u64* own = digit_of(words, i);
    for (i64 k = 0; k < n; ++k) own[k] = rows[i][k * step];
    source[i] = own;
  }
  double* whole = digit_of(tile, from.count);
  for_blocks<2>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    __m256d sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = _mm256_setzero_pd();
    for (int i = 0; i < from.count; ++i)
      for (int v = 0; v < kVectors; ++v) {
        const i64 at = k + v * kLanes;
        const __m256d x = to_doubles(load(lanes, source[i] + at));
        const __m256d y = lift_once(multiply(x, scale[i], moduli[i]), moduli[i]);
        _mm256_storeu_pd(digit_of(tile, i) + at, y);  // a tile has room for whole vectors
        sum[v] = _mm256_add_pd(sum[v], _mm256_mul_pd(y, moduli[i].inverse));
      }
    for (int v = 0; v < kVectors; ++v) {
      const i64 at = k + v * kLanes;
      const __m256d nearest = round_nearest(sum[v]), rest = _mm256_sub_pd(sum[v], nearest);
      const __m256d size = _mm256_andnot_pd(broadcast(-0.0), rest);
      _mm256_storeu_pd(whole + at, nearest);
      const __m256d close = _mm256_cmp_pd(size, broadcast(kSure), _CMP_GT_OQ);
      if (const int unsure = _mm256_movemask_pd(close)) [[unlikely]] {
        double sums[kLanes];
        _mm256_storeu_pd(sums, sum[v]);
        decide_exactly(tile, at, n, (unsigned)unsure, sums, from);
      }
    }
  });
}

/// Factors of the digits as standard residues, centred.
struct CentredFactors {
  double value[kMaxSourcePrimes + 1];
};

FHELIUM_INLINE CentredFactors centred_factors(const BasisTarget<u64>& to) {
  CentredFactors factor;
  for (int i = 0; i <= to.count; ++i)
    factor.value[i] = centred(montgomery_reduce<52>((u128)to.factor[i], *to.target), to.target->q);
  return factor;
}

/// So many sources of a target share a sum. A term is below 1/2 d_i q, and that of the whole part
/// below 1/2 2^50 q: together below 3 2^50 q for five of any size, and for all
/// whose primes add up to at most 2^52 but for the room that `low` has.
FHELIUM_INLINE int most_sources(const BasisTarget<u64>& to) { return to.wide ? 5 : 12; }

/// sum_i digit_i factor_i of kVectors vectors, at most 3/2 q, and below q for two sources.
template <int kVectors>
FHELIUM_INLINE void dot(__m256d (&x)[kVectors], const BasisTile<double>& tile, i64 k,
                        const CentredFactors& factor, int count, int group, const SumModulus& m) {
  Sum sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = no_products(m);
  const auto add = [&](int i) __attribute__((always_inline)) {
    const __m256d c = broadcast(factor.value[i]);
    for (int v = 0; v < kVectors; ++v)
      add_product(sum[v], load(digit_of(tile, i) + k + v * kLanes), c);
  };
  for (int i = 0, past = group; i < count; ++i) {
    if (i == past) {
      past += group;
      for (int v = 0; v < kVectors; ++v) fold(sum[v], m);
    }
    add(i);
  }
  add(count);
  for (int v = 0; v < kVectors; ++v) x[v] = reduce(sum[v], m);
}

/// Call put(first index, lanes, x) for the vectors of a tile.
template <class Put>
FHELIUM_INLINE void for_values(const BasisTile<u64>& words, i64 n, const BasisTarget<u64>& to,
                               const SumModulus& m, const Put& put) {
  const BasisTile<double> tile = as_doubles(words);
  const CentredFactors factor = centred_factors(to);
  const int group = most_sources(to);
  for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    __m256d x[kVectors];
    dot(x, tile, k, factor, to.count, group, m);
    for (int v = 0; v < kVectors; ++v) put(k + v * kLanes, lanes, x[v]);
  });
}

/// x_k mod q for a prime from 2^50 on.
FHELIUM_INLINE u64 wide_value(const BasisTile<double>& tile, i64 k, const BasisTarget<u64>& to) {
  u128 sum = 0;
  for (int i = 0; i <= to.count; ++i) sum += (u128)(u64)digit_of(tile, i)[k] * to.factor[i];
  return montgomery_reduce_wide<64>(sum, *to.target);
}

void convert(u64* out, const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to) {
  if (!to.narrow_sources) {
    portable.convert(out, tile, n, to);
    return;
  }
  if (to.target->bits != 52) {
    for (i64 k = 0; k < n; ++k) out[k] = wide_value(as_doubles(tile), k, to);
    return;
  }
  const SumModulus m = in_sums(*to.target);
  for_values(tile, n, to, m,
             [&](i64 k, auto lanes, __m256d x) { store(lanes, out + k, to_residues(x, m)); });
}

/// With x in (-q, q), in - x lies in (-q, 2 q).
void subtract_divide(u64* out, const u64* in, i64 step, const BasisTile<u64>& tile, i64 n,
                     const BasisTarget<u64>& to) {
  if (!to.narrow_sources) {
    portable.subtract_divide(out, in, step, tile, n, to);
    return;
  }
  if (to.target->bits != 52) {
    const Modulus<u64> own = *to.target;
    for (i64 k = 0; k < n; ++k) {
      const u64 x = wide_value(as_doubles(tile), k, to);
      const u64 difference = subtract_modular(in[k * step], x, own.q);
      out[k] = montgomery_multiply<64>(difference, to.division, own);
    }
    return;
  }
  if (step != 1) {
    for_copies(in, step, n, [&](i64 first, i64 width, const u64* copy) {
      subtract_divide(out + first, copy, 1, {tile.digits + first, tile.stride}, width, to);
    });
    return;
  }
  const SumModulus m = in_sums(*to.target);
  const Factor division = montgomery_factor(to.division, *to.target);
  for_values(tile, n, to, m, [&](i64 k, auto lanes, __m256d x) {
    const __m256d difference = _mm256_sub_pd(to_doubles(load(lanes, in + k)), x);
    store(lanes, out + k, to_residues(multiply(difference, division, m), m));
  });
}

}  // namespace

void reduce_integers_avx2(u32* out, const i64* in, i64 n, const Modulus<u32>& modulus) {
  const DoubleModulus m = in_lanes(modulus);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256i x = load(lanes, (const u64*)in + k);
    store(lanes, out + k, to_residues(reduce_words<true>(x, m), m));
  });
}

const RnsKernels<u64> kRnsKernels64Avx2 =
    vector_kernels(reduce_integers, centre, convert, subtract_divide);

}  // namespace fhelium
