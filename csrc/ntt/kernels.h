// Function table of the NTT kernels: one limb row of `degree` coefficients each, raw pointers only.
// A limb's packed table is opaque outside the kernels that built it; the header in front of it lets
// an adapter refuse a table of another ring, modulus or instruction set.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

enum NttTableHeader : int {
  kTableFormat,   // which kernels read it
  kTableModulus,  // q
  kTableDegree,   // N
  kTableHeaderWords = 8,
};

struct NttKernels {
  u64 format;
  /// Words of one limb's table, header included.
  i64 (*table_words)(i64 degree);
  /// `root` has order 2 * degree modulo q; degree is a power of two, at least 16.
  void (*build_table)(u64* table, i64 degree, u64 root, const Modulus& m);

  /// in [0, q), natural order -> out [0, q), bit-reversed order. `out` is contiguous; `in` has a
  /// stride of `step` words and may be `out` itself where that is 1.
  void (*forward)(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus& m);
  /// The way back, N^-1 included.
  void (*inverse)(u64* out, const u64* in, i64 step, i64 degree, const u64* table,
                  const Modulus& m);

  /// Plain radix-2 butterflies in place on a contiguous row. Operand and twiddle positions are read
  /// from [stages, degree / 2] and lie below `degree`; twiddles are in Montgomery form.
  void (*forward_indexed)(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                          const i64* schedule, const u64* twiddles, const Modulus& m);
  void (*inverse_indexed)(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                          const i64* schedule, const u64* twiddles, const Modulus& m);
};

/// The table of the active instruction set.
const NttKernels& ntt_kernels();

extern const NttKernels kNttKernelsPortable;

}  // namespace fhelium
