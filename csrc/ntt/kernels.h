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

/// First word of a table: which kernels made it.
enum NttTableFormat : u64 {
  kFormatPortable = 0x4064,
  kFormatAvx2 = 0x4256,
  kFormatAvx512 = 0x4512,
};

struct NttKernels {
  u64 format;
  /// Words of one limb's table, header included. A row may be longer.
  i64 (*table_words)(i64 degree, const Modulus& m);
  /// `root` has order 2 * degree modulo q; degree is a power of two, at least 16.
  void (*build_table)(u64* table, i64 degree, u64 root, const Modulus& m);

  /// in [0, q), natural order -> out [0, q), bit-reversed order. `out` is contiguous; `in` has a
  /// stride of `step` words and may be `out` itself where that is 1. `next` is null or a contiguous
  /// row that the caller reads after this one: worth a prefetch.
  void (*forward)(u64* out, const u64* in, i64 step, i64 degree, const u64* table, const Modulus& m,
                  const u64* next);
  /// The way back, N^-1 included.
  void (*inverse)(u64* out, const u64* in, i64 step, i64 degree, const u64* table, const Modulus& m,
                  const u64* next);
};

/// The validation path, the same on every instruction set.
struct IndexedNttKernels {
  /// Plain radix-2 butterflies in place on a contiguous row. Operand and twiddle positions are read
  /// from [stages, degree / 2] and lie below `degree`; twiddles are in Montgomery form.
  void (*forward)(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                  const i64* schedule, const u64* twiddles, const Modulus& m);
  void (*inverse)(u64* row, i64 degree, i64 stages, const i64* even, const i64* odd,
                  const i64* schedule, const u64* twiddles, const Modulus& m);
};

/// The table of the active instruction set.
const NttKernels& ntt_kernels();

extern const NttKernels kNttKernelsPortable;
extern const NttKernels kNttKernelsAvx2;
extern const NttKernels kNttKernelsAvx512;
extern const IndexedNttKernels kIndexedNttKernels;

}  // namespace fhelium
