// Rows of the parameter tensor `rns_params` (int64 [row, limb], unsigned bit patterns,
// for int32 and for int64 residues). This enum is their only declaration: Python reads the names
// through parameter_row_names().
#pragma once
#include <cstdint>

namespace fhelium {

enum ParameterRow : int {
  kModulus,           // q, odd, 1 < q < 2^62; below 2^31 for int32 residues
  kInverse,           // q^-1 mod 2^64 (its low 52 or 32 bits are q^-1 mod 2^52 or 2^32)
  kMontgomeryBits,    // log2 R: 32 for int32 residues; for int64 ones 52 where q < 2^50, else 64
  kMontgomeryOne,     // R mod q
  kMontgomerySquare,  // R^2 mod q
  kReciprocal,        // floor(2^64 / q)
  kDegreeInverse,     // N^-1 R mod q
  kParameterRows,
};

inline constexpr const char* kParameterRowNames =
    "modulus,inverse,montgomery_bits,montgomery_one,montgomery_square,reciprocal,degree_inverse";

}  // namespace fhelium
