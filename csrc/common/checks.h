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

/// The same, with every constant below its limb's modulus: what bounds a sum of products.
std::vector<u64> check_constants(const char* operation, const char* name, const Tensor& tensor,
                                 const Modulus* moduli, int64_t limbs);

/// Constants [rows, limbs] of a basis conversion, row-major, column j below modulus j.
std::vector<u64> check_matrix(const char* operation, const char* name, const Tensor& tensor,
                              int64_t rows, const Modulus* moduli, int64_t limbs);

/// int64 on the CPU with at least so many axes; `rule` says what they are.
void check_axes(const char* operation, const char* name, const Tensor& tensor, int64_t least,
                const char* rule);

/// int64 on the CPU of exactly this shape; `rule` says why.
void check_shape(const char* operation, const char* name, const Tensor& tensor, const Sizes& needed,
                 const char* rule);

/// The destination of an in-place operator: no element stands at two indices.
void check_destination(const char* operation, const Tensor& tensor);

/// Source and destination share no element or are the very same view. Interleaved views (two
/// batch items of one tensor) share none.
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
