// The coefficient-wise kernels of every vector instruction set. A kernel file includes this once it
// has said what a vector is (ifma.h, fma.h or words32.h) and, of its `Residue` words,
//   portable           the table of what vectors do not cover: strided rows, and large moduli
//   serves(m)          whether products modulo m are its own
//   Scale(w, m)(a)     a w R^-1, and Unscale(m)(a), a R^-1
//   Product(m)(a, b)   a b R^-1 of residues, and LazyProduct(m)(a, b), of such below 2q
#pragma once
#include "rns/kernels.h"

namespace fhelium {
namespace {

template <class To = IntoCaches>
void add(Residue* out, i64 out_step, const Residue* lhs, i64 lhs_step, const Residue* rhs,
         i64 rhs_step, i64 n, const Modulus<Residue>& modulus) {
  const auto f = [m = in_lanes(modulus)](auto a, auto b) { return add_modular(a, b, m); };
  if (!map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.add(out, out_step, lhs, lhs_step, rhs, rhs_step, n, modulus);
}

template <class To = IntoCaches>
void subtract(Residue* out, i64 out_step, const Residue* lhs, i64 lhs_step, const Residue* rhs,
              i64 rhs_step, i64 n, const Modulus<Residue>& modulus) {
  const auto f = [m = in_lanes(modulus)](auto a, auto b) { return subtract_modular(a, b, m); };
  if (!map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, f))
    portable.subtract(out, out_step, lhs, lhs_step, rhs, rhs_step, n, modulus);
}

template <class To = IntoCaches>
void negate(Residue* out, i64 out_step, const Residue* in, i64 in_step, i64 n,
            const Modulus<Residue>& modulus) {
  const auto f = [m = in_lanes(modulus)](auto a) { return negate_modular(a, m); };
  if (!map<To>(out, out_step, in, in_step, n, f))
    portable.negate(out, out_step, in, in_step, n, modulus);
}

void to_montgomery(Residue* out, i64 out_step, const Residue* in, i64 in_step, i64 n,
                   const Modulus<Residue>& m) {
  if (!serves(m) || !map(out, out_step, in, in_step, n, Scale(m.montgomery_square, m)))
    portable.to_montgomery(out, out_step, in, in_step, n, m);
}

void from_montgomery(Residue* out, i64 out_step, const Residue* in, i64 in_step, i64 n,
                     const Modulus<Residue>& m) {
  if (!serves(m) || !map(out, out_step, in, in_step, n, Unscale(m)))
    portable.from_montgomery(out, out_step, in, in_step, n, m);
}

/// A constant on the right may be prepared.
template <class To, class Product>
FHELIUM_INLINE bool multiply(Residue* out, i64 out_step, const Residue* lhs, i64 lhs_step,
                             const Residue* rhs, i64 rhs_step, i64 n, const Modulus<Residue>& m) {
  if (!serves(m)) return false;
  if (rhs_step == 0 && n > 0) return map<To>(out, out_step, lhs, lhs_step, n, Scale(rhs[0], m));
  return map<To>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, Product(m));
}

template <class To = IntoCaches>
void multiply_montgomery(Residue* out, i64 out_step, const Residue* lhs, i64 lhs_step,
                         const Residue* rhs, i64 rhs_step, i64 n, const Modulus<Residue>& m) {
  if (!multiply<To, Product>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m))
    portable.multiply_montgomery(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

void multiply_lazy(Residue* out, i64 out_step, const Residue* lhs, i64 lhs_step, const Residue* rhs,
                   i64 rhs_step, i64 n, const Modulus<Residue>& m) {
  if (!multiply<IntoCaches, LazyProduct>(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m))
    portable.multiply_lazy(out, out_step, lhs, lhs_step, rhs, rhs_step, n, m);
}

/// The table of a kernel file, which has the conversions itself.
constexpr RnsKernels<Residue> vector_kernels(
    decltype(RnsKernels<Residue>::reduce_integers) reduce,
    decltype(RnsKernels<Residue>::centre) centre, decltype(RnsKernels<Residue>::convert) convert,
    decltype(RnsKernels<Residue>::subtract_divide) divide) {
  return {
      .add = add<>,
      .subtract = subtract<>,
      .multiply_montgomery = multiply_montgomery<>,
      .negate = negate<>,
      .to_montgomery = to_montgomery,
      .from_montgomery = from_montgomery,
      .past_caches = {add<PastCaches>, subtract<PastCaches>, multiply_montgomery<PastCaches>,
                      negate<PastCaches>},
      .multiply_lazy = multiply_lazy,
      .reduce_integers = reduce,
      .reduce_small = reduce_small<Residue>,
      .add_small = add_small<Residue>,
      .centre = centre,
      .convert = convert,
      .subtract_divide = divide,
  };
}

}  // namespace
}  // namespace fhelium
