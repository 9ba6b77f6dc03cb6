// IEEE doubles, each operation rounded to nearest where it is written: no contraction, so every
// machine and device gets the same bits.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium::rounded {

FHELIUM_INLINE double multiply(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

FHELIUM_INLINE double add(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

FHELIUM_INLINE double divide(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __ddiv_rn(a, b);
#else
  return a / b;
#endif
}

FHELIUM_INLINE double square_root(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

}  // namespace fhelium::rounded
