// Validation that every CPU operator makes before it computes. Messages read
// `<operation>: <fact with both values>. <rule>. <remedy>.` and carry shapes and types, never data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/modular_arithmetic.h"
#include "common/torch_abi.h"
#include "common/words.h"

namespace fhelium {

/// Raise RuntimeError in Python.
[[noreturn]] void refuse(const char* operation, const std::string& fact, const std::string& rule,
                         const std::string& remedy);

std::string to_string(const Sizes& sizes);

/// CPU tensor of the given type; otherwise refuse, naming the argument.
void check_tensor(const char* operation, const char* name, const Tensor& tensor, ScalarType dtype);

/// Residues on the CPU: int32 or int64, with at least so many axes; `rule` says what they are.
void check_residues(const char* operation, const char* name, const Tensor& tensor,
                    int64_t least = 2,
                    const char* rule = "Residues are [*batch, limb, N], at least two axes");

/// The type of a result that no residue tensor among the arguments tells: int32 or int64.
void check_residue_type(const char* operation, ScalarType dtype);

/// The columns of rns_params: shape [kParameterRows, limbs], every q odd, above 1 and in the range
/// of the word, R the one of that word.
template <class Word>
std::vector<Modulus<Word>> check_parameters(const char* operation, const Tensor& rns_params,
                                            int64_t limbs);

/// One constant [limbs] per limb, of the residues' type and below the limb's modulus: that bounds
/// sums of products.
template <class Word>
std::vector<Word> check_constants(const char* operation, const char* name, const Tensor& tensor,
                                  const Modulus<Word>* moduli, int64_t limbs);

/// Constants [rows, limbs] of a basis conversion, row-major, column j below modulus j.
template <class Word>
std::vector<Word> check_matrix(const char* operation, const char* name, const Tensor& tensor,
                               int64_t rows, const Modulus<Word>* moduli, int64_t limbs);

/// Indices or counts: int64 [limbs] on the CPU, one for each limb.
std::vector<int64_t> check_integers(const char* operation, const char* name, const Tensor& tensor,
                                    int64_t limbs);

/// int64 on the CPU with at least so many axes; `rule` says what they are.
void check_axes(const char* operation, const char* name, const Tensor& tensor, int64_t least,
                const char* rule);

/// Of this type on the CPU and of exactly this shape; `rule` says why.
void check_shape(const char* operation, const char* name, const Tensor& tensor, ScalarType dtype,
                 const Sizes& needed, const char* rule);

/// The destination of an in-place operator: no element stands at two indices.
void check_destination(const char* operation, const Tensor& tensor);

/// Source and destination share no element or are the very same view. Interleaved views (two
/// batch items of one tensor) share none.
void check_overlap(const char* operation, const Tensor& destination, const Tensor& source);

/// Whether `tensor` repeats over the shape of `like`: missing and size-1 batch axes do, the limb
/// axis agrees, the last axis agrees or is 1. Its type is that of `like`.
void check_broadcast(const char* operation, const char* name, const Tensor& tensor,
                     const Tensor& like);

}  // namespace fhelium
