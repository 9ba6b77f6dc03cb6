// The codec with AVX-512 IFMA. What it does not cover goes to the portable kernels: strided rows,
// moduli from 2^50 on, and integers from 2^63 on.
#include "common/ifma.h"
#include "rns/codec.h"

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

void reduce_wide(u64* out, const double* rounded, const u64* powers, i64 n, const Modulus<u64>& m) {
  portable.reduce_wide(out, rounded, powers, n, m);
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

/// Digits to words of 52 bits, both kVectors vectors wide and in the same place: word w of |x|
/// takes the room of digit limbs - 1 - w. |x| is x, or Q - x = (Q - 1 - x) + 1, the complemented
/// digits.
template <int kVectors>
FHELIUM_INLINE void magnitude_words(u64* words, const GarnerTables<u64>& tables,
                                    const __mmask8 (&negative)[kVectors]) {
  const __m512i low_bits = broadcast(((u64)1 << 52) - 1);
  const i64 last = tables.limbs - 1;
  for (i64 i = last; i >= 0; --i) {
    const __m512i q = broadcast(tables.moduli[i].q), largest = broadcast(tables.moduli[i].q - 1);
    __m512i carry[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const __m512i digit = load(Whole{}, words + i * kGarnerBlock + v * kLanes);
      carry[v] = _mm512_mask_sub_epi64(digit, negative[v], largest, digit);
      if (i == 0) carry[v] = _mm512_mask_add_epi64(carry[v], negative[v], carry[v], broadcast(1));
    }
    for (i64 slot = last; slot > i; --slot)  // words q + carry: below 2^52 q, the carry below 2^50
      for (int v = 0; v < kVectors; ++v) {
        u64* place = words + slot * kGarnerBlock + v * kLanes;
        const __m512i word = load(Whole{}, place);
        const __m512i low = _mm512_madd52lo_epu64(carry[v], word, q);
        store(Whole{}, place, _mm512_and_si512(low, low_bits));
        carry[v] = _mm512_madd52hi_epu64(_mm512_srli_epi64(low, 52), word, q);
      }
    for (int v = 0; v < kVectors; ++v)
      store(Whole{}, words + i * kGarnerBlock + v * kLanes, carry[v]);
  }
}

/// The nearest double, ties to even, of the words slot[0] (the highest), slot[kGarnerBlock], ...
FHELIUM_INLINE double nearest_double(const u64* slot, i64 count) {
  while (count > 1 && *slot == 0) slot += kGarnerBlock, --count;
  if (count == 1) return (double)*slot;
  u128 leading = (u128)slot[0] << 52 | slot[kGarnerBlock];
  const int shift = __builtin_clzll((u64)(leading >> 40));  // of 104 bits, at most 51
  leading <<= 24 + shift;
  i64 w = 2;
  if (shift > 28 && count > 2) leading |= (u128)slot[w++ * kGarnerBlock] << (shift - 28);
  // What lies below the 64 leading bits only has to break ties.
  u64 rest = (u64)leading;
  for (; w < count; ++w) rest |= slot[w * kGarnerBlock];
  const double mantissa = (double)((u64)(leading >> 64) | (rest != 0));
  const i64 exponent = 52 * (count - 2) + 40 - shift;
  if (exponent > 960) return __builtin_inf();  // at least 2^1024
  const u64 bits = (u64)(exponent + 1023) << 52;
  double power;
  __builtin_memcpy(&power, &bits, sizeof(power));
  return mantissa * power;
}

/// kVectors vectors from residues to doubles; with kVectors above 1 all lanes are there.
template <int kVectors, class Lanes>
FHELIUM_INLINE void centred_vectors(double* out, i64 n, const u64* residues, i64 limb_stride,
                                    Lanes lanes, const GarnerTables<u64>& tables, u64* digits) {
  garner_digits<kVectors>(digits, residues, limb_stride, lanes, tables);
  __mmask8 negative[kVectors];
  for (int v = 0; v < kVectors; ++v) negative[v] = negative_lanes(digits + v * kLanes, tables);
  magnitude_words<kVectors>(digits, tables, negative);
  for (i64 k = 0; k < n; ++k) {
    const double size = nearest_double(digits + k, tables.limbs);
    out[k] = negative[k / kLanes] >> (k % kLanes) & 1 ? -size : size;
  }
}

void centred(double* out, const u64* residues, i64 limb_stride, i64 step, i64 n,
             const GarnerTables<u64>& tables, u64* workspace) {
  if (!has_short_rows(tables.moduli, tables.limbs, step)) {
    portable.centred(out, residues, limb_stride, step, n, tables, workspace);
    return;
  }
  // Four vectors at once: so many sums keep the multipliers busy.
  for_blocks<4>(n, [&]<int kVectors>(Vectors<kVectors>, i64 k, auto lanes) {
    const i64 count = n - k < kVectors * kLanes ? n - k : kVectors * kLanes;
    centred_vectors<kVectors>(out + k, count, residues + k, limb_stride, lanes, tables, workspace);
  });
}

}  // namespace

const CodecKernels<u64> kCodecKernels64Avx512 = {round, reduce_narrow, reduce_wide, centred_pair,
                                                 centred};

}  // namespace fhelium
