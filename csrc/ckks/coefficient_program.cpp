#include "ckks/coefficient_program.h"

#include <algorithm>

#include "ckks/checks.h"

namespace fhelium {
namespace {

constexpr int64_t kOperands[] = {2, 2, 1, 2, 1, 3};  // by code; of sums, of each term

constexpr int64_t kMaxRows = 64;  // that a program writes

[[noreturn]] void refuse_program(const std::string& fact) {
  refuse(kProgramName, fact,
         "A step is a code, the rows that it writes, of sums their number of terms, and rows that "
         "are operands or were written before",
         "Let fhelium.backend.ckks.coefficient_program.CoefficientProgram write it");
}

class Reader {
 public:
  Reader(const std::vector<int64_t>& words, const std::vector<bool>& constants, int64_t results)
      : words_(words), constants_(constants), known_(constants.size() + kMaxRows) {
    std::fill_n(known_.begin(), constants.size(), true);
    while (at_ < words.size()) program.steps.push_back(step());
    if (results < 1 || results > kMaxRows)
      refuse_program("it has " + std::to_string(results) + " results");
    for (int64_t c = 0; c < results; ++c)
      if (!known_[constants.size() + static_cast<size_t>(c)])
        refuse_program("result " + std::to_string(c) + " is not written");
  }

  CoefficientProgram program;

 private:
  int64_t next(int64_t end, const char* what) {
    const int64_t word = at_ < words_.size() ? words_[at_++] : -1;
    if (word < 0 || word >= end)
      refuse_program(std::string("it has the ") + what + " " + std::to_string(word));
    return word;
  }

  ProgramStep step() {
    ProgramStep step = {next(kWeightedSums + 1, "code"), {}, {}};
    const bool sums = step.code == kWeightedSums;
    for (int k = 0; k < (sums ? 2 : 1); ++k) {
      const int64_t result = next(kMaxRows, "result");
      step.results.push_back(constants_.size() + static_cast<size_t>(result));
      program.written = std::max(program.written, result + 1);
    }
    const int64_t terms = sums ? next(static_cast<int64_t>(words_.size()), "number of terms") : 1;
    for (int64_t k = 0; k < terms * kOperands[step.code]; ++k) {
      const auto row = static_cast<size_t>(next(static_cast<int64_t>(known_.size()), "row"));
      const bool may_be_constant = step.code <= kMultiply && k == 1;
      if (!known_[row] || (row < constants_.size() && constants_[row] && !may_be_constant))
        refuse_program("it reads row " + std::to_string(row) + " in code " +
                       std::to_string(step.code));
      step.operands.push_back(row);
    }
    for (size_t result : step.results) {
      known_[result] = true;
      if (sums) check_apart(step, result);
    }
    return step;
  }

  /// Sums are written while their operands are read, and to two rows.
  void check_apart(const ProgramStep& step, size_t result) {
    const auto read = std::count(step.operands.begin(), step.operands.end(), result);
    if (read > 0 || step.operands.empty() || step.results[0] == step.results[1])
      refuse_program("a sum is written to row " + std::to_string(result));
  }

  const std::vector<int64_t>& words_;
  const std::vector<bool>& constants_;
  std::vector<bool> known_;
  size_t at_ = 0;
};

}  // namespace

void check_program_operands(const Operation& operation, const std::vector<Tensor>& ciphertexts,
                            const std::vector<Tensor>& plaintexts) {
  if (ciphertexts.empty())
    refuse(operation, "there is no ciphertext", "A result has the shape of the ciphertexts",
           "Pass at least one");
  const Tensor& like = ciphertexts[0];
  check_residues(operation, "ciphertexts", like, 3, "A ciphertext is [component, *batch, limb, N]");
  for (const Tensor& ciphertext : ciphertexts) {
    Sizes needed = sizes_of(like);
    if (ciphertext.dim() == like.dim()) needed[0] = ciphertext.size(0);
    check_shape(operation, "ciphertexts", ciphertext, like.scalar_type(), needed,
                "The ciphertexts have one shape but for their components");
  }
  for (const Tensor& plaintext : plaintexts) check_plaintext(operation, like, plaintext);
}

CoefficientProgram read_program(const std::vector<int64_t>& words,
                                const std::vector<bool>& constants, int64_t results) {
  return Reader(words, constants, results).program;
}

}  // namespace fhelium
