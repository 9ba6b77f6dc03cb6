#include "rns/kernels.h"

namespace fhelium {
namespace {

void add(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step, i64 n,
         const Modulus& m) {
  for (i64 k = 0; k < n; ++k)
    out[k * out_step] = add_modular(lhs[k * lhs_step], rhs[k * rhs_step], m.q);
}

}  // namespace

const RnsKernels kRnsKernelsPortable = {add};

}  // namespace fhelium
