// Programs of coefficient_program, read and checked for every device.
#pragma once
#include "common/checks.h"

namespace fhelium {

inline constexpr auto kProgramName = "coefficient_program";

/// a + b | a - b | -a | a b | a R | sum of factor x, sum of factor y over (factor, x, y). Factors
/// in Montgomery form give plain products.
enum ProgramCode : int64_t { kAdd, kSubtract, kNegate, kMultiply, kToMontgomery, kWeightedSums };

/// Rows are numbered: the operands', then those that are written, the results first among these.
struct ProgramStep {
  int64_t code;
  std::vector<size_t> results, operands;
};

struct CoefficientProgram {
  std::vector<ProgramStep> steps;
  int64_t written = 0;  // rows, results included
};

/// Ciphertexts of one shape but for their components, and plaintexts that fit them.
void check_program_operands(const Operation& operation, const std::vector<Tensor>& ciphertexts,
                            const std::vector<Tensor>& plaintexts);

/// Read the steps; `constants` says of each operand's row whether it is one number.
CoefficientProgram read_program(const std::vector<int64_t>& words,
                                const std::vector<bool>& constants, int64_t results);

}  // namespace fhelium
