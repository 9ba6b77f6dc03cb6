// Function table of the NTT kernels: one limb row of `degree` coefficients each, raw pointers only.
// A limb's packed table is opaque outside the kernels that built it, and of the residues' own
// words; the header in front of it lets an adapter refuse a table of another ring, modulus or
// instruction set.
#pragma once
#include "common/modular_arithmetic.h"

namespace fhelium {

enum NttTableHeader : int {
  kTableFormat,   // which kernels read it
  kTableModulus,  // q
  kTableDegree,   // N
  kTableHeaderWords = 8,
};

/// First word of a table: which kernels made it. Behind each number there is room for the tables of
/// kernels that are held to one of its paths.
enum NttTableFormat : u32 {
  kFormatPortable32 = 0x4032,
  kFormatPortable64 = 0x4064,
  kFormatAvx2 = 0x4256,
  kFormatAvx512 = 0x4512,
};

/// in [0, q), natural order -> out [0, q), bit-reversed order, or the way back, N^-1 included.
/// `out` is contiguous; `in` has a stride of `step` words and may be `out` itself where that is 1.
/// `next` is null or a contiguous row that the caller reads after this one: worth a prefetch.
template <class Word>
using NttTransform = void (*)(Word* out, const Word* in, i64 step, i64 degree, const Word* table,
                              const Modulus<Word>& m, const Word* next);

/// The format of the tables of kernels that are held to a path.
FHELIUM_INLINE constexpr NttTableFormat path_format(NttTableFormat format, int path) {
  return static_cast<NttTableFormat>(format + 1 + path);
}

template <class Word>
struct NttKernels {
  NttTableFormat format;
  /// Words of one limb's table, header included. A row may be longer.
  i64 (*table_words)(i64 degree, const Modulus<Word>& m);
  /// `root` has order 2 * degree modulo q; degree is a power of two, at least 16.
  void (*build_table)(Word* table, i64 degree, Word root, const Modulus<Word>& m);
  NttTransform<Word> forward, inverse;
};

/// One of the paths that the kernels of an instruction set choose from by a prime's size: the same
/// kernels, held to it, for whoever compares paths on one prime.
struct NttPath {
  const char* name;
  /// Whether a prime is small enough for this path, and the ring large enough.
  bool (*admits)(i64 degree, const Modulus<u64>& m);
  NttKernels<u64> kernels;
};

/// The table of the active instruction set.
template <class Word>
const NttKernels<Word>& ntt_kernels();

extern const NttKernels<u32> kNttKernels32Portable;
/// By way of the active 64-bit kernels.
const NttKernels<u32>& widened_ntt_kernels();
extern const NttKernels<u64> kNttKernels64Portable;
extern const NttKernels<u64> kNttKernels64Avx2;
extern const NttKernels<u64> kNttKernels64Avx512;

extern const NttPath kNttPathsPortable[2], kNttPathsAvx2[2], kNttPathsAvx512[5];

}  // namespace fhelium
