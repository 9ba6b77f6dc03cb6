// Programs of coefficient-wise operations on CUDA tensors: a launch a step, the kernels that the
// single operations launch. Nothing waits, so a program is captured whole.
#include "ckks/coefficient_program.h"
#include "ckks/cuda_kernels.h"
#include "common/cuda_call.h"
#include "rns/cuda_kernels.h"

namespace fhelium {
namespace {

/// Rows [*batch, limb, N] as kernels see them, in the program's numbers.
struct ProgramRows {
  std::vector<DeviceRows> rows;
  std::vector<bool> constants;  // of the operands

  ProgramRows(const CudaCall& call, const std::vector<Tensor>& ciphertexts,
              const std::vector<Tensor>& plaintexts) {
    for (const Tensor& ciphertext : ciphertexts) add_components(call, ciphertext);
    constants.assign(rows.size(), false);
    const Tensor item = select_first(ciphertexts[0], 0);
    for (const Tensor& plaintext : plaintexts) {
      rows.push_back(call.rows(plaintext, item));
      constants.push_back(plaintext.size(plaintext.dim() - 1) == 1);
    }
  }

  void add_components(const CudaCall& call, const Tensor& tensor) {
    for (int64_t c = 0; c < tensor.size(0); ++c) rows.push_back(call.rows(select_first(tensor, c)));
  }
};

/// sum of factor x to one row, of factor y to the other.
void launch_sums(const CudaCall& call, const Tensor& like, const ProgramStep& step,
                 const std::vector<DeviceRows>& rows, const DeviceParameters& parameters) {
  for (size_t half = 0; half < 2; ++half) {
    std::vector<DeviceRows> factors, terms;
    for (size_t k = 0; k < step.operands.size(); k += 3) {
      factors.push_back(rows[step.operands[k]]);
      terms.push_back(rows[step.operands[k + 1 + half]]);
    }
    call.launch(fhelium_cuda_sum_plaintext_products, like, rows[step.results[half]], terms.data(),
                factors.data(), static_cast<int64_t>(terms.size()), parameters);
  }
}

void launch_step(const CudaCall& call, const Tensor& like, const ProgramStep& step,
                 const std::vector<DeviceRows>& rows, const DeviceParameters& parameters) {
  const auto binary = [&](const auto& launcher) {
    call.launch(launcher, like, rows[step.results[0]], rows[step.operands[0]],
                rows[step.operands[1]], parameters);
  };
  const auto unary = [&](const auto& launcher) {
    call.launch(launcher, like, rows[step.results[0]], rows[step.operands[0]], parameters);
  };
  switch (step.code) {
    case kAdd: return binary(fhelium_cuda_add_standard);
    case kSubtract: return binary(fhelium_cuda_subtract_standard);
    case kNegate: return unary(fhelium_cuda_negate_standard);
    case kMultiply: return binary(fhelium_cuda_multiply_montgomery);
    case kToMontgomery: return unary(fhelium_cuda_to_montgomery);
    default: return launch_sums(call, like, step, rows, parameters);
  }
}

Tensor coefficient_program(std::vector<Tensor> ciphertexts, std::vector<Tensor> plaintexts,
                           const std::vector<int64_t> program, int64_t components,
                           const Tensor rns_params) {
  const CudaCall call(kProgramName, "ciphertexts",
                      ciphertexts.empty() ? rns_params : ciphertexts[0]);
  check_program_operands(call, ciphertexts, plaintexts);
  const Tensor& like = ciphertexts[0];
  ProgramRows here(call, ciphertexts, plaintexts);
  const CoefficientProgram read = read_program(program, here.constants, components);
  const DeviceParameters parameters = call.parameters(rns_params, like);
  Sizes shape = sizes_of(like);
  shape[0] = components;
  const Tensor out = empty_on(like, shape);
  shape[0] = read.written - components;
  const Tensor scratch = empty_on(like, shape);
  here.add_components(call, out);
  here.add_components(call, scratch);
  for (const ProgramStep& step : read.steps) launch_step(call, like, step, here.rows, parameters);
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CUDA, m) {
  m.impl("coefficient_program", FHELIUM_BOX(&fhelium::coefficient_program));
}
