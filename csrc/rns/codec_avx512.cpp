// The codec with AVX-512 IFMA. What it does not cover goes to the portable kernels: strided rows,
// moduli from 2^50 on, and integers from 2^63 on.
#include "common/ifma.h"
#include "rns/nearest_doubles.h"

namespace fhelium {
namespace {

const CodecKernels<u64>& portable = kCodecKernels64Portable;

i64 round(double* rounded, const double* values, double scale, i64 n) {
  constexpr int kNearestEven = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  const __m512d factor = _mm512_set1_pd(scale), limit = _mm512_set1_pd(0x1p63);
  i64 wide = 0, k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    const __m512d x = _mm512_mul_pd(_mm512_loadu_pd(values + k), factor);
    _mm512_storeu_pd(rounded + k, _mm512_roundscale_pd(x, kNearestEven));
    const __mmask8 fits = _mm512_cmp_pd_mask(_mm512_abs_pd(x), limit, _CMP_LT_OQ);
    wide += __builtin_popcount((uint8_t)~fits);
  }
  return wide + portable.round(rounded + k, values + k, scale, n - k);
}

void reduce_narrow(u64* out, const double* rounded, i64 n, const Modulus<u64>& m) {
  if (m.bits != 52) {
    portable.reduce_narrow(out, rounded, n, m);
    return;
  }
  const WordReduction by = word_reduction(m, true);
  const __m512i top = broadcast((u64)1 << 63);
  for_vectors(n, [&](i64 k, auto lanes) {
    const __m512d x = _mm512_castsi512_pd(load(lanes, (const u64*)rounded + k));
    store(lanes, out + k, reduce_words(_mm512_xor_si512(_mm512_cvttpd_epi64(x), top), by));
  });
}

bool has_short_rows(const Modulus<u64>* moduli, i64 limbs, i64 step) {
  bool narrow = step == 1;
  for (i64 i = 0; narrow && i < limbs; ++i) narrow = moduli[i].bits == 52;
  return narrow;
}

// ---- the last two moduli -----------------------------------------------------------------------

/// kVectors vectors of doubles; returns the lanes with another residue elsewhere. x = low + high a,
/// minus a b where it is negative; modulo m that is, times R,
///   (low + m - residue + (m - a b)) R + high (a R) < 2^52 m,
/// since the moduli are below 2^50: reduced it lies in (-m, m), and is 0 or is not.
template <int kVectors, class Lanes>
FHELIUM_INLINE __mmask8 pair_vectors(double* out, const u64* residues, i64 limb_stride, Lanes lanes,
                                     const PairTables<u64>& tables) {
  const i64 others = tables.limbs - 2;
  const VectorModulus b = in_lanes(tables.moduli[others]);
  const u64 a = tables.moduli[others + 1].q;
  const __m512i inverse = broadcast(tables.inverse), half_b = _mm512_srli_epi64(b.q, 1);
  const __m512d wide_a = _mm512_set1_pd((double)a);
  __m512i low[kVectors], high[kVectors], differences[kVectors];
  __mmask8 negative[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const u64* own = residues + v * kLanes;
    low[v] = load(lanes, own + (others + 1) * limb_stride);
    const __m512i reduced = reduce_once(reduce_lazy(low[v], b), b.q);
    const __m512i rest = _mm512_sub_epi64(load(lanes, own + others * limb_stride), reduced);
    high[v] = montgomery_multiply(lift_once(rest, b), inverse, b);
    negative[v] = (__mmask8)(_mm512_cmpgt_epu64_mask(high[v], half_b) |
                             _mm512_mask_cmpgt_epu64_mask(_mm512_cmpeq_epi64_mask(high[v], half_b),
                                                          low[v], broadcast(a >> 1)));
    const __m512i centred = _mm512_mask_sub_epi64(high[v], negative[v], high[v], b.q);
    // All three are exact doubles, so their one fused operation rounds the integer once.
    const __m512d x =
        _mm512_fmadd_pd(_mm512_cvtepi64_pd(centred), wide_a, _mm512_cvtepi64_pd(low[v]));
    store(lanes, (u64*)out + v * kLanes, _mm512_castpd_si512(x));
    differences[v] = zero();
  }
  for (i64 j = 0; j < others; ++j) {
    const VectorModulus m = in_lanes(tables.moduli[j]);
    const __m512i one = broadcast(tables.moduli[j].montgomery_one);
    const __m512i a_here = broadcast(tables.factors[2 * j]);
    const __m512i wrap = broadcast(tables.moduli[j].q - tables.factors[2 * j + 1]);
    for (int v = 0; v < kVectors; ++v) {
      const __m512i residue = load(lanes, residues + j * limb_stride + v * kLanes);
      const __m512i lifted = _mm512_add_epi64(low[v], _mm512_sub_epi64(m.q, residue));
      Halves sum = no_products();
      add_product(sum, _mm512_mask_add_epi64(lifted, negative[v], lifted, wrap), one);
      add_product(sum, high[v], a_here);
      const __m512i difference = montgomery_signed(carried_high(sum), sum.low, m);
      differences[v] = _mm512_or_si512(differences[v], difference);
    }
  }
  __mmask8 larger = 0;
  for (int v = 0; v < kVectors; ++v)
    larger = (__mmask8)(larger | _mm512_test_epi64_mask(differences[v], differences[v]));
  return larger;
}

bool centred_pair(double* out, const u64* residues, i64 limb_stride, i64 step, i64 n,
                  const PairTables<u64>& tables) {
  if (!has_short_rows(tables.moduli, tables.limbs, step))
    return portable.centred_pair(out, residues, limb_stride, step, n, tables);
  __mmask8 larger = 0;
  for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    larger = (__mmask8)(larger |
                        pair_vectors<kVectors>(out + k, residues + k, limb_stride, lanes, tables));
  });
  return larger == 0;
}

