#include "ckks/kernels.h"
#include "common/number_theory.h"

namespace fhelium {
namespace {

// Most digits summed at a time, a constant so that the compiler unrolls their loop.
constexpr i64 kMaxTerms = 16;

// Where the digits of a row lie: a fixed distance apart, or at listed positions.
struct Strided {
  i64 step;
  static i64 at(i64 k, const Strided& s) { return k * s.step; }
};
struct Listed {
  const uint32_t* source;
  static i64 at(i64 k, const Listed& s) { return (i64)s.source[k]; }
};

// One group of digits whose products fit a wide word, put down or added to what earlier groups
// left. kWide: the sum may pass q R and takes the wider reduction.
template <int kBits, bool kWide, class Word, class Position>
void inner_group(Word* out0, Word* out1, const KeySwitchTerm<Word>* terms, i64 count,
                 Position position, i64 key_step, i64 n, bool accumulate,
                 const Modulus<Word>& modulus) {
  const Modulus<Word> m = modulus;
  const auto reduce = [&m](WideOf<Word> sum) {
    return kWide ? montgomery_reduce_wide<kBits>(sum, m) : montgomery_reduce<kBits>(sum, m);
  };
  for (i64 k = 0; k < n; ++k) {
    WideOf<Word> sum0 = 0, sum1 = 0;
    for (i64 d = 0; d < count; ++d) {
      const Word x = terms[d].digit[Position::at(k, position)];
      sum0 += (WideOf<Word>)x * terms[d].key0[k * key_step];
      sum1 += (WideOf<Word>)x * terms[d].key1[k * key_step];
    }
    const Word result0 = reduce(sum0), result1 = reduce(sum1);
    out0[k] = accumulate ? add_modular(out0[k], result0, m.q) : result0;
    out1[k] = accumulate ? add_modular(out1[k], result1, m.q) : result1;
  }
}

template <int kBits, class Word, class Position>
void inner_row(Word* out0, Word* out1, const KeySwitchTerm<Word>* terms, i64 count,
               Position position, i64 key_step, i64 n, bool accumulate, const Modulus<Word>& m) {
  const i64 narrow = (i64)(m.reciprocal >> (64 - kBits));  // floor(R / q) products stay below q R
  const i64 most = narrow >= kMaxTerms ? kMaxTerms : kMaxProducts<Word>;
  for (i64 first = 0; first < count; first += most) {
    const i64 group = count - first < most ? count - first : most;
    if (group <= narrow)
      inner_group<kBits, false>(out0, out1, terms + first, group, position, key_step, n,
                                accumulate || first > 0, m);
    else
      inner_group<kBits, true>(out0, out1, terms + first, group, position, key_step, n,
                               accumulate || first > 0, m);
  }
}

template <class Word>
void inner_product(Word* out0, Word* out1, const KeySwitchTerm<Word>* terms, i64 count,
                   i64 digit_step, i64 key_step, i64 n, const Modulus<Word>& m) {
  with_radix(m, [&](auto radix) {
    inner_row<radix.kBits>(out0, out1, terms, count, Strided{digit_step}, key_step, n, false, m);
  });
}

template <class Word>
void add_inner_product(Word* out0, Word* out1, const Word* kept0, const Word* kept1, Word factor,
                       const KeySwitchTerm<Word>* terms, i64 count, const uint32_t* source, i64 n,
                       const Modulus<Word>& modulus) {
  with_radix(modulus, [&](auto radix) {
    const Modulus<Word> m = modulus;
    const auto keep = [&](Word* out, const Word* kept) {
      for (i64 k = 0; k < n; ++k)
        out[k] = kept == nullptr ? 0 : montgomery_multiply<radix.kBits>(kept[k], factor, m);
    };
    keep(out0, kept0);
    keep(out1, kept1);
    if (source == nullptr)
      inner_row<radix.kBits>(out0, out1, terms, count, Strided{1}, 1, n, true, m);
    else
      inner_row<radix.kBits>(out0, out1, terms, count, Listed{source}, 1, n, true, m);
  });
}

template <class Word>
void subtract_scale(Word* out, const Word* lhs, const Word* rhs, Word factor, i64 n,
                    const Modulus<Word>& modulus) {
  with_radix(modulus, [&](auto radix) {
    const Modulus<Word> m = modulus;
    for (i64 k = 0; k < n; ++k)
      out[k] = montgomery_multiply<radix.kBits>(subtract_modular(lhs[k], rhs[k], m.q), factor, m);
  });
}

// The right factors go to Montgomery form first: two conversions and three reductions in all.
template <class Word>
void product(Word* const out[3], const Word* const lhs[2], i64 lhs_step, const Word* const rhs[2],
             i64 rhs_step, i64 n, const Modulus<Word>& modulus) {
  Word *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const Word *const lhs0 = lhs[0], *const lhs1 = lhs[1], *const rhs0 = rhs[0], *const rhs1 = rhs[1];
  with_radix(modulus, [=, m = modulus](auto radix) {
    constexpr int kBits = radix.kBits;
    for (i64 k = 0; k < n; ++k) {
      const Word a0 = lhs0[k * lhs_step], a1 = lhs1[k * lhs_step];
      const Word b0 = montgomery_multiply<kBits>(rhs0[k * rhs_step], m.montgomery_square, m);
      const Word b1 = montgomery_multiply<kBits>(rhs1[k * rhs_step], m.montgomery_square, m);
      const WideOf<Word> mixed = (WideOf<Word>)a0 * b1 + (WideOf<Word>)a1 * b0;
      out0[k] = montgomery_multiply<kBits>(a0, b0, m);
      out1[k] = montgomery_reduce<kBits>(mixed, m);  // below 2 q^2 < q R
      out2[k] = montgomery_multiply<kBits>(a1, b1, m);
    }
  });
}

template <class Word>
void square(Word* const out[3], const Word* const in[2], i64 step, i64 n,
            const Modulus<Word>& modulus) {
  Word *const out0 = out[0], *const out1 = out[1], *const out2 = out[2];
  const Word *const in0 = in[0], *const in1 = in[1];
  with_radix(modulus, [=, m = modulus](auto radix) {
    constexpr int kBits = radix.kBits;
    for (i64 k = 0; k < n; ++k) {
      const Word a0 = in0[k * step], a1 = in1[k * step];
      const Word b0 = montgomery_multiply<kBits>(a0, m.montgomery_square, m);
      const Word b1 = montgomery_multiply<kBits>(a1, m.montgomery_square, m);
      out0[k] = montgomery_multiply<kBits>(a0, b0, m);
      out1[k] = montgomery_multiply<kBits, Word>(2 * a0, b1, m);
      out2[k] = montgomery_multiply<kBits>(a1, b1, m);
    }
  });
}

// With h = (q0 - 1) / 2 and t = x + h mod q0, the centred r of a residue x modulo q0 is t - h. The
// sum t + (q - h mod q) is below two moduli, and so fits the word.
template <class Word>
struct Centring {
  Word q0, half, shift, wrapped;

