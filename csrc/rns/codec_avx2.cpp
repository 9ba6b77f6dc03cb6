// The codec with AVX2 and FMA. What it does not cover goes to the portable kernels: strided rows,
// moduli from 2^50 on, and integers from 2^63 on.
#include "common/fma.h"
#include "rns/nearest_doubles.h"

namespace fhelium {
namespace {

template <class Word>
FHELIUM_INLINE const CodecKernels<Word>& portable() {
  if constexpr (kWordBits<Word> == 64)
    return kCodecKernels64Portable;
  else
    return kCodecKernels32Portable;
}

FHELIUM_INLINE __m256d magnitude(__m256d x) { return _mm256_andnot_pd(broadcast(-0.0), x); }

i64 round(double* rounded, const double* values, double scale, i64 n) {
  i64 wide = 0, k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    const __m256d x = _mm256_mul_pd(_mm256_loadu_pd(values + k), broadcast(scale));
    _mm256_storeu_pd(rounded + k, round_nearest(x));
    const __m256d fits = _mm256_cmp_pd(magnitude(x), broadcast(0x1p63), _CMP_LT_OQ);
    wide += kLanes - __builtin_popcount((unsigned)_mm256_movemask_pd(fits));
  }
  return wide + portable<u64>().round(rounded + k, values + k, scale, n - k);
}

/// The first quotient leaves at most q / 2 + 2^63 2^-52, an integer.
template <class Word>
void reduce_narrow(Word* out, const double* rounded, i64 n, const Modulus<Word>& modulus) {
  if (modulus.bits == 64) {
    portable<Word>().reduce_narrow(out, rounded, n, modulus);
    return;
  }
  const DoubleModulus m = in_lanes(modulus);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d x = _mm256_castsi256_pd(load(lanes, (const u64*)rounded + k));
    const __m256d quotient = round_nearest(_mm256_mul_pd(x, m.inverse));
    store(lanes, out + k, to_residues(reduce(_mm256_fnmadd_pd(quotient, m.q, x), m), m));
  });
}

template <class Word>
bool has_short_rows(const Modulus<Word>* moduli, i64 limbs, i64 step) {
  bool narrow = step == 1;
  for (i64 i = 0; narrow && i < limbs; ++i) narrow = moduli[i].bits != 64;
  return narrow;
}

/// y w modulo q in [-(q - 1) / 2, (q - 1) / 2]: the product is at most 5/8 q, so its quotient by q
/// is 1 / (2 q) > 2^-51 away from a half, and computed to 2^-53.
FHELIUM_INLINE __m256d multiply_centred(__m256d y, const Factor& w, const DoubleModulus& m) {
  return reduce(multiply(y, w, m), m);
}

// ---- the last two moduli -----------------------------------------------------------------------

/// x = low + high a, where high is centred modulo b, or (b - 1) / 2 - b beside a low in the upper
/// half. Returns whether all rows hold x; the doubles are right where they do.
template <class Word>
bool centred_pair(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
                  const PairTables<Word>& tables) {
  if (!has_short_rows(tables.moduli, tables.limbs, step))
    return portable<Word>().centred_pair(out, residues, limb_stride, step, n, tables);
  const i64 others = tables.limbs - 2;
  const u64 a = tables.moduli[others + 1].q, half_a = a / 2, half_b = tables.moduli[others].q / 2;
  const Word* const low_row = residues + (others + 1) * limb_stride;
  const DoubleModulus b = in_lanes(tables.moduli[others]);
  const Factor inverse = montgomery_factor(tables.inverse, tables.moduli[others]);
  double highs[kGarnerBlock];
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m256d low = to_doubles(load(lanes, low_row + k));
    const __m256d rest = _mm256_sub_pd(to_doubles(load(lanes, low_row - limb_stride + k)), low);
    const __m256d high = multiply_centred(rest, inverse, b);
    const __m256d above =
        _mm256_and_pd(_mm256_cmp_pd(high, broadcast((double)(i64)half_b), _CMP_EQ_OQ),
                      _mm256_cmp_pd(low, broadcast((double)(i64)half_a), _CMP_GT_OQ));
    const __m256d centred_high = _mm256_sub_pd(high, _mm256_and_pd(above, b.q));
    _mm256_storeu_pd(highs + k, centred_high);
    // All three are exact, so their one fused operation rounds the integer once.
    const __m256d x = _mm256_fmadd_pd(centred_high, broadcast((double)(i64)a), low);
    store(lanes, (u64*)out + k, _mm256_castpd_si256(x));
  });
  __m256d larger = _mm256_setzero_pd();
  for (i64 j = 0; j < others; ++j) {
    const DoubleModulus m = in_lanes(tables.moduli[j]);
    const Factor a_here = montgomery_factor(tables.factors[2 * j], tables.moduli[j]);
    for_vectors(n, [&](i64 k, auto lanes) {
      const __m256d low = to_doubles(load(lanes, low_row + k));
      const __m256d residue = to_doubles(load(lanes, residues + j * limb_stride + k));
      const __m256d product = multiply(_mm256_loadu_pd(highs + k), a_here, m);
      const __m256d difference = reduce(_mm256_add_pd(_mm256_sub_pd(low, residue), product), m);
      const __m256d differs = _mm256_cmp_pd(difference, _mm256_setzero_pd(), _CMP_NEQ_OQ);
      larger = _mm256_or_pd(larger, differs);
    });
  }
  return _mm256_movemask_pd(larger) == 0;
}

