// Coefficient-wise operations in one pass over memory: what stands between the operands and the
// result of a program stays in the core's own caches, a tile at a time. The rows are computed by
// the kernels that the single operations call, so the residues are theirs.
#include "ckks/coefficient_program.h"
#include "ckks/kernels.h"
#include "common/pool.h"
#include "common/row_loop.h"
#include "rns/kernels.h"

namespace fhelium {
namespace {

/// The tiles of rows that are no results share so many words of the second cache. Longer tiles are
/// read faster, as the machine begins anew with each row that it follows.
constexpr int64_t kRoom = int64_t{1} << 14;

/// A row as steps see it: where the tile at hand begins, and the distance between coefficients.
template <class Word>
struct Row {
  Word* data;
  int64_t step;  // 0: one constant
};

/// Compute n coefficients of every row.
template <class Word>
void run_steps(const std::vector<ProgramStep>& steps, const std::vector<Row<Word>>& rows, int64_t n,
               std::vector<KeySwitchTerm<Word>>& terms, const Modulus<Word>& m) {
  const RnsKernels<Word>& kernels = rns_kernels<Word>();
  const BinaryRow<Word> binary[] = {kernels.add, kernels.subtract, nullptr,
                                    kernels.multiply_montgomery};
  for (const ProgramStep& step : steps) {
    const auto operand = [&](size_t k) { return rows[step.operands[k]]; };
    Word* const out = rows[step.results[0]].data;
    if (step.code == kNegate || step.code == kToMontgomery) {
      const auto unary = step.code == kNegate ? kernels.negate : kernels.to_montgomery;
      unary(out, 1, operand(0).data, 1, n, m);
    } else if (step.code != kWeightedSums) {
      binary[step.code](out, 1, operand(0).data, 1, operand(1).data, operand(1).step, n, m);
    } else {
      terms.clear();
      for (size_t k = 0; k < step.operands.size(); k += 3)
        terms.push_back({operand(k).data, operand(k + 1).data, operand(k + 2).data});
      ckks_kernels<Word>().inner_product(out, rows[step.results[1]].data, terms.data(),
                                         static_cast<int64_t>(terms.size()), 1, 1, n, m);
    }
  }
}

/// The operands' rows: components of ciphertexts, then plaintexts.
template <class Word>
struct Operands {
  struct Source {
    ResidueRows<Word> rows;
    int64_t component;
  };
  std::vector<Source> sources;
  std::vector<bool> constants;

  Operands(std::vector<Tensor>& ciphertexts, std::vector<Tensor>& plaintexts) {
    for (Tensor& ciphertext : ciphertexts) {
      const auto rows = plain_rows<Word>(ciphertext);
      for (int64_t c = 0; c < ciphertext.size(0); ++c) add({rows, c}, false);
    }
    for (Tensor& plaintext : plaintexts) {
      const bool constant = plaintext.size(plaintext.dim() - 1) == 1;
      if (!constant) plain_rows<Word>(plaintext);
      add({broadcast_rows<Word>(plaintext, ciphertexts[0]), 0}, constant);
    }
  }

 private:
  void add(Source source, bool constant) {
    sources.push_back(std::move(source));
    constants.push_back(constant);
  }
};

/// The rows of one limb of one batch item, and how far each moves from tile to tile.
template <class Word>
struct TileRows {
  std::vector<Row<Word>> rows;
  std::vector<int64_t> advance;

  void add(Word* data, int64_t step, int64_t words) {
    rows.push_back({data, step});
    advance.push_back(words);
  }
  void move_on() {
    for (size_t i = 0; i < rows.size(); ++i) rows[i].data += advance[i];
  }
};

template <class Word>
Tensor run_program(std::vector<Tensor>& ciphertexts, std::vector<Tensor>& plaintexts,
                   const std::vector<int64_t>& words, int64_t components,
                   const Tensor& rns_params) {
  const Tensor& like = ciphertexts[0];
  const Operands<Word> operands(ciphertexts, plaintexts);
  const CoefficientProgram program = read_program(words, operands.constants, components);
  const auto moduli = check_parameters<Word>(kProgramName, rns_params, like.size(like.dim() - 2));
  Sizes shape = sizes_of(like);
  shape[0] = components;
  Tensor result = empty_result(like, shape);
  const auto out = rows_of<Word>(result);
  const int64_t batches = out.batches / components;
  const int64_t scratch = std::max<int64_t>(program.written - components, 1);
  const int64_t tile = std::min(out.degree, kRoom / scratch / 64 * 64);
  double cost = 0;
  for (const ProgramStep& step : program.steps)
    cost += 0.4 * static_cast<double>(step.operands.size());
  for_each_row(out.limbs, batches, out.degree, cost, [&](int64_t limb, int64_t batch) {
    Workspace workspace(Workspace::room_for<Word>(scratch * tile));
    Word* const room = workspace.take<Word>(scratch * tile);
    TileRows<Word> at;
    for (size_t i = 0; i < operands.sources.size(); ++i) {
      const auto& [source, component] = operands.sources[i];
      const bool constant = operands.constants[i];
      at.add(source.pointer(component * batches + batch, limb), constant ? 0 : 1,
             constant ? 0 : tile);
    }
    for (int64_t c = 0; c < components; ++c)
      at.add(out.pointer(c * batches + batch, limb), 1, tile);
    for (int64_t k = 0; k < scratch; ++k) at.add(room + k * tile, 1, 0);
    std::vector<KeySwitchTerm<Word>> terms;
    for (int64_t k = 0; k < out.degree; k += tile, at.move_on())
      run_steps(program.steps, at.rows, std::min(tile, out.degree - k), terms,
                moduli[static_cast<size_t>(limb)]);
  });
  return result;
}

Tensor coefficient_program(std::vector<Tensor> ciphertexts, std::vector<Tensor> plaintexts,
                           const std::vector<int64_t> program, int64_t components,
                           const Tensor rns_params) {
  check_program_operands(kProgramName, ciphertexts, plaintexts);
  return for_word_of(ciphertexts[0], [&](auto word) {
    return run_program<decltype(word)>(ciphertexts, plaintexts, program, components, rns_params);
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CPU, m) {
  m.impl("coefficient_program", FHELIUM_BOX(&fhelium::coefficient_program));
}
