// Residue tensors and parameter columns as kernels of a device see them: plain data that a launch
// passes by value. Adapters fill them (common/cuda_call.h), kernels read them.
#pragma once
#include "common/modular_arithmetic.h"
#include "common/parameters.h"

namespace fhelium {

/// Batch axes that are left after neighbours which lie as one axis have been merged.
inline constexpr int kMaxBatchAxes = 6;

/// [*batch, limb, N] at any strides, counted in elements; a repeated axis has stride 0.
struct DeviceRows {
  void* data;
  i64 batches, limbs, degree;  // batches: of all batch axes together, below 2^31
  i64 limb_stride, step;       // step: from one coefficient to the next
  i64 batch_strides[kMaxBatchAxes];
  u32 batch_sizes[kMaxBatchAxes];
  int batch_axes;
};

/// The first coefficient of a row. Batches are counted in 32 bits: a device divides those in line.
/// The loop is unrolled, as an index that is known at run time would move the rows to the stack.
template <class Word>
FHELIUM_INLINE Word* row_at(const DeviceRows& rows, i64 batch, i64 limb) {
  i64 offset = limb * rows.limb_stride;
  u32 rest = (u32)batch;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int axis = kMaxBatchAxes - 1; axis > 0; --axis) {
    if (axis >= rows.batch_axes) continue;
    const u32 size = rows.batch_sizes[axis];
    offset += rest % size * rows.batch_strides[axis];
    rest /= size;
  }
  if (rows.batch_axes > 0) offset += rest * rows.batch_strides[0];
  return static_cast<Word*>(rows.data) + offset;
}

/// rns_params, int64 [row, limb], on the device.
struct DeviceParameters {
  const i64* data;
  i64 row_stride, limb_stride;
};

/// The prime of one limb.
template <class Word>
FHELIUM_INLINE Word prime_at(const DeviceParameters& parameters, i64 limb) {
  return (Word)parameters.data[limb * parameters.limb_stride + kModulus * parameters.row_stride];
}

/// The constants of one limb. Adapters check the shape alone, as reading a device's memory would
/// wait for it: a wrong column gives wrong values.
template <class Word>
FHELIUM_INLINE Modulus<Word> modulus_at(const DeviceParameters& parameters, i64 limb) {
  const i64* column = parameters.data + limb * parameters.limb_stride;
  const i64 stride = parameters.row_stride;
  return {(Word)column[kModulus * stride],       (Word)column[kInverse * stride],
          (Word)column[kMontgomeryOne * stride], (Word)column[kMontgomerySquare * stride],
          (Word)column[kDegreeInverse * stride], (u64)column[kReciprocal * stride],
          (int)column[kMontgomeryBits * stride]};
}

/// a b R^-1 mod q for b < q. One factor takes along the 2^12 that R = 2^52 lacks of 2^64, which
/// fits as q is then below 2^50: one shift and no branch on R.
template <class Word>
FHELIUM_INLINE Word multiply_shifted(Word a, Word b, const Modulus<Word>& m) {
  constexpr int kBits = kWordBits<Word>;
  return montgomery_reduce<kBits>((WideOf<Word>)a * (Word)(b << (kBits - m.bits)), m);
}

}  // namespace fhelium
