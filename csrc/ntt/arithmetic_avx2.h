// Arithmetic of the AVX2 transforms: integers in four doubles a register (see common/fma.h), for
// q < 2^50. A product with a twiddle is exact and at most 5/8 q for |y| <= 2^52, sums and
// differences stay below 2^53: no rounding error ever enters. Everything has internal linkage: a
// translation unit compiled for AVX2 leaves no symbol that another could pick up.
#pragma once
#include "common/fma.h"
#include "ntt/layout.h"

namespace fhelium {
namespace {

/// Lazy: no reduction between forward levels; pass: one in three levels. A prime that is small
/// enough for one is so for those behind it.
enum class PathAvx2 { kLazy, kPass, kPortable };

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
FHELIUM_INLINE double centred_ratio(u64 w, u64 q) { return centred(w, q) / (double)(i64)q; }

struct Doubles4 {
  using Vector = __m256d;
  static constexpr int kLanes = 4;
  static constexpr int kTogether = 4;  // blocks that go through their levels together
  static constexpr int kWords = 1;     // words a twiddle: w = round(v q), as |v q - w| < 2^-5
  static constexpr int kProduct = 1;   // a product is below q in absolute value

  using Twiddle = Factor;  // one or four different ones

  DoubleModulus m;

  FHELIUM_METHOD explicit Doubles4(const Modulus<u64>& modulus) : m(in_lanes(modulus)) {}

  FHELIUM_METHOD static Vector load(const u64* p) {
    return _mm256_loadu_pd(reinterpret_cast<const double*>(p));
  }
  FHELIUM_METHOD static void store(u64* p, Vector x) {
    _mm256_storeu_pd(reinterpret_cast<double*>(p), x);
  }
  FHELIUM_METHOD static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  FHELIUM_METHOD static Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }

  FHELIUM_METHOD static Vector load_residues(const u64* p) {
    return to_doubles(fhelium::load(Whole{}, p));
  }
  FHELIUM_METHOD void store_residues(u64* p, Vector x) const {
    fhelium::store(Whole{}, p, to_residues(x, m));
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

  FHELIUM_METHOD Twiddle twiddle(Vector ratio) const { return {round_product(ratio, m.q), ratio}; }
  FHELIUM_METHOD Twiddle twiddle_spread(const u64* p) const {
    return twiddle(_mm256_broadcast_sd(reinterpret_cast<const double*>(p)));
  }
  FHELIUM_METHOD Twiddle twiddle_load(const u64* p) const { return twiddle(load(p)); }

  FHELIUM_METHOD Vector product(Vector y, const Twiddle& w) const { return multiply(y, w, m); }
  FHELIUM_METHOD void butterfly(Vector& x, Vector& y, const Twiddle& w) const {
    const Vector right = product(y, w);
    y = subtract(x, right);
    x = add(x, right);
  }

  FHELIUM_METHOD Vector reduce(Vector x, int /*bound*/) const { return fhelium::reduce(x, m); }

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

  // What is stored may lie in (-q, q).
  FHELIUM_METHOD static Vector finish_product(Vector x) { return x; }
  FHELIUM_METHOD Vector finish(Vector x) const { return reduce(x, 0); }
};

}  // namespace
}  // namespace fhelium