  Centring(Word dropped, const Modulus<Word>& m)
      : q0(dropped),
        half((dropped - 1) / 2),
        shift(m.q - reduce_word(half, m)),
        wrapped(shift - dropped) {}
  static Word remainder(Word x, const Centring& c, const Modulus<Word>& m) {
    const Word t = x + c.half;
    return reduce_word((Word)(t + (t >= c.q0 ? c.wrapped : c.shift)), m);
  }
};

template <class Word>
void rescale(Word* out, const Word* in, const Word* dropped, i64 step, i64 n, Word q0, Word inverse,
             const Modulus<Word>& modulus) {
  with_radix(modulus, [=, m = modulus, centring = Centring<Word>(q0, modulus)](auto radix) {
    for (i64 k = 0; k < n; ++k) {
      const Word r = Centring<Word>::remainder(dropped[k * step], centring, m);
      const Word difference = in[k * step] + (m.q - r);  // below 2 q, and 2 q^2 < q R
      out[k] = montgomery_multiply<radix.kBits, Word>(difference, inverse, m);
    }
  });
}

template <class Word>
void centred_remainder(Word* out, const Word* dropped, i64 n, Word q0,
                       const Modulus<Word>& modulus) {
  const Modulus<Word> m = modulus;
  const Centring<Word> centring(q0, m);
  for (i64 k = 0; k < n; ++k) out[k] = Centring<Word>::remainder(dropped[k], centring, m);
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

template <class Word>
void permute(Word* out, const Word* in, i64 step, const uint32_t* source, i64 n) {
  for (i64 i = 0; i < n; ++i) out[i] = in[(i64)source[i] * step];
}

template <class Word>
constexpr CkksKernels<Word> kPortable = {
    .inner_product = inner_product<Word>,
    .add_inner_product = add_inner_product<Word>,
    .subtract_scale = subtract_scale<Word>,
    .product = product<Word>,
    .square = square<Word>,
    .rescale = rescale<Word>,
    .centred_remainder = centred_remainder<Word>,
    .automorphism_source = automorphism_source,
    .permute = permute<Word>,
};

}  // namespace

const CkksKernels<u32> kCkksKernels32Portable = kPortable<u32>;
const CkksKernels<u64> kCkksKernels64Portable = kPortable<u64>;

}  // namespace fhelium
