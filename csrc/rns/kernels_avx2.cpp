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

template <class To = IntoCaches>
void add(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step, i64 n,
         const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a, __m256i b) {
    const __m256i sum = _mm256_add_epi64(a, b);
    return unless_negative(_mm256_sub_epi64(sum, q), sum);
  };
  if (!map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.add(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

template <class To = IntoCaches>
void subtract(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step,
              i64 n, const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a, __m256i b) {
    const __m256i difference = _mm256_sub_epi64(a, b);
    return unless_negative(difference, _mm256_add_epi64(difference, q));
  };
  if (!map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.subtract(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

template <class To = IntoCaches>
void negate(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n, const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a) {
    const __m256i is_zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
    return _mm256_andnot_si256(is_zero, _mm256_sub_epi64(q, a));
  };
  if (!map<To>(out, out_step, in, in_step, n, f)) portable.negate(out, out_step, in, in_step, n, m);
}

/// in[k] w for a fixed factor.
template <class To = IntoCaches>
FHELIUM_INLINE bool scale(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                          const Factor& w, const Modulus<u64>& modulus) {
  return map<To>(out, out_step, in, in_step, n, [w, m = in_lanes(modulus)](__m256i x) {
    return to_residues(multiply(to_doubles(x), w, m), m);
  });
}

/// `standard(x)` brings an operand below q. A constant needs no such care: `scale` takes y < 2^52.
template <class To, class Standard>
FHELIUM_INLINE bool multiply_rows(u64* out, i64 out_step, const u64* lhs, i64 lhs_step,
                                  const u64* rhs, i64 rhs_step, i64 n, const Modulus<u64>& modulus,
                                  const Standard& standard) {
  if (modulus.bits != 52) return false;
  if (rhs_step == 0 && n > 0)
    return scale<To>(out, out_step, lhs, lhs_step, n, montgomery_factor(rhs[0], modulus), modulus);
  const auto f = [=, m = in_lanes(modulus), w = montgomery_factor<u64>(1, modulus)](__m256i a,
                                                                                    __m256i b) {
    const __m256d x = to_doubles(standard(a)), y = to_doubles(standard(b));
    return to_residues(montgomery_multiply(x, y, w, m), m);
  };
  return map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f);
}

template <class To = IntoCaches>
void multiply_montgomery(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                         i64 rhs_step, i64 n, const Modulus<u64>& m) {
  const auto as_it_is = [](__m256i x) { return x; };
  if (!multiply_rows<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m, as_it_is))
    portable.multiply_montgomery(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void multiply_lazy(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                   i64 rhs_step, i64 n, const Modulus<u64>& m) {
  const auto reduced = [q = broadcast(m.q)](__m256i x) {
    return unless_negative(_mm256_sub_epi64(x, q), x);
  };
  if (!multiply_rows<IntoCaches>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m, reduced))
    portable.multiply_lazy(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void to_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                   const Modulus<u64>& m) {
  if (m.bits != 52 || !scale(out, out_step, in, in_step, n, fixed_factor(m.montgomery_one, m.q), m))
    portable.to_montgomery(out, out_step, in, in_step, n, m);
}

void from_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                     const Modulus<u64>& m) {
  if (m.bits != 52 || !scale(out, out_step, in, in_step, n, montgomery_factor<u64>(1, m), m))
    portable.from_montgomery(out, out_step, in, in_step, n, m);
}

void reduce_integers(u64* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                     const Modulus<u64>& modulus) {
  const auto f = [m = in_lanes(modulus)](__m256i x) {
    return to_residues(reduce_words<true>(x, m), m);
  };
  if (modulus.bits != 52 || !map(out, out_step, (const u64*)in, in_step, n, f))
    portable.reduce_integers(out, out_step, in, in_step, n, modulus);
}

// ---- basis conversion --------------------------------------------------------------------------
// Where every source prime is below 2^50 a tile holds doubles.

FHELIUM_INLINE __m256d load(const double* p) { return _mm256_loadu_pd(p); }

FHELIUM_INLINE double* double_digit(const BasisTile<u64>& tile, int i) {
  return (double*)digit_of(tile, i);
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

/// Whether the digits of one value add up to more than whole + 1/2.
bool value_exceeds_half(const BasisTile<u64>& tile, i64 k, const BasisSource<u64>& from,
                        u64 whole) {
  u64 digits[kMaxSourcePrimes];
  for (int i = 0; i < from.count; ++i) digits[i] = (u64)double_digit(tile, i)[k];
  return exceeds_half(BasisTile<u64>{digits, 1}, 0, from, whole);
}

/// As in the portable kernel the sum decides unless it is within 2^-40 of a half.
void centre(const BasisTile<u64>& tile, const u64* const* rows, i64 step, i64 n,
            const BasisSource<u64>& from) {
  if (!narrow(from)) {
    portable.centre(tile, rows, step, n, from);
    return;
  }
  const u64* source[kMaxSourcePrimes];
  DoubleModulus moduli[kMaxSourcePrimes];
  Factor scale[kMaxSourcePrimes];
  for (int i = 0; i < from.count; ++i) {
    source[i] = rows[i];
    moduli[i] = in_lanes(from.moduli[i]);
    scale[i] = montgomery_factor(from.scale[i], from.moduli[i]);
    if (step == 1) continue;
    u64* own = digit_of(tile, i);
    for (i64 k = 0; k < n; ++k) own[k] = rows[i][k * step];
    source[i] = own;
  }
  double* whole = double_digit(tile, from.count);
  for_blocks<2>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    __m256d sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = _mm256_setzero_pd();
    for (int i = 0; i < from.count; ++i)
      for (int v = 0; v < kVectors; ++v) {
        const i64 at = k + v * kLanes;
        const __m256d x = to_doubles(load(lanes, source[i] + at));
        const __m256d y = lift_once(multiply(x, scale[i], moduli[i]), moduli[i]);
        _mm256_storeu_pd(double_digit(tile, i) + at, y);  // a tile has room for whole vectors
        sum[v] = _mm256_add_pd(sum[v], _mm256_mul_pd(y, moduli[i].inverse));
      }
    for (int v = 0; v < kVectors; ++v) {
      const i64 at = k + v * kLanes;
      const __m256d nearest = round_nearest(sum[v]), rest = _mm256_sub_pd(sum[v], nearest);
      const __m256d size = _mm256_andnot_pd(broadcast(-0.0), rest);
      _mm256_storeu_pd(whole + at, nearest);
      const int unsure =
          _mm256_movemask_pd(_mm256_cmp_pd(size, broadcast(0.5 - 0x1p-40), _CMP_GT_OQ));
      if (unsure) [[unlikely]] {
        double sums[kLanes];
        _mm256_storeu_pd(sums, sum[v]);
        for (i64 lane = 0; lane < kLanes && at + lane < n; ++lane)
          if (unsure >> lane & 1) {
            const u64 below = (u64)sums[lane];
            const bool above = value_exceeds_half(tile, at + lane, from, below);
            whole[at + lane] = (double)(i64)(below + (above ? 1 : 0));
          }
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
FHELIUM_INLINE void dot(__m256d (&x)[kVectors], const BasisTile<u64>& tile, i64 k,
                        const CentredFactors& factor, int count, int group, const SumModulus& m) {
  Sum sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = no_products(m);
  const auto add = [&](int i) __attribute__((always_inline)) {
    const __m256d c = broadcast(factor.value[i]);
    for (int v = 0; v < kVectors; ++v)
      add_product(sum[v], load(double_digit(tile, i) + k + v * kLanes), c);
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
FHELIUM_INLINE void for_values(const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to,
                               const SumModulus& m, const Put& put) {
  const CentredFactors factor = centred_factors(to);
  const int group = most_sources(to);
  for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    __m256d x[kVectors];
    dot(x, tile, k, factor, to.count, group, m);
    for (int v = 0; v < kVectors; ++v) put(k + v * kLanes, lanes, x[v]);
  });
}

/// x_k mod q for a prime from 2^50 on.
FHELIUM_INLINE u64 wide_value(const BasisTile<u64>& tile, i64 k, const BasisTarget<u64>& to) {
  u128 sum = 0;
  for (int i = 0; i <= to.count; ++i) sum += (u128)(u64)double_digit(tile, i)[k] * to.factor[i];
  return montgomery_reduce_wide<64>(sum, *to.target);
}

void convert(u64* out, const BasisTile<u64>& tile, i64 n, const BasisTarget<u64>& to) {
  if (!to.narrow_sources) {
    portable.convert(out, tile, n, to);
    return;
  }
  if (to.target->bits != 52) {
    for (i64 k = 0; k < n; ++k) out[k] = wide_value(tile, k, to);
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
      const u64 difference = subtract_modular(in[k * step], wide_value(tile, k, to), own.q);
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

const RnsKernels<u64> kRnsKernels64Avx2 = {
    .add = add<>,
    .subtract = subtract<>,
    .multiply_montgomery = multiply_montgomery<>,
    .negate = negate<>,
    .to_montgomery = to_montgomery,
    .from_montgomery = from_montgomery,
    .past_caches = {add<PastCaches>, subtract<PastCaches>, multiply_montgomery<PastCaches>,
                    negate<PastCaches>},
    .multiply_lazy = multiply_lazy,
    .reduce_integers = reduce_integers,
    .reduce_small = reduce_small<u64>,
    .add_small = add_small<u64>,
    .centre = centre,
    .convert = convert,
    .subtract_divide = subtract_divide,
};

}  // namespace fhelium
