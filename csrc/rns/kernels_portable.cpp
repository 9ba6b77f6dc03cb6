#include "rns/exact_half.h"
#include "rns/kernels.h"
#include "rns/small_rows.h"

namespace fhelium {
namespace {

// The three shapes of a row are compiled apart: contiguous ones become vector code.
template <class Out, class In, class Function>
void map(Out* out, i64 out_step, const In* in, i64 in_step, i64 n, Function f) {
  if (out_step == 1 && in_step == 1) {
    for (i64 k = 0; k < n; ++k) out[k] = f(in[k]);
  } else {
    for (i64 k = 0; k < n; ++k) out[k * out_step] = f(in[k * in_step]);
  }
}

template <class Word, class Function>
void map(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs, i64 rhs_step,
         i64 n, Function f) {
  if (out_step == 1 && lhs_step == 1 && rhs_step == 1) {
    for (i64 k = 0; k < n; ++k) out[k] = f(lhs[k], rhs[k]);
  } else if (out_step == 1 && lhs_step == 1 && rhs_step == 0 && n > 0) {
    const Word constant = rhs[0];
    for (i64 k = 0; k < n; ++k) out[k] = f(lhs[k], constant);
  } else {
    for (i64 k = 0; k < n; ++k) out[k * out_step] = f(lhs[k * lhs_step], rhs[k * rhs_step]);
  }
}

template <class Word>
void add(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs, i64 rhs_step,
         i64 n, const Modulus<Word>& modulus) {
  map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
      [q = modulus.q](Word a, Word b) { return add_modular(a, b, q); });
}

template <class Word>
void subtract(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs, i64 rhs_step,
              i64 n, const Modulus<Word>& modulus) {
  map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
      [q = modulus.q](Word a, Word b) { return subtract_modular(a, b, q); });
}

// A kernel copies its modulus: the compiler then knows that no store to a row changes it.
template <class Word>
void multiply_montgomery(Word* out, i64 out_step, const Word* lhs, i64 lhs_step, const Word* rhs,
                         i64 rhs_step, i64 n, const Modulus<Word>& modulus) {
  with_radix(modulus, [=, m = modulus](auto radix) {
    constexpr int kBits = radix.kBits;
    map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
        [m](Word a, Word b) { return montgomery_multiply<kBits>(a, b, m); });
  });
}

template <class Word>
void negate(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n,
            const Modulus<Word>& modulus) {
  map(out, out_step, in, in_step, n, [q = modulus.q](Word a) { return negate_modular(a, q); });
}

// x -> x factor R^-1 mod q.
template <class Word>
void scale(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n, Word factor,
           const Modulus<Word>& modulus) {
  with_radix(modulus, [=, m = modulus](auto radix) {
    constexpr int kBits = radix.kBits;
    map(out, out_step, in, in_step, n,
        [m, factor](Word a) { return montgomery_multiply<kBits>(a, factor, m); });
  });
}

template <class Word>
void to_montgomery(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n,
                   const Modulus<Word>& modulus) {
  scale(out, out_step, in, in_step, n, modulus.montgomery_square, modulus);
}

template <class Word>
void from_montgomery(Word* out, i64 out_step, const Word* in, i64 in_step, i64 n,
                     const Modulus<Word>& modulus) {
  scale<Word>(out, out_step, in, in_step, n, 1, modulus);
}

template <class Word>
void reduce_integers(Word* out, i64 out_step, const i64* in, i64 in_step, i64 n,
                     const Modulus<Word>& modulus) {
  // Read as unsigned words: GCC makes a longer product of a signed factor.
  map(out, out_step, reinterpret_cast<const u64*>(in), in_step, n,
      [m = modulus](u64 x) { return reduce_signed((i64)x, m); });
}

template <class Word>
void centre(const BasisTile<Word>& tile, const Word* const* rows, i64 step, i64 n,
            const BasisSource<Word>& from) {
  double sum[kBasisTile];
  scale_into_digits(tile, sum, rows, step, n, from);
  Word* whole = digit_of(tile, from.count);
  for (i64 k = 0; k < n; ++k) {
    const i64 nearest = (i64)(sum[k] + 0.5);
    const double rest = sum[k] - (double)nearest;
    whole[k] = (Word)nearest;
    if (rest > kSure || rest < -kSure) [[unlikely]]
      decide_exactly(tile, k, n, 1, sum + k, from);
  }
}