// ---- Garner's digits ---------------------------------------------------------------------------

/// digits[limb * kGarnerBlock + lane]: the mixed radix digits of kVectors vectors. The factors have
/// R = 2^64: a reduction by 2^52 leaves 2^12 too much, which a second one takes away.
template <int kVectors, class Lanes>
FHELIUM_INLINE void garner_digits(u64* digits, const u64* residues, i64 limb_stride, Lanes lanes,
                                  const GarnerTables<u64>& tables) {
  const u64* factors = tables.factors;
  const __m512i rest_of_radix = broadcast((u64)1 << 40);  // times 2^12 it is 2^52
  for (i64 i = 0; i < tables.limbs; factors += ++i) {
    const VectorModulus m = in_lanes(tables.moduli[i]);
    Halves sum[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = no_products();
      add_product(sum[v], load(lanes, residues + i * limb_stride + v * kLanes),
                  broadcast(factors[i]));
    }
    for (i64 j = 0; j < i; ++j) {
      const __m512i factor = broadcast(factors[j]);
      for (int v = 0; v < kVectors; ++v)
        add_product(sum[v], load(Whole{}, digits + j * kGarnerBlock + v * kLanes), factor);
      if (j % kFoldEvery == kFoldEvery - 2)  // the residue itself was the first product
        for (int v = 0; v < kVectors; ++v) fold(sum[v], m);
    }
    for (int v = 0; v < kVectors; ++v) {
      fold(sum[v], m);
      const __m512i shifted = _mm512_add_epi64(montgomery_signed(sum[v].high, sum[v].low, m), m.q);
      store(Whole{}, digits + i * kGarnerBlock + v * kLanes,
            montgomery_multiply(shifted, rest_of_radix, m));
    }
  }
}

/// Which lanes are above (Q - 1) / 2, whose digits are all (q_i - 1) / 2.
FHELIUM_INLINE __mmask8 negative_lanes(const u64* digits, const GarnerTables<u64>& tables) {
  __mmask8 negative = 0;
  for (i64 i = 0; i < tables.limbs; ++i) {
    const __m512i digit = load(Whole{}, digits + i * kGarnerBlock);
    const __m512i half = broadcast(tables.moduli[i].q >> 1);
    const __mmask8 above = _mm512_cmpgt_epu64_mask(digit, half);
    negative = (__mmask8)(above | _mm512_mask_cmpeq_epu64_mask(negative, digit, half));
  }
  return negative;
}

/// One vector from digits to doubles; returns the lanes whose doubles are not decided. |x| is x, or
/// Q - x = (Q - 1 - x) + 1, the complemented digits.
template <class Lanes>
FHELIUM_INLINE u64 centred_vector(double* out, Lanes lanes, const GarnerTables<u64>& tables,
                                  const u64* digits) {
  const __mmask8 negative = negative_lanes(digits, tables);
  const auto digit = [&](i64 i) {
    const __m512i own = load(Whole{}, digits + i * kGarnerBlock);
    const __m512i whole = broadcast(tables.moduli[i].q - (i == 0 ? 0 : 1));
    return _mm512_cvtepi64_pd(_mm512_mask_sub_epi64(own, negative, whole, own));
  };
  __m512d least, most;
  nearest_doubles(least, most, tables.moduli, tables.limbs, digit);
  const __m512d value = _mm512_mask_sub_pd(least, negative, _mm512_setzero_pd(), least);
  store(lanes, (u64*)out, _mm512_castpd_si512(value));
  return _mm512_cmp_pd_mask(least, most, _CMP_NEQ_UQ);
}

void centred(double* out, const u64* residues, i64 limb_stride, i64 step, i64 n,
             const GarnerTables<u64>& tables, u64* workspace) {
  if (!has_short_rows(tables.moduli, tables.limbs, step)) {
    portable.centred(out, residues, limb_stride, step, n, tables, workspace);
    return;
  }
  u64 undecided = 0;
  // Four vectors at once: so many sums keep the multipliers busy.
  for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    garner_digits<kVectors>(workspace, residues + k, limb_stride, lanes, tables);
    for (int v = 0; v < kVectors; ++v) {
      const i64 at = v * kLanes;
      undecided |= centred_vector(out + k + at, lanes, tables, workspace + at) << (k + at);
    }
  });
  for (i64 k = 0; k < n; ++k)
    if (undecided >> k & 1)
      portable.centred(out + k, residues + k, limb_stride, 1, 1, tables, workspace);
}

}  // namespace

const CodecKernels<u64> kCodecKernels64Avx512 = {round, reduce_narrow, centred_pair, centred};

}  // namespace fhelium
