// Validation that every CPU operator makes before it computes. Messages read
// `<operation>: <fact with both values>. <rule>. <remedy>.` and carry shapes and types, never data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/modular_arithmetic.h"
#include "common/torch_abi.h"

namespace fhelium {

/// Raise RuntimeError in Python.
[[noreturn]] void refuse(const char* operation, const std::string& fact, const std::string& rule,
                         const std::string& remedy);

std::string to_string(const Sizes& sizes);

/// CPU tensor of the given type; otherwise refuse, naming the argument.
void check_tensor(const char* operation, const char* name, const Tensor& tensor,
                  torch::headeronly::ScalarType dtype);

/// Residues [*batch, limb, N] (int64, CPU, at least two axes).
void check_residues(const char* operation, const char* name, const Tensor& tensor);

/// The columns of rns_params: shape [kParameterRows, limbs], every q odd and in (1, 2^62), R known.
std::vector<Modulus> check_parameters(const char* operation, const Tensor& rns_params,
                                      int64_t limbs);

/// One constant per limb, contiguous: int64 [limbs].
std::vector<u64> check_constants(const char* operation, const char* name, const Tensor& tensor,
                                 int64_t limbs);

/// The destination of an in-place operator: no element stands at two indices.
void check_destination(const char* operation, const Tensor& tensor);

/// Source and destination are either disjoint or the very same view.
void check_overlap(const char* operation, const Tensor& destination, const Tensor& source);

/// Residues seen as rows: the batch axes flattened in front of [limb, N].
/// `pointer(b, l)` is the first coefficient; `step` is the stride between coefficients.
struct ResidueRows {
  u64* data = nullptr;
  Sizes batch_sizes, batch_strides;
  int64_t batches = 1, limbs = 0, degree = 0, limb_stride = 0, step = 1;

  u64* pointer(int64_t batch, int64_t limb) const;
};

ResidueRows rows_of(const Tensor& tensor);

/// Rows of `tensor` as if it had the batch shape of `like`: missing and size-1 axes repeat.
/// The limb axis must agree; the last axis must agree or be 1 (then step is 0).
ResidueRows broadcast_rows(const char* operation, const char* name, const Tensor& tensor,
                           const Tensor& like);

}  // namespace fhelium
