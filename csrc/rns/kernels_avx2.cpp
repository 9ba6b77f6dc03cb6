// RNS rows with AVX2 and FMA. What they do not cover goes to the portable kernels: strided rows,
// and moduli from 2^50 on wherever a product is needed.
#include "common/fma.h"
#include "rns/exact_half.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

const RnsKernels<u64>& portable = kRnsKernels64Portable;

// ---- coefficient-wise --------------------------------------------------------------------------

void add(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step, i64 n,
         const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a, __m256i b) {
    const __m256i sum = _mm256_add_epi64(a, b);
    return unless_negative(_mm256_sub_epi64(sum, q), sum);
  };
  if (!map(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.add(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void subtract(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step,
              i64 n, const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a, __m256i b) {
    const __m256i difference = _mm256_sub_epi64(a, b);
    return unless_negative(difference, _mm256_add_epi64(difference, q));
  };
  if (!map(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.subtract(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void negate(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n, const Modulus<u64>& m) {
  const auto f = [q = broadcast(m.q)](__m256i a) {
    const __m256i is_zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
    return _mm256_andnot_si256(is_zero, _mm256_sub_epi64(q, a));
  };
  if (!map(out, out_step, in, in_step, n, f)) portable.negate(out, out_step, in, in_step, n, m);
}

/// in[k] w for a fixed factor.
FHELIUM_INLINE bool scale(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                          const Factor& w, const Modulus<u64>& modulus) {
  return map(out, out_step, in, in_step, n, [w, m = in_lanes(modulus)](__m256i x) {
    return to_residues(multiply(to_doubles(x), w, m), m);
  });
}

bool multiply_rows(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                   i64 rhs_step, i64 n, const Modulus<u64>& modulus) {
  if (modulus.bits != 52) return false;
  if (rhs_step == 0 && n > 0)
    return scale(out, out_step, lhs, lhs_step, n, montgomery_factor(rhs[0], modulus), modulus);
  const auto f = [m = in_lanes(modulus), w = montgomery_factor(1, modulus)](__m256i a, __m256i b) {
    return to_residues(montgomery_multiply(to_doubles(a), to_doubles(b), w, m), m);
  };
  return map(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f);
}

void multiply_montgomery(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                         i64 rhs_step, i64 n, const Modulus<u64>& m) {
  if (!multiply_rows(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m))
    portable.multiply_montgomery(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void to_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                   const Modulus<u64>& m) {
  if (m.bits != 52 || !scale(out, out_step, in, in_step, n, fixed_factor(m.montgomery_one, m.q), m))
    portable.to_montgomery(out, out_step, in, in_step, n, m);
}

void from_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                     const Modulus<u64>& m) {
  if (m.bits != 52 || !scale(out, out_step, in, in_step, n, montgomery_factor(1, m), m))
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

}  // namespace

const RnsKernels<u64> kRnsKernels64Avx2 = {
    .add = add,
    .subtract = subtract,
    .multiply_montgomery = multiply_montgomery,
    .negate = negate,
    .to_montgomery = to_montgomery,
    .from_montgomery = from_montgomery,
    .reduce_integers = reduce_integers,
    .centre = kRnsKernels64Portable.centre,
    .convert = kRnsKernels64Portable.convert,
    .subtract_divide = kRnsKernels64Portable.subtract_divide,
};

}  // namespace fhelium