// sum_i y_i c_i + u c_D with y_i < d_i, u <= count and factors below q is below q (sum_i d_i): one
// reduction serves while sum_i d_i <= R. kWide: else in groups that a wide reduction takes. On 64
// bits that is the whole sum, as 16 primes are below 2^66; on 32 bits kMaxProducts of its terms.
template <int kBits, bool kWide, class Word, class Store>
void dot(const BasisTile<Word>& tile, i64 n, const BasisTarget<Word>& to, const Store& store) {
  constexpr int kGroup = kWordBits<Word> == 64 ? kMaxSourcePrimes + 1 : (int)kMaxProducts<Word>;
  const Modulus<Word> m = *to.target;
  Word factor[kMaxSourcePrimes + 1];
  const int terms = to.count + 1;
  for (int i = 0; i < terms; ++i) factor[i] = to.factor[i];
  const auto products = [&](i64 k, int first, int past) {
    WideOf<Word> sum = 0;
    for (int i = first; i < past; ++i) sum += (WideOf<Word>)digit_of(tile, i)[k] * factor[i];
    return sum;
  };
  for (i64 k = 0; k < n; ++k) {
    if constexpr (!kWide) {
      store(k, montgomery_reduce<kBits>(products(k, 0, terms), m), m);
    } else {
      Word total = 0;
      for (int first = 0; first < terms; first += kGroup) {
        const int past = first + kGroup < terms ? first + kGroup : terms;
        const Word part = montgomery_reduce_wide<kBits>(products(k, first, past), m);
        total = add_modular(total, part, m.q);
      }
      store(k, total, m);
    }
  }
}

// Both shapes of a sum, for the width of the target prime.
template <class Word, class Store>
void dot(const BasisTile<Word>& tile, i64 n, const BasisTarget<Word>& to, const Store& store) {
  with_radix(*to.target, [&](auto radix) {
    if (to.wide)
      dot<radix.kBits, true>(tile, n, to, store);
    else
      dot<radix.kBits, false>(tile, n, to, store);
  });
}

template <class Word>
void convert(Word* out, const BasisTile<Word>& tile, i64 n, const BasisTarget<Word>& to) {
  dot(tile, n, to, [out](i64 k, Word x, const Modulus<Word>&) { out[k] = x; });
}

template <class Word>
void subtract_divide(Word* out, const Word* in, i64 step, const BasisTile<Word>& tile, i64 n,
                     const BasisTarget<Word>& to) {
  with_radix(*to.target, [&](auto radix) {
    constexpr int kBits = radix.kBits;
    const auto store = [=, division = to.division](i64 k, Word x, const Modulus<Word>& m) {
      out[k] = montgomery_multiply<kBits>(subtract_modular(in[k * step], x, m.q), division, m);
    };
    if (to.wide)
      dot<kBits, true>(tile, n, to, store);
    else
      dot<kBits, false>(tile, n, to, store);
  });
}

template <class Word>
constexpr RnsKernels<Word> kPortable = {
    .add = add<Word>,
    .subtract = subtract<Word>,
    .multiply_montgomery = multiply_montgomery<Word>,
    .negate = negate<Word>,
    .to_montgomery = to_montgomery<Word>,
    .from_montgomery = from_montgomery<Word>,
    .past_caches = {add<Word>, subtract<Word>, multiply_montgomery<Word>, negate<Word>},
    .multiply_lazy = multiply_montgomery<Word>,
    .reduce_integers = reduce_integers<Word>,
    .reduce_small = reduce_small<Word>,
    .add_small = add_small<Word>,
    .centre = centre<Word>,
    .convert = convert<Word>,
    .subtract_divide = subtract_divide<Word>,
};

}  // namespace

const RnsKernels<u32> kRnsKernels32Portable = kPortable<u32>;
const RnsKernels<u64> kRnsKernels64Portable = kPortable<u64>;

}  // namespace fhelium