// ---- Garner's digits ---------------------------------------------------------------------------

/// 2^-64 mod q: 2^-52 2^40 2^-52, or 2^-32 2^-32.
template <class Word>
FHELIUM_INLINE u64 inverse_of_two64(const Modulus<Word>& m) {
  if constexpr (kWordBits<Word> == 64)
    return montgomery_multiply<52>(montgomery_reduce<52>((u128)1, m), reduce_word((u64)1 << 40, m),
                                   m);
  else
    return montgomery_reduce<32>((u64)montgomery_reduce<32>((u64)1, m), m);
}

/// Digits of [-(q_i - 1) / 2, (q_i - 1) / 2]: they make the centred integer itself, without a
/// comparison. digits[limb * kGarnerBlock + k] are doubles. A product with a digit is below 2^49 q
/// and that with the residue below 2^50 q: it and four digits, or five digits, share the room.
template <class Word>
void garner_digits(double* digits, const Word* residues, i64 limb_stride, i64 n,
                   const GarnerTables<Word>& tables) {
  const u64* factors = tables.factors;
  for (i64 i = 0; i < tables.limbs; factors += ++i) {
    const Modulus<Word>& modulus = tables.moduli[i];
    const SumModulus m = in_sums(modulus);
    const Factor radix_inverse = fixed_factor(inverse_of_two64(modulus), modulus.q);
    for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
      Sum sum[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        sum[v] = no_products(m);
        const __m256d x = to_doubles(load(lanes, residues + i * limb_stride + k + v * kLanes));
        add_product(sum[v], x, broadcast((double)(i64)factors[i]));
      }
      for (i64 j = 0; j < i; ++j) {
        const __m256d factor = broadcast((double)(i64)factors[j]);
        if (j % 5 == 4)
          for (int v = 0; v < kVectors; ++v) fold(sum[v], m);
        for (int v = 0; v < kVectors; ++v)
          add_product(sum[v], _mm256_loadu_pd(digits + j * kGarnerBlock + k + v * kLanes), factor);
      }
      for (int v = 0; v < kVectors; ++v)
        _mm256_storeu_pd(digits + i * kGarnerBlock + k + v * kLanes,
                         multiply_centred(reduce(sum[v], m), radix_inverse, m));
    });
  }
}

template <class Word>
void centred(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
             const GarnerTables<Word>& tables, u64* workspace) {
  if (!has_short_rows(tables.moduli, tables.limbs, step)) {
    portable<Word>().centred(out, residues, limb_stride, step, n, tables, workspace);
    return;
  }
  double* digits = (double*)workspace;
  garner_digits(digits, residues, limb_stride, n, tables);
  u64 undecided = 0;
  for_vectors(n, [&](i64 k, auto lanes) {
    __m256d least, most;
    nearest_doubles(least, most, tables.moduli, tables.limbs,
                    [&](i64 i) { return _mm256_loadu_pd(digits + i * kGarnerBlock + k); });
    const int decided = _mm256_movemask_pd(_mm256_cmp_pd(least, most, _CMP_EQ_OQ));
    undecided |= (u64)(~(unsigned)decided & 15) << k;
    store(lanes, (u64*)out + k, _mm256_castpd_si256(least));
  });
  for (i64 k = 0; k < n; ++k)
    if (undecided >> k & 1)
      portable<Word>().centred(out + k, residues + k, limb_stride, 1, 1, tables, workspace);
}

template <class Word>
constexpr CodecKernels<Word> kAvx2 = {round, reduce_narrow<Word>, centred_pair<Word>,
                                      centred<Word>};

}  // namespace

const CodecKernels<u32> kCodecKernels32Avx2 = kAvx2<u32>;
const CodecKernels<u64> kCodecKernels64Avx2 = kAvx2<u64>;

}  // namespace fhelium
