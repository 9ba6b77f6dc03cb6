#include "rns/codec.h"

namespace fhelium {
namespace {

constexpr double kTwo52 = 0x1p52, kTwo63 = 0x1p63;

i64 round(double* rounded, const double* values, double scale, i64 n) {
  i64 wide = 0;
#pragma GCC ivdep  // the rows are apart, or one row in place
  for (i64 k = 0; k < n; ++k) {
    const double x = values[k] * scale, size = __builtin_fabs(x);
    // Adding 2^52 leaves no fraction bits: the addition itself rounds to nearest even.
    const double whole = size < kTwo52 ? (size + kTwo52) - kTwo52 : size;
    rounded[k] = __builtin_copysign(whole, x);
    wide += !(size < kTwo63);
  }
  return wide;
}

template <class Word>
void reduce_narrow(Word* __restrict out, const double* __restrict rounded, i64 n,
                   const Modulus<Word>& m) {
  const Modulus<Word> own = m;
  for (i64 k = 0; k < n; ++k) {
    const i64 x = (i64)rounded[k];
    const u64 sign = (u64)(x >> 63);
    const Word r = reduce_word(((u64)x ^ sign) - sign, own), opposite = negate_modular(r, own.q);
    out[k] = sign != 0 ? opposite : r;
  }
}

// ---- the last two moduli -----------------------------------------------------------------------

FHELIUM_INLINE double nearest_double(u64 x) { return (double)x; }
FHELIUM_INLINE double nearest_double(u128 x) {
  return x >> 64 == 0 ? (double)(u64)x : (double)x;  // the conversion of one word is an instruction
}

template <class Word>
bool centred_pair(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
                  const PairTables<Word>& tables) {
  using Wide = WideOf<Word>;
  const i64 others = tables.limbs - 2;
  const Modulus<Word> a = tables.moduli[others + 1], b = tables.moduli[others];
  const Wide product = (Wide)a.q * b.q;
  bool fits = true;
  for (i64 k = 0; k < n && fits; ++k) {
    const Word* own = residues + k * step;
    const Word low = own[(others + 1) * limb_stride];
    const Word rest = subtract_modular(own[others * limb_stride], reduce_word(low, b), b.q);
    const Word high = montgomery_multiply(rest, tables.inverse, b);
    const Wide x = (Wide)high * a.q + low;
    const bool negative = x > product >> 1;
    const double size = nearest_double(negative ? product - x : x);
    out[k] = negative ? -size : size;
    for (i64 j = 0; j < others; ++j) {
      const Modulus<Word>& m = tables.moduli[j];
      const Word* factors = tables.factors + 2 * j;
      Word r = add_modular(reduce_word(low, m),
                           montgomery_multiply(reduce_word(high, m), factors[0], m), m.q);
      if (negative) r = subtract_modular(r, factors[1], m.q);
      fits = fits && r == own[j * limb_stride];
    }
  }
  return fits;
}

// ---- Garner's digits ---------------------------------------------------------------------------

/// q^-1 mod 2^64, of which a narrow word keeps the low half: a Newton step doubles the bits.
template <class Word>
FHELIUM_INLINE u64 long_inverse(const Modulus<Word>& m) {
  return m.inverse * (2 - (u64)m.q * m.inverse);
}

/// Montgomery's reduction with R = 2^64 of any 128-bit x, result in [0, q).
template <class Word>
FHELIUM_INLINE u64 reduce_wide_sum(u64 high, u64 low, u64 inverse, const Modulus<Word>& m) {
  return subtract_modular<u64>(reduce_word(high, m), multiply_high(low * inverse, (u64)m.q), m.q);
}

/// Mixed radix digits of n coefficients, digits[k * limbs + limb].
template <class Word>
void garner_digits(u64* digits, const Word* residues, i64 limb_stride, i64 step, i64 n,
                   const GarnerTables<Word>& tables) {
  const u64* factors = tables.factors;
  for (i64 i = 0; i < tables.limbs; ++i) {
    const Modulus<Word> m = tables.moduli[i];
    const u64 inverse = long_inverse(m);
    for (i64 k = 0; k < n; ++k) {
      u64* own = digits + k * tables.limbs;
      u128 sum = (u128)residues[i * limb_stride + k * step] * factors[i];
      for (i64 j = 0; j < i; ++j) {
        sum += (u128)own[j] * factors[j];
        // Products are below 2^124: eight of them and a folded sum stay below 2^128.
        if ((j & 7) == 7) sum = ((u128)reduce_word((u64)(sum >> 64), m) << 64) | (u64)sum;
      }
      own[i] = reduce_wide_sum((u64)(sum >> 64), (u64)sum, inverse, m);
    }
    factors += i + 1;
  }
}

/// The nearest double, ties to even, of an integer of `count` words; infinity past the doubles.
FHELIUM_INLINE double nearest_double(const u64* words, i64 count) {
  while (count > 1 && words[count - 1] == 0) --count;
  if (count == 1) return (double)words[0];
  const int shift = __builtin_clzll(words[count - 1]);
  const u64 next = words[count - 2];
  u64 top = words[count - 1] << shift;
  if (shift != 0) top |= next >> (64 - shift);
  // What lies below the 64 leading bits only has to break ties.
  u64 rest = next << shift;
  for (i64 i = 0; i < count - 2; ++i) rest |= words[i];
  const double mantissa = (double)(top | (rest != 0));
  const i64 exponent = 64 * (count - 1) - shift;
  if (exponent > 960) return __builtin_inf();  // at least 2^1024
  const u64 bits = (u64)(exponent + 1023) << 52;
  double power;
  __builtin_memcpy(&power, &bits, sizeof(power));
  return mantissa * power;
}

/// One coefficient from its digits, `words` with room for limbs + 1.
template <class Word>
FHELIUM_INLINE double centred_value(const u64* digits, const GarnerTables<Word>& tables,
                                    u64* words) {
  const Modulus<Word>* moduli = tables.moduli;
  i64 i = tables.limbs - 1;
  while (i > 0 && digits[i] == moduli[i].q >> 1) --i;
  const bool negative = digits[i] > moduli[i].q >> 1;
  // |x| is x, or Q - x = (Q - 1 - x) + 1 with the complemented digits.
  const auto digit = [&](i64 limb) {
    const u64 v = digits[limb];
    return negative ? moduli[limb].q - 1 - v : v;
  };
  i = tables.limbs - 1;
  while (i > 0 && digit(i) == 0) --i;
  i64 count = 1;
  words[0] = digit(i);
  while (--i >= 0) {
    u128 carry = digit(i);
    for (i64 w = 0; w < count; ++w) {
      carry += (u128)words[w] * moduli[i].q;
      words[w] = (u64)carry;
      carry >>= 64;
    }
    if (carry != 0) words[count++] = (u64)carry;
  }
  if (negative) {
    i64 w = 0;
    words[count] = 0;
    while (++words[w] == 0) ++w;
    count += words[count] != 0;
  }
  const double size = nearest_double(words, count);
  return negative ? -size : size;
}

template <class Word>
void centred(double* out, const Word* residues, i64 limb_stride, i64 step, i64 n,
             const GarnerTables<Word>& tables, u64* workspace) {
  u64* words = workspace + tables.limbs * kGarnerBlock;
  garner_digits(workspace, residues, limb_stride, step, n, tables);
  for (i64 k = 0; k < n; ++k) out[k] = centred_value(workspace + k * tables.limbs, tables, words);
}

template <class Word>
constexpr CodecKernels<Word> kPortable = {round, reduce_narrow<Word>, centred_pair<Word>,
                                          centred<Word>};

}  // namespace

const CodecKernels<u32> kCodecKernels32Portable = kPortable<u32>;
const CodecKernels<u64> kCodecKernels64Portable = kPortable<u64>;

}  // namespace fhelium
