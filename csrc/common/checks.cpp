#include "common/checks.h"

#include <algorithm>
#include <stdexcept>

#include "common/parameters.h"

namespace fhelium {

void refuse(const Operation& operation, const std::string& fact, const std::string& rule,
            const std::string& remedy) {
  throw std::runtime_error(std::string(operation.name) + ": " + fact + ". " + rule + ". " + remedy +
                           ".");
}

std::string to_string(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

static const char* dtype_name(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Long: return "int64";
    case ScalarType::Int: return "int32";
    case ScalarType::Double: return "float64";
    case ScalarType::Float: return "float32";
    case ScalarType::Byte: return "uint8";
    default: return "another type";
  }
}

static void check_memory(const Operation& operation, const char* name, const Tensor& tensor) {
  const bool on_cpu = operation.cuda_device == Operation::kCpu;
  if (on_cpu ? !tensor.is_cpu() : !is_on_cuda(tensor, operation.cuda_device))
    refuse(operation,
           std::string(name) + " is not on " +
               (on_cpu ? "the CPU" : "cuda:" + std::to_string(operation.cuda_device)) +
               " while the call is",
           "All operands live on one device", "Move it there first");
  const auto address = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  if (address % tensor.element_size() != 0)
    refuse(operation,
           std::string(name) + " begins at an address that is no multiple of the " +
               std::to_string(tensor.element_size()) + " bytes of its elements",
           "Elements are read as whole words", "Clone it first");
}

static void check_least_axes(const Operation& operation, const char* name, const Tensor& tensor,
                             int64_t least, const char* rule) {
  if (tensor.dim() < least)
    refuse(operation,
           std::string(name) + " has shape " + to_string(sizes_of(tensor)) + " with " +
               std::to_string(tensor.dim()) + " axes, needed are at least " + std::to_string(least),
           rule, "Add the missing axes");
}

static void check_sizes(const Operation& operation, const char* name, const Tensor& tensor,
                        const Sizes& needed, const char* rule, const char* remedy) {
  if (sizes_of(tensor) != needed)
    refuse(operation,
           std::string(name) + " has shape " + to_string(sizes_of(tensor)) + ", needed is " +
               to_string(needed),
           rule, remedy);
}

void check_tensor(const Operation& operation, const char* name, const Tensor& tensor,
                  ScalarType dtype) {
  check_memory(operation, name, tensor);
  if (tensor.scalar_type() != dtype)
    refuse(operation,
           std::string(name) + " holds " + dtype_name(tensor.scalar_type()) + ", needed is " +
               dtype_name(dtype),
           "Types are never converted unasked", "Convert it first");
}

void check_residues(const Operation& operation, const char* name, const Tensor& tensor,
                    int64_t least, const char* rule) {
  check_memory(operation, name, tensor);
  if (!is_residue_type(tensor.scalar_type()))
    refuse(operation,
           std::string(name) + " holds " + dtype_name(tensor.scalar_type()) +
               ", needed is int32 or int64",
           "Residues are stored in one of the two", "Convert it first");
  check_least_axes(operation, name, tensor, least, rule);
}

void check_residue_type(const Operation& operation, ScalarType dtype) {
  if (is_residue_type(dtype)) return;
  refuse(operation, std::string("dtype is ") + dtype_name(dtype) + ", needed is int32 or int64",
         "Residues are stored in one of the two", "Pass the dtype of the parameters");
}

void check_axes(const Operation& operation, const char* name, const Tensor& tensor, int64_t least,
                const char* rule) {
  check_tensor(operation, name, tensor, kInt64);
  check_least_axes(operation, name, tensor, least, rule);
}

void check_shape(const Operation& operation, const char* name, const Tensor& tensor,
                 ScalarType dtype, const Sizes& needed, const char* rule) {
  check_tensor(operation, name, tensor, dtype);
  check_sizes(operation, name, tensor, needed, rule, "Reshape or slice it to fit");
}

/// Whether a column's rows belong together. Kernels rely on it: with another reciprocal, rejection
/// sampling might never accept.
static bool is_parameter_column(const u64 (&rows)[kParameterRows]) {
  const u64 q = rows[kModulus], bits = rows[kMontgomeryBits];
  const bool wide = q < (u64{1} << WordTraits<u64>::kModulusBits) &&
                    (bits == 64 || (bits == 52 && q < (u64{1} << 50)));
  const bool narrow = bits == 32 && q < (u64{1} << WordTraits<u32>::kModulusBits);
  const u128 below = static_cast<u128>(q) * rows[kReciprocal];  // 2^64 - below lies in (0, q)
  return (q & 1) && q > 1 && (wide || narrow) && q * rows[kInverse] == 1 && below >> 64 == 0 &&
         0 - static_cast<u64>(below) < q && rows[kMontgomeryOne] < q &&
         rows[kMontgomerySquare] < q && rows[kDegreeInverse] < q;
}

/// Refuse a column that is no parameter column, then one of another residue type.
static void check_column(const Operation& operation, int64_t column,
                         const u64 (&rows)[kParameterRows], ScalarType residues) {
  const bool narrow = rows[kMontgomeryBits] == 32;
  if (!is_parameter_column(rows))
    refuse(operation,
           "column " + std::to_string(column) + " of rns_params is not a parameter column",
           "Every modulus is odd with 1 < q < 2^62 and its rows belong together",
           "Make the tensor with fhelium_rns_ops::rns_parameters");
  if (narrow == (residues == kInt32)) return;
  refuse(operation,
         "column " + std::to_string(column) + " of rns_params is for " +
             dtype_name(narrow ? kInt32 : kInt64) + " residues, this call is on " +
             dtype_name(residues),
         "R is 2^32 for int32 residues, 2^52 or 2^64 for int64 ones",
         "Make the parameters from moduli of the residues' type");
}

void check_parameter_shape(const Operation& operation, const Tensor& rns_params, int64_t limbs) {
  check_tensor(operation, "rns_params", rns_params, kInt64);
  const Sizes shape = sizes_of(rns_params);
  const Sizes needed = {kParameterRows, limbs};
  if (shape != needed)
    refuse(operation,
           "rns_params has shape " + to_string(shape) + ", the residues need " + to_string(needed),
           "Column j describes limb j", "Pass the parameter rows of this basis and depth");
}

template <class Word>
std::vector<Modulus<Word>> check_parameters(const Operation& operation, const Tensor& rns_params,
                                            int64_t limbs) {
  check_parameter_shape(operation, rns_params, limbs);
  const int64_t* data = rns_params.const_data_ptr<int64_t>();
  const int64_t row = rns_params.stride(0), column = rns_params.stride(1);
  std::vector<Modulus<Word>> moduli(static_cast<size_t>(limbs));
  for (int64_t j = 0; j < limbs; ++j) {
    u64 rows[kParameterRows];
    for (int r = 0; r < kParameterRows; ++r) rows[r] = static_cast<u64>(data[r * row + j * column]);
    const auto word = [&](int r) { return static_cast<Word>(rows[r]); };
    check_column(operation, j, rows, kTypeOf<Word>);
    moduli[static_cast<size_t>(j)] = {word(kModulus),
                                      word(kInverse),
                                      word(kMontgomeryOne),
                                      word(kMontgomerySquare),
                                      word(kDegreeInverse),
                                      rows[kReciprocal],
                                      static_cast<int>(rows[kMontgomeryBits])};
  }
  return moduli;
}

/// The constants of a tensor of this shape, row-major, each below the modulus of its column.
template <class Word>
static std::vector<Word> read_constants(const Operation& operation, const char* name,
                                        const Tensor& tensor, const Sizes& needed, const char* rule,
                                        const Modulus<Word>* moduli) {
  constexpr auto kRemedy = "Pass the constants of this basis and depth";
  check_tensor(operation, name, tensor, kTypeOf<Word>);
  check_sizes(operation, name, tensor, needed, rule, kRemedy);
  const bool one_row = needed.size() == 1;
  const int64_t rows = one_row ? 1 : needed[0], limbs = needed.back();
  const int64_t row = one_row ? 0 : tensor.stride(0), column = tensor.stride(tensor.dim() - 1);
  std::vector<Word> constants;
  constants.reserve(static_cast<size_t>(rows * limbs));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < limbs; ++j) {
      const Word value = data_of<Word>(tensor)[i * row + j * column];
      if (value >= moduli[j].q)
        refuse(operation,
               std::string(name) + " holds " + std::to_string(value) + " for limb " +
                   std::to_string(j) + ", whose modulus is " + std::to_string(moduli[j].q),
               "A constant of limb j lies in [0, q_j)", kRemedy);
      constants.push_back(value);
    }
  return constants;
}

