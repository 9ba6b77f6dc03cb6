#include "common/checks.h"

#include <stdexcept>

#include "common/parameters.h"

namespace fhelium {

void refuse(const char* operation, const std::string& fact, const std::string& rule,
            const std::string& remedy) {
  throw std::runtime_error(std::string(operation) + ": " + fact + ". " + rule + ". " + remedy +
                           ".");
}

std::string to_string(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

static const char* dtype_name(torch::headeronly::ScalarType dtype) {
  using torch::headeronly::ScalarType;
  switch (dtype) {
    case ScalarType::Long: return "int64";
    case ScalarType::Int: return "int32";
    case ScalarType::Double: return "float64";
    case ScalarType::Float: return "float32";
    case ScalarType::Byte: return "uint8";
    default: return "another type";
  }
}

void check_tensor(const char* operation, const char* name, const Tensor& tensor,
                  torch::headeronly::ScalarType dtype) {
  if (!tensor.is_cpu())
    refuse(operation, std::string(name) + " is not on the CPU while the call is",
           "All operands live on one device", "Move it there first");
  if (tensor.scalar_type() != dtype)
    refuse(operation,
           std::string(name) + " holds " + dtype_name(tensor.scalar_type()) + ", needed is " +
               dtype_name(dtype),
           "Types are never converted unasked", "Convert it first");
}

void check_residues(const char* operation, const char* name, const Tensor& tensor) {
  check_tensor(operation, name, tensor, kInt64);
  if (tensor.dim() < 2)
    refuse(operation, std::string(name) + " has shape " + to_string(sizes_of(tensor)),
           "Residues are [*batch, limb, N], at least two axes", "Add the limb axis");
}

std::vector<Modulus> check_parameters(const char* operation, const Tensor& rns_params,
                                      int64_t limbs) {
  check_tensor(operation, "rns_params", rns_params, kInt64);
  const Sizes shape = sizes_of(rns_params);
  const Sizes needed = {kParameterRows, limbs};
  if (shape != needed)
    refuse(operation,
           "rns_params has shape " + to_string(shape) + ", the residues need " + to_string(needed),
           "Column j describes limb j", "Pass the parameter rows of this basis and depth");
  const int64_t* data = rns_params.const_data_ptr<int64_t>();
  const int64_t row = rns_params.stride(0), column = rns_params.stride(1);
  std::vector<Modulus> moduli(static_cast<size_t>(limbs));
  for (int64_t j = 0; j < limbs; ++j) {
    const auto at = [&](int r) { return static_cast<u64>(data[r * row + j * column]); };
    const u64 q = at(kModulus), bits = at(kMontgomeryBits);
    const bool consistent = (q & 1) && q > 1 && q < (u64{1} << 62) && q * at(kInverse) == 1 &&
                            (bits == 64 || (bits == 52 && q < (u64{1} << 50)));
    if (!consistent)
      refuse(operation, "column " + std::to_string(j) + " of rns_params is not a parameter column",
             "Every modulus is odd with 1 < q < 2^62 and its rows belong together",
             "Make the tensor with fhelium_rns_ops::rns_parameters");
    moduli[static_cast<size_t>(j)] = {q,
                                      at(kInverse),
                                      bits,
                                      at(kMontgomeryOne),
                                      at(kMontgomerySquare),
                                      at(kReciprocal),
                                      at(kDegreeInverse)};
  }
  return moduli;
}

static void check_below(const char* operation, const char* name, u64 value, const Modulus& m,
                        size_t limb) {
  if (value < m.q) return;
  refuse(operation,
         std::string(name) + " holds " + std::to_string(value) + " for limb " +
             std::to_string(limb) + ", whose modulus is " + std::to_string(m.q),
         "A constant of limb j lies in [0, q_j)", "Pass the constants of this basis and depth");
}

void check_axes(const char* operation, const char* name, const Tensor& tensor, int64_t least,
                const char* rule) {
  check_tensor(operation, name, tensor, kInt64);
  if (tensor.dim() < least)
    refuse(operation,
           std::string(name) + " has shape " + to_string(sizes_of(tensor)) + " with " +
               std::to_string(tensor.dim()) + " axes, needed are at least " + std::to_string(least),
           rule, "Add the missing axes");
}

void check_shape(const char* operation, const char* name, const Tensor& tensor, const Sizes& needed,
                 const char* rule) {
  check_tensor(operation, name, tensor, kInt64);
  if (sizes_of(tensor) != needed)
    refuse(operation,
           std::string(name) + " has shape " + to_string(sizes_of(tensor)) + ", needed is " +
               to_string(needed),
           rule, "Reshape or slice it to fit");
}

std::vector<u64> check_constants(const char* operation, const char* name, const Tensor& tensor,
                                 const Modulus* moduli, int64_t limbs) {
  std::vector<u64> constants = check_constants(operation, name, tensor, limbs);
  for (size_t j = 0; j < constants.size(); ++j)
    check_below(operation, name, constants[j], moduli[j], j);
  return constants;
}

std::vector<u64> check_matrix(const char* operation, const char* name, const Tensor& tensor,
                              int64_t rows, const Modulus* moduli, int64_t limbs) {
  check_tensor(operation, name, tensor, kInt64);
  const Sizes shape = sizes_of(tensor), needed = {rows, limbs};
  if (shape != needed)
    refuse(
        operation,
        std::string(name) + " has shape " + to_string(shape) + ", needed is " + to_string(needed),
        "Its rows are the source primes, its columns the target limbs",
        "Pass the constants of this basis and depth");
  std::vector<u64> constants;
  constants.reserve(static_cast<size_t>(rows * limbs));
  const int64_t* data = tensor.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < limbs; ++j) {
      const u64 value = static_cast<u64>(data[i * tensor.stride(0) + j * tensor.stride(1)]);
      check_below(operation, name, value, moduli[j], static_cast<size_t>(j));
      constants.push_back(value);
    }
  return constants;
}

std::vector<u64> check_constants(const char* operation, const char* name, const Tensor& tensor,
                                 int64_t limbs) {
  check_tensor(operation, name, tensor, kInt64);
  const Sizes shape = sizes_of(tensor), needed = {limbs};
  if (shape != needed)
    refuse(
        operation,
        std::string(name) + " has shape " + to_string(shape) + ", needed is " + to_string(needed),
        "It holds one constant per limb", "Pass the constants of this basis and depth");
  std::vector<u64> constants(static_cast<size_t>(limbs));
  const int64_t* data = tensor.const_data_ptr<int64_t>();
  for (int64_t j = 0; j < limbs; ++j)
    constants[static_cast<size_t>(j)] = static_cast<u64>(data[j * tensor.stride(0)]);
  return constants;
}

u64* ResidueRows::pointer(int64_t batch, int64_t limb) const {
  int64_t offset = limb * limb_stride;
  for (size_t i = batch_sizes.size(); i-- > 0;) {
    offset += (batch % batch_sizes[i]) * batch_strides[i];
    batch /= batch_sizes[i];
  }
  return data + offset;
}

ResidueRows rows_of(const Tensor& tensor) {
  const Sizes sizes = sizes_of(tensor), strides = strides_of(tensor);
  const size_t batch_axes = sizes.size() - 2;
  ResidueRows rows;
  // Reads go through the same view as writes; constness is the adapter's business.
  rows.data = reinterpret_cast<u64*>(const_cast<void*>(tensor.const_data_ptr()));
  rows.batch_sizes.assign(sizes.begin(), sizes.begin() + static_cast<int64_t>(batch_axes));
  rows.batch_strides.assign(strides.begin(), strides.begin() + static_cast<int64_t>(batch_axes));
  for (int64_t size : rows.batch_sizes) rows.batches *= size;
  rows.limbs = sizes[batch_axes];
  rows.degree = sizes[batch_axes + 1];
  rows.limb_stride = strides[batch_axes];
  rows.step = strides[batch_axes + 1];
  return rows;
}

ResidueRows broadcast_rows(const char* operation, const char* name, const Tensor& tensor,
                           const Tensor& like) {
  ResidueRows own = rows_of(tensor), target = rows_of(like);
  const size_t axes = own.batch_sizes.size(), target_axes = target.batch_sizes.size();
  const size_t missing = axes <= target_axes ? target_axes - axes : 0;
  bool fits = axes <= target_axes && own.limbs == target.limbs &&
              (own.degree == target.degree || own.degree == 1);
  for (size_t i = 0; fits && i < axes; ++i)
    fits = own.batch_sizes[i] == target.batch_sizes[missing + i] || own.batch_sizes[i] == 1;
  if (!fits)
    refuse(
        operation,
        std::string(name) + " has shape " + to_string(sizes_of(tensor)) + " against " +
            to_string(sizes_of(like)),
        "It repeats over missing and size-1 batch axes; limbs agree; the last axis agrees or is 1",
        "Reshape or slice it to fit");
  for (size_t i = 0; i < axes; ++i)
    if (own.batch_sizes[i] == 1) own.batch_strides[i] = 0;
  own.batch_strides.insert(own.batch_strides.begin(), missing, 0);
  own.batch_sizes = target.batch_sizes;
  own.batches = target.batches;
  if (own.degree == 1) own.step = 0;
  own.degree = target.degree;
  return own;
}

}  // namespace fhelium
