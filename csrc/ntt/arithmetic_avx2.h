// Arithmetic of the AVX2 transforms: integers in four doubles a register, products by fused
// multiply-add, for q < 2^50. Everything has internal linkage: a translation unit compiled for AVX2
// leaves no symbol that another could pick up.
//
// A factor w is centred, |w| < q / 2, and stored as v = w / q rounded, |v - w / q| <= 2^-55. For an
// integer |y| < 2^52, with b = y v rounded to the nearest integer (one rounding: the sum with 1.5
// 2^52 has unit 1), h = w y rounded and l = w y - h exactly (FMA):
//   |w y - b q| <= q / 2 + |y| q 2^-55 <= 5/8 q,
//   h - b q = (w y - b q) - l is an integer and |l| <= |w y| 2^-53 <= q / 4, so it is below 2^53
//   and
// exact, as is its sum with l. The product is w y - b q: exact, congruent to w y, below 5/8 q.
// Likewise x - q round(x / q) is exact and below 5/8 q for an integer |x| < 2^52. Sums and
// differences stay below 2^53. So no rounding error ever enters, and residues come out as on any
// other path.
#pragma once
#include <immintrin.h>

#include "ntt/layout.h"

namespace fhelium {
namespace {

/// Lazy: no reduction between forward levels; pass: one in three levels.
enum class PathAvx2 { kPortable, kLazy, kPass };

// Largest multiple of q that a value of the inverse may reach, and a difference there, by path.
constexpr int kLazyBound = 16, kPassBound = 4;

/// Forward without reductions a level adds 5/8 q: below 16 q on the 20 levels of the largest ring.
/// One reduction in three levels leaves 5/8 q and three times as much added.
FHELIUM_INLINE PathAvx2 path_avx2(i64 degree, const Modulus<u64>& m) {
  if (degree < NttLayout<4, 1>::kSmallestDegree) return PathAvx2::kPortable;
  const u64 narrow = m.reciprocal >> 12;  // how many q fit 52 bits
  if (narrow >= kLazyBound && exact_log2(degree) <= 20) return PathAvx2::kLazy;
  if (narrow >= kPassBound) return PathAvx2::kPass;
  return PathAvx2::kPortable;
}

/// w centred, over q: what a table stores.
FHELIUM_INLINE double centred_ratio(u64 w, u64 q) {
  const double value = w > q / 2 ? -static_cast<double>(q - w) : static_cast<double>(w);
  return value / static_cast<double>(q);
}

struct Doubles4 {
  using Vector = __m256d;
  static constexpr int kLanes = 4;
  static constexpr int kWords = 1;    // words a twiddle: w = round(v q), as |v q - w| < 2^-5
  static constexpr int kProduct = 1;  // a product is below q in absolute value

  /// A fixed factor and its ratio to q, one or four different ones.
  struct Twiddle {
    Vector value, ratio;
  };

  Vector q, inverse, unit;

  FHELIUM_METHOD explicit Doubles4(const Modulus<u64>& m)
      : q(_mm256_set1_pd(static_cast<double>(m.q))),
        inverse(_mm256_set1_pd(1.0 / static_cast<double>(m.q))),
        unit(_mm256_set1_pd(kUnit)) {}

  FHELIUM_METHOD static Vector load(const u64* p) {
    return _mm256_loadu_pd(reinterpret_cast<const double*>(p));
  }
  FHELIUM_METHOD static void store(u64* p, Vector x) {
    _mm256_storeu_pd(reinterpret_cast<double*>(p), x);
  }
  FHELIUM_METHOD static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  FHELIUM_METHOD static Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }

  /// Between integers and doubles: the low bits of x + 1.5 2^52 are x.
  FHELIUM_METHOD Vector load_residues(const u64* p) const {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i shifted = _mm256_add_epi64(bits, _mm256_castpd_si256(unit));
    return subtract(_mm256_castsi256_pd(shifted), unit);
  }
  FHELIUM_METHOD void store_residues(u64* p, Vector x) const {
    const __m256i shifted = _mm256_castpd_si256(add(x, unit));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm256_sub_epi64(shifted, _mm256_castpd_si256(unit)));
  }

  /// Row i, column c of a 4 x 4 matrix -> row c, column i: pairs, then halves.
  FHELIUM_METHOD static void transpose(Vector* v) {
    const Vector even0 = _mm256_unpacklo_pd(v[0], v[1]), odd0 = _mm256_unpackhi_pd(v[0], v[1]);
    const Vector even1 = _mm256_unpacklo_pd(v[2], v[3]), odd1 = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(even0, even1, 0x20);
    v[1] = _mm256_permute2f128_pd(odd0, odd1, 0x20);
    v[2] = _mm256_permute2f128_pd(even0, even1, 0x31);
    v[3] = _mm256_permute2f128_pd(odd0, odd1, 0x31);
  }

  /// a b rounded to the nearest integer, |a b| < 2^51.
  FHELIUM_METHOD Vector round_product(Vector a, Vector b) const {
    return subtract(_mm256_fmadd_pd(a, b, unit), unit);
  }

  FHELIUM_METHOD Twiddle twiddle(Vector ratio) const { return {round_product(ratio, q), ratio}; }
  FHELIUM_METHOD Twiddle twiddle_spread(const u64* p) const {
    return twiddle(_mm256_broadcast_sd(reinterpret_cast<const double*>(p)));
  }
  FHELIUM_METHOD Twiddle twiddle_load(const u64* p) const { return twiddle(load(p)); }

  FHELIUM_METHOD Vector product(Vector y, const Twiddle& w) const {
    const Vector high = _mm256_mul_pd(w.value, y);
    const Vector low = _mm256_fmsub_pd(w.value, y, high);
    return add(_mm256_fnmadd_pd(round_product(y, w.ratio), q, high), low);
  }
  FHELIUM_METHOD void butterfly(Vector& x, Vector& y, const Twiddle& w) const {
    const Vector right = product(y, w);
    y = subtract(x, right);
    x = add(x, right);
  }

  FHELIUM_METHOD Vector reduce(Vector x, int /*bound*/) const {
    return _mm256_fnmadd_pd(round_product(x, inverse), q, x);
  }

  // Signed values need no lift.
  struct Lift {
    FHELIUM_METHOD Lift(const Modulus<u64>& /*m*/, int /*products*/) {}
  };
  FHELIUM_METHOD static Vector lifted(Vector x, const Lift& /*lift*/) { return x; }
  FHELIUM_METHOD Vector reduce_lifted(Vector x, const Lift& /*lift*/) const { return reduce(x, 0); }
  struct Multiples {
    FHELIUM_METHOD explicit Multiples(const Modulus<u64>& /*m*/) {}
  };
  FHELIUM_METHOD static Vector difference(Vector y, Vector x, const Multiples& /*multiples*/,
                                          int /*bound*/) {
    return subtract(y, x);
  }

  /// (-q, q) -> [0, q). A comparison, not the sign bit: -0 is not negative.
  FHELIUM_METHOD Vector finish_product(Vector x) const {
    const Vector negative = _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ);
    return add(x, _mm256_and_pd(negative, q));
  }
  FHELIUM_METHOD Vector finish(Vector x) const { return finish_product(reduce(x, 0)); }

  static constexpr double kUnit = 6755399441055744.0;  // 1.5 2^52
};

}  // namespace
}  // namespace fhelium