template <class Word>
std::vector<Word> check_constants(const Operation& operation, const char* name,
                                  const Tensor& tensor, const Modulus<Word>* moduli,
                                  int64_t limbs) {
  return read_constants(operation, name, tensor, {limbs}, "It holds one constant per limb", moduli);
}

template <class Word>
std::vector<Word> check_matrix(const Operation& operation, const char* name, const Tensor& tensor,
                               int64_t rows, const Modulus<Word>* moduli, int64_t limbs) {
  return read_constants(operation, name, tensor, {rows, limbs},
                        "Its rows are the source primes, its columns the target limbs", moduli);
}

std::vector<int64_t> check_integers(const Operation& operation, const char* name,
                                    const Tensor& tensor, int64_t count, const char* rule) {
  check_tensor(operation, name, tensor, kInt64);
  check_sizes(operation, name, tensor, {count}, rule, "Pass the integers of this basis and depth");
  std::vector<int64_t> values;
  const int64_t* data = tensor.const_data_ptr<int64_t>();
  for (int64_t j = 0; j < count; ++j) values.push_back(data[j * tensor.stride(0)]);
  return values;
}

void check_broadcast(const Operation& operation, const char* name, const Tensor& tensor,
                     const Tensor& like) {
  check_tensor(operation, name, tensor, like.scalar_type());
  const Sizes own = sizes_of(tensor), target = sizes_of(like);
  const size_t axes = own.size(), missing = target.size() - std::min(axes, target.size());
  bool fits = axes >= 2 && axes <= target.size();
  for (size_t i = 0; fits && i < axes; ++i)
    fits = own[i] == target[missing + i] || (own[i] == 1 && i + 2 != axes);
  if (!fits)
    refuse(
        operation,
        std::string(name) + " has shape " + to_string(own) + " against " + to_string(target),
        "It repeats over missing and size-1 batch axes; limbs agree; the last axis agrees or is 1",
        "Reshape or slice it to fit");
}

template std::vector<Modulus<u32>> check_parameters(const Operation&, const Tensor&, int64_t);
template std::vector<Modulus<u64>> check_parameters(const Operation&, const Tensor&, int64_t);
template std::vector<u32> check_constants(const Operation&, const char*, const Tensor&,
                                          const Modulus<u32>*, int64_t);
template std::vector<u64> check_constants(const Operation&, const char*, const Tensor&,
                                          const Modulus<u64>*, int64_t);
template std::vector<u32> check_matrix(const Operation&, const char*, const Tensor&, int64_t,
                                       const Modulus<u32>*, int64_t);
template std::vector<u64> check_matrix(const Operation&, const char*, const Tensor&, int64_t,
                                       const Modulus<u64>*, int64_t);

}  // namespace fhelium
