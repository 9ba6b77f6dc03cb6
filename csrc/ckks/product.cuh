// The product of two ciphertexts of two components, for moduli from wherever they come.
#pragma once
#include "common/map_rows.h"

namespace fhelium {

/// The constants of one limb, in a table of key switching.
template <class Word>
__device__ __forceinline__ const Modulus<Word>& modulus_at(const Modulus<Word>* moduli, i64 limb) {
  return moduli[limb];
}

/// Call body(k) for this thread's coefficients of a tile.
template <class Body>
__device__ __forceinline__ void for_tile(i64 degree, const Body& body) {
#pragma unroll
  for (unsigned i = 0; i < kMapElements; ++i) {
    const i64 k = (i64)blockIdx.x * kMapTile + i * kMapThreads + threadIdx.x;
    if (k < degree) body(k);
  }
}

// The right factors go to Montgomery form first, as on the CPU: two conversions, three reductions.
template <class Word>
__device__ __forceinline__ Word montgomery_sum(Word a, Word b, Word c, Word d,
                                               const Modulus<Word>& m) {
  const int shift = kWordBits<Word> - m.bits;
  const WideOf<Word> sum =
      (WideOf<Word>)a * (Word)(b << shift) + (WideOf<Word>)c * (Word)(d << shift);
  return montgomery_reduce<kWordBits<Word>>(sum, m);  // below 2 q^2 2^shift < q 2^w
}

/// Moduli: parameters or a table, whatever modulus_at takes.
template <class Word, class Moduli>
__global__ void __launch_bounds__(kMapThreads)
    product_kernel(const __grid_constant__ DeviceRows out, const __grid_constant__ DeviceRows lhs,
                   const __grid_constant__ DeviceRows rhs, const __grid_constant__ Moduli moduli) {
  const i64 batches = lhs.batches / 2;
  for_rows(batches, out.limbs, [&](i64 batch, i64 limb) {
    const Modulus<Word> m = modulus_at<Word>(moduli, limb);
    Word* const out0 = row_at<Word>(out, batch, limb);
    Word* const out1 = row_at<Word>(out, batches + batch, limb);
    Word* const out2 = row_at<Word>(out, 2 * batches + batch, limb);
    const Word* const lhs0 = row_at<Word>(lhs, batch, limb);
    const Word* const lhs1 = row_at<Word>(lhs, batches + batch, limb);
    const Word* const rhs0 = row_at<Word>(rhs, batch, limb);
    const Word* const rhs1 = row_at<Word>(rhs, batches + batch, limb);
    for_tile(out.degree, [&](i64 k) {
      const Word a0 = lhs0[k * lhs.step], a1 = lhs1[k * lhs.step];
      const Word b0 = multiply_shifted(rhs0[k * rhs.step], m.montgomery_square, m);
      const Word b1 = multiply_shifted(rhs1[k * rhs.step], m.montgomery_square, m);
      out0[k * out.step] = multiply_shifted(a0, b0, m);
      out1[k * out.step] = montgomery_sum(a0, b1, a1, b0, m);
      out2[k * out.step] = multiply_shifted(a1, b1, m);
    });
  });
}

/// The grid over one component of `rows`.
inline dim3 component_grid(const DeviceRows& rows, i64 components) {
  DeviceRows one = rows;
  one.batches /= components;
  return grid_over(one, kMapTile);
}

/// (a0, a1) (b0, b1) -> (a0 b0, a0 b1 + a1 b0, a1 b1).
template <class Word, class Moduli>
int multiply_components(const DeviceRows& out, const DeviceRows& lhs, const DeviceRows& rhs,
                        const Moduli& moduli, void* stream) {
  if (has_no_rows(out)) return 0;
  return launch(product_kernel<Word, Moduli>, component_grid(out, 3), dim3(kMapThreads), 0, stream,
                out, lhs, rhs, moduli);
}

}  // namespace fhelium
