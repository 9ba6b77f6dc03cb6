#include "rns/exact_half.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

// The three shapes of a row are compiled apart: contiguous ones become vector code.
template <class Function>
void map(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n, Function f) {
  if (out_step == 1 && in_step == 1) {
    for (i64 k = 0; k < n; ++k) out[k] = f(in[k]);
  } else {
    for (i64 k = 0; k < n; ++k) out[k * out_step] = f(in[k * in_step]);
  }
}

template <class Function>
void map(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step, i64 n,
         Function f) {
  if (out_step == 1 && lhs_step == 1 && rhs_step == 1) {
    for (i64 k = 0; k < n; ++k) out[k] = f(lhs[k], rhs[k]);
  } else if (out_step == 1 && lhs_step == 1 && rhs_step == 0 && n > 0) {
    const u64 constant = rhs[0];
    for (i64 k = 0; k < n; ++k) out[k] = f(lhs[k], constant);
  } else {
    for (i64 k = 0; k < n; ++k) out[k * out_step] = f(lhs[k * lhs_step], rhs[k * rhs_step]);
  }
}

void add(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step, i64 n,
         const Modulus& modulus) {
  map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
      [q = modulus.q](u64 a, u64 b) { return add_modular(a, b, q); });
}

void subtract(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step,
              i64 n, const Modulus& modulus) {
  map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
      [q = modulus.q](u64 a, u64 b) { return subtract_modular(a, b, q); });
}

// A kernel copies its modulus: the compiler then knows that no store to a row changes it.
void multiply_montgomery(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs,
                         i64 rhs_step, i64 n, const Modulus& modulus) {
  if (modulus.bits == 52)
    map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
        [m = modulus](u64 a, u64 b) { return montgomery_multiply<52>(a, b, m); });
  else
    map(out, out_step, lhs, lhs_step, rhs, rhs_step, n,
        [m = modulus](u64 a, u64 b) { return montgomery_multiply<64>(a, b, m); });
}

void negate(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n, const Modulus& modulus) {
  map(out, out_step, in, in_step, n, [q = modulus.q](u64 a) { return negate_modular(a, q); });
}

// x -> x factor R^-1 mod q.
void scale(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n, u64 factor,
           const Modulus& modulus) {
  if (modulus.bits == 52)
    map(out, out_step, in, in_step, n,
        [m = modulus, factor](u64 a) { return montgomery_multiply<52>(a, factor, m); });
  else
    map(out, out_step, in, in_step, n,
        [m = modulus, factor](u64 a) { return montgomery_multiply<64>(a, factor, m); });
}

void to_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                   const Modulus& modulus) {
  scale(out, out_step, in, in_step, n, modulus.montgomery_square, modulus);
}

void from_montgomery(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                     const Modulus& modulus) {
  scale(out, out_step, in, in_step, n, 1, modulus);
}

void reduce_integers(u64* out, i64 out_step, const u64* in, i64 in_step, i64 n,
                     const Modulus& modulus) {
  map(out, out_step, in, in_step, n, [m = modulus](u64 x) { return reduce_signed((i64)x, m); });
}

template <int kBits>
void scale_into_digit(u64* digit, double* sum, const u64* row, i64 step, i64 n, u64 factor,
                      const Modulus& modulus) {
  const Modulus m = modulus;
  const double reciprocal = 1.0 / (double)(i64)m.q;
  for (i64 k = 0; k < n; ++k) {
    const u64 y = montgomery_multiply<kBits>(row[k * step], factor, m);
    digit[k] = y;
    sum[k] += (double)(i64)y * reciprocal;
  }
}

