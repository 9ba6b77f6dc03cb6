#include "ckks/kernels.h"
#include "common/number_theory.h"

namespace fhelium {
namespace {

// So many products of residues below 2^62 stay below 2^128, and below 2^64 R.
constexpr i64 kMaxTerms = 16;

// One group of at most kMaxTerms digits, put down or added to what earlier groups left.
// kWide: the sum may pass q R and takes the wider reduction.
template <int kBits, bool kWide>
void inner_group(u64* out0, u64* out1, const KeySwitchTerm* terms, i64 count, i64 digit_step,
                 i64 key_step, i64 n, bool accumulate, const Modulus& modulus) {
  const Modulus m = modulus;
  const auto reduce = [&m](u128 sum) {
    return kWide ? montgomery_reduce_wide<kBits>(sum, m) : montgomery_reduce<kBits>(sum, m);
  };
  for (i64 k = 0; k < n; ++k) {
    u128 sum0 = 0, sum1 = 0;
    for (i64 d = 0; d < count; ++d) {
      const u64 x = terms[d].digit[k * digit_step];
      sum0 += (u128)x * terms[d].key0[k * key_step];
      sum1 += (u128)x * terms[d].key1[k * key_step];
    }
    const u64 result0 = reduce(sum0), result1 = reduce(sum1);
    out0[k] = accumulate ? add_modular(out0[k], result0, m.q) : result0;
    out1[k] = accumulate ? add_modular(out1[k], result1, m.q) : result1;
  }
}

template <int kBits>
void inner_row(u64* out0, u64* out1, const KeySwitchTerm* terms, i64 count, i64 digit_step,
               i64 key_step, i64 n, const Modulus& m) {
  const u64 narrow = m.reciprocal >> (64 - kBits);  // floor(R / q) products stay below q R
  for (i64 first = 0; first < count; first += kMaxTerms) {
    const i64 group = count - first < kMaxTerms ? count - first : kMaxTerms;
    if ((u64)group <= narrow)
      inner_group<kBits, false>(out0, out1, terms + first, group, digit_step, key_step, n,
                                first > 0, m);
    else
      inner_group<kBits, true>(out0, out1, terms + first, group, digit_step, key_step, n, first > 0,
                               m);
  }
}

void inner_product(u64* out0, u64* out1, const KeySwitchTerm* terms, i64 count, i64 digit_step,
                   i64 key_step, i64 n, const Modulus& m) {
  if (m.bits == 52)
    inner_row<52>(out0, out1, terms, count, digit_step, key_step, n, m);
  else
    inner_row<64>(out0, out1, terms, count, digit_step, key_step, n, m);
}

// The right factors go to Montgomery form first: two conversions and three reductions in all.
template <int kBits>
void product_row(u64* const out[3], const u64* const lhs[2], i64 lhs_step, const u64* const rhs[2],
                 i64 rhs_step, i64 n, const Modulus& modulus) {
  const Modulus m = modulus;
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const lhs0 = lhs[0], *const lhs1 = lhs[1], *const rhs0 = rhs[0], *const rhs1 = rhs[1];
  for (i64 k = 0; k < n; ++k) {
    const u64 a0 = lhs0[k * lhs_step], a1 = lhs1[k * lhs_step];
    const u64 b0 = montgomery_multiply<kBits>(rhs0[k * rhs_step], m.montgomery_square, m);
    const u64 b1 = montgomery_multiply<kBits>(rhs1[k * rhs_step], m.montgomery_square, m);
    out0[k] = montgomery_multiply<kBits>(a0, b0, m);
    out1[k] = montgomery_reduce<kBits>((u128)a0 * b1 + (u128)a1 * b0, m);  // below 2 q^2 < q R
    out2[k] = montgomery_multiply<kBits>(a1, b1, m);
  }
}

void product(u64* const out[3], const u64* const lhs[2], i64 lhs_step, const u64* const rhs[2],
             i64 rhs_step, i64 n, const Modulus& m) {
  if (m.bits == 52)
    product_row<52>(out, lhs, lhs_step, rhs, rhs_step, n, m);
  else
    product_row<64>(out, lhs, lhs_step, rhs, rhs_step, n, m);
}

template <int kBits>
void square_row(u64* const out[3], const u64* const in[2], i64 step, i64 n,
                const Modulus& modulus) {
  const Modulus m = modulus;
  u64 *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const u64 *const in0 = in[0], *const in1 = in[1];
  for (i64 k = 0; k < n; ++k) {
    const u64 a0 = in0[k * step], a1 = in1[k * step];
    const u64 b0 = montgomery_multiply<kBits>(a0, m.montgomery_square, m);
    const u64 b1 = montgomery_multiply<kBits>(a1, m.montgomery_square, m);
    out0[k] = montgomery_multiply<kBits>(a0, b0, m);
    out1[k] = montgomery_multiply<kBits>(2 * a0, b1, m);
    out2[k] = montgomery_multiply<kBits>(a1, b1, m);
  }
}

void square(u64* const out[3], const u64* const in[2], i64 step, i64 n, const Modulus& m) {
  m.bits == 52 ? square_row<52>(out, in, step, n, m) : square_row<64>(out, in, step, n, m);
}

// With h = (q0 - 1) / 2 and t = x + h mod q0, the centred r is t - h, so x - r = x + h - t.
template <int kBits>
void rescale_row(u64* out, const u64* in, const u64* dropped, i64 step, i64 n, u64 q0, u64 inverse,
                 const Modulus& modulus) {
  const Modulus m = modulus;
  const u64 half = (q0 - 1) / 2, lift = reduce_word(half, m) + m.q;
  for (i64 k = 0; k < n; ++k) {
    const u64 t = reduce_word(add_modular(dropped[k * step], half, q0), m);
    out[k] = montgomery_multiply<kBits>(in[k * step] + lift - t, inverse, m);  // 3 q^2 < q R
  }
}

void rescale(u64* out, const u64* in, const u64* dropped, i64 step, i64 n, u64 q0, u64 inverse,
             const Modulus& m) {
  if (m.bits == 52)
    rescale_row<52>(out, in, dropped, step, n, q0, inverse, m);
  else
    rescale_row<64>(out, in, dropped, step, n, q0, inverse, m);
}

// X^j goes to X^(j g) and X^n is -1. Position k is reached from j = k g^-1 mod 2n where that is
// below n, else from j - n with the sign turned, because (j - n) g = k + n mod 2n for odd g.
void permute_signed(u64* out, const u64* in, i64 step, i64 n, u64 inverse, const Modulus& m) {
  const u64 q = m.q, sign = (u64)n, low = sign - 1;
  for (u64 k = 0, j = 0; k < (u64)n; ++k, j += inverse) {
    const u64 x = in[(i64)(j & low) * step];
    out[k] = (j & sign) ? negate_modular(x, q) : x;
  }
}

// Position i holds the value at psi^e, e = 2 r + 1 with r the reversed bits of i. Under X -> X^g it
// takes the value at psi^(g e), whose r is (g e - 1) / 2 = (g - 1) / 2 + g r modulo n.
void automorphism_source(uint32_t* source, i64 n, u64 galois_element) {
  const int bits = exact_log2(n);
  const u64 mask = (u64)n - 1;
  for (i64 i = 0; i < n; ++i) {
    const u64 r = galois_element / 2 + galois_element * reverse_bits((u64)i, bits);
    source[i] = (uint32_t)reverse_bits(r & mask, bits);
  }
}

void permute(u64* out, const u64* in, i64 step, const uint32_t* source, i64 n) {
  for (i64 i = 0; i < n; ++i) out[i] = in[(i64)source[i] * step];
}

}  // namespace

const CkksKernels kCkksKernelsPortable = {
    .inner_product = inner_product,
    .product = product,
    .square = square,
    .rescale = rescale,
    .permute_signed = permute_signed,
    .automorphism_source = automorphism_source,
    .permute = permute,
};

}  // namespace fhelium
