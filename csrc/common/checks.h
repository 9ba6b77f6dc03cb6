// Validation that every operator makes before it computes. Messages read
// `<operation>: <fact with both values>. <rule>. <remedy>.` and carry shapes and types, never data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/modular_arithmetic.h"
#include "common/torch_abi.h"
#include "common/words.h"

namespace fhelium {

/// An operator's name and the device that its call is on, where every operand must be. A name alone
/// means the CPU.
struct Operation {
  static constexpr int32_t kCpu = -1;

  Operation(const char* name, int32_t cuda_device = kCpu) : name(name), cuda_device(cuda_device) {}

  const char* name;
  int32_t cuda_device;
};

/// Raise RuntimeError in Python.
[[noreturn]] void refuse(const Operation& operation, const std::string& fact,
                         const std::string& rule, const std::string& remedy);

std::string to_string(const Sizes& sizes);

/// A tensor of the given type on the call's device; otherwise refuse, naming the argument.
void check_tensor(const Operation& operation, const char* name, const Tensor& tensor,
                  ScalarType dtype);

/// Residues: int32 or int64, with at least so many axes; `rule` says what they are.
void check_residues(const Operation& operation, const char* name, const Tensor& tensor,
                    int64_t least = 2,
                    const char* rule = "Residues are [*batch, limb, N], at least two axes");

/// The type of a result that no residue tensor among the arguments tells: int32 or int64.
void check_residue_type(const Operation& operation, ScalarType dtype);

/// The shape [kParameterRows, limbs] of rns_params and their type: all that can be known of those
/// on another device without waiting for it.
void check_parameter_shape(const Operation& operation, const Tensor& rns_params, int64_t limbs);

/// The columns of rns_params on the CPU: the shape, every q odd, above 1 and in the range of the
/// word, R the one of that word.
template <class Word>
std::vector<Modulus<Word>> check_parameters(const Operation& operation, const Tensor& rns_params,
                                            int64_t limbs);

/// One constant [limbs] per limb, of the residues' type and below the limb's modulus: that bounds
/// sums of products.
template <class Word>
std::vector<Word> check_constants(const Operation& operation, const char* name,
                                  const Tensor& tensor, const Modulus<Word>* moduli, int64_t limbs);

/// Constants [rows, limbs] of a basis conversion, row-major, column j below modulus j.
template <class Word>
std::vector<Word> check_matrix(const Operation& operation, const char* name, const Tensor& tensor,
                               int64_t rows, const Modulus<Word>* moduli, int64_t limbs);

/// So many integers on the CPU, int64; `rule` says what they are.
std::vector<int64_t> check_integers(const Operation& operation, const char* name,
                                    const Tensor& tensor, int64_t count, const char* rule);

/// int64 with at least so many axes; `rule` says what they are.
void check_axes(const Operation& operation, const char* name, const Tensor& tensor, int64_t least,
                const char* rule);

/// Of this type and of exactly this shape; `rule` says why.
void check_shape(const Operation& operation, const char* name, const Tensor& tensor,
                 ScalarType dtype, const Sizes& needed, const char* rule);

/// The destination of an in-place operator: no element stands at two indices.
void check_destination(const Operation& operation, const Tensor& tensor);

/// Source and destination share no element or are the very same view. Interleaved views (two
/// batch items of one tensor) share none.
void check_overlap(const Operation& operation, const Tensor& destination, const Tensor& source);

/// Whether `tensor` repeats over the shape of `like`: missing and size-1 batch axes do, the limb
/// axis agrees, the last axis agrees or is 1. Its type is that of `like`.
void check_broadcast(const Operation& operation, const char* name, const Tensor& tensor,
                     const Tensor& like);

}  // namespace fhelium