// sum y_i / d_i is x / D plus a whole number. Each term is right to 2^-51 and the up to 16 terms
// add up to below 16, so the sum is right to 2^-45 and decides unless it is within 2^-40 of a half.
void centre(BasisTile& tile, const u64* const* rows, i64 step, i64 n, const BasisSource& from) {
  double sum[kBasisTile];
  for (i64 k = 0; k < n; ++k) sum[k] = 0.0;
  for (int i = 0; i < from.count; ++i) {
    const Modulus& m = from.moduli[i];
    if (m.bits == 52)
      scale_into_digit<52>(tile.digit[i], sum, rows[i], step, n, from.scale[i], m);
    else
      scale_into_digit<64>(tile.digit[i], sum, rows[i], step, n, from.scale[i], m);
  }
  constexpr double kSure = 0.5 - 0x1p-40;
  u64* whole = tile.digit[from.count];
  for (i64 k = 0; k < n; ++k) {
    const i64 nearest = (i64)(sum[k] + 0.5);
    const double rest = sum[k] - (double)nearest;
    whole[k] = (u64)nearest;
    if (rest > kSure || rest < -kSure) [[unlikely]] {
      const u64 below = (u64)(i64)sum[k];
      whole[k] = below + (exceeds_half(&tile.digit[0][k], kBasisTile, from, below) ? 1 : 0);
    }
  }
}

// sum_i y_i c_i + u c_D with y_i < d_i, u <= count <= 16 and factors below q is below
// q (sum_i d_i): one reduction serves while sum_i d_i <= R, the wide one up to 2^66 q = 16 primes.
template <int kBits, bool kWide, class Store>
void dot(const BasisTile& tile, i64 n, const BasisTarget& to, const Store& store) {
  const Modulus m = *to.target;
  u64 factor[kMaxSourcePrimes + 1];
  const int terms = to.count + 1;
  for (int i = 0; i < terms; ++i) factor[i] = to.factor[i];
  for (i64 k = 0; k < n; ++k) {
    u128 sum = 0;
    for (int i = 0; i < terms; ++i) sum += (u128)tile.digit[i][k] * factor[i];
    if constexpr (kWide)
      store(k, montgomery_reduce_wide<kBits>(sum, m), m);
    else
      store(k, montgomery_reduce<kBits>(sum, m), m);
  }
}

template <int kBits>
void convert_row(u64* out, const BasisTile& tile, i64 n, const BasisTarget& to) {
  const auto store = [out](i64 k, u64 x, const Modulus&) { out[k] = x; };
  if (to.wide)
    dot<kBits, true>(tile, n, to, store);
  else
    dot<kBits, false>(tile, n, to, store);
}

void convert(u64* out, const BasisTile& tile, i64 n, const BasisTarget& to) {
  to.target->bits == 52 ? convert_row<52>(out, tile, n, to) : convert_row<64>(out, tile, n, to);
}

template <int kBits>
void subtract_divide_row(u64* out, const u64* in, i64 step, const BasisTile& tile, i64 n,
                         const BasisTarget& to) {
  const auto store = [=, division = to.division](i64 k, u64 x, const Modulus& m) {
    out[k] = montgomery_multiply<kBits>(subtract_modular(in[k * step], x, m.q), division, m);
  };
  if (to.wide)
    dot<kBits, true>(tile, n, to, store);
  else
    dot<kBits, false>(tile, n, to, store);
}

void subtract_divide(u64* out, const u64* in, i64 step, const BasisTile& tile, i64 n,
                     const BasisTarget& to) {
  to.target->bits == 52 ? subtract_divide_row<52>(out, in, step, tile, n, to)
                        : subtract_divide_row<64>(out, in, step, tile, n, to);
}

}  // namespace

const RnsKernels kRnsKernelsPortable = {
    .add = add,
    .subtract = subtract,
    .multiply_montgomery = multiply_montgomery,
    .negate = negate,
    .to_montgomery = to_montgomery,
    .from_montgomery = from_montgomery,
    .reduce_integers = reduce_integers,
    .centre = centre,
    .convert = convert,
    .subtract_divide = subtract_divide,
};

}  // namespace fhelium
