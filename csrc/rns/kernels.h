// Function table of the RNS kernels: one row (limb) of n coefficients each, raw pointers only.
// `step` is the distance between coefficients of that operand: 1 contiguous, 0 one constant.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

struct RnsKernels {
  void (*add)(u64* out, i64 out_step, const u64* lhs, i64 lhs_step, const u64* rhs, i64 rhs_step,
              i64 n, const Modulus& m);
};

/// The table of the active instruction set.
const RnsKernels& rns_kernels();

extern const RnsKernels kRnsKernelsPortable;

}  // namespace fhelium
