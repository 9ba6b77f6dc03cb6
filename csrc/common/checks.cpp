#include "common/checks.h"

#include <algorithm>
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

void check_destination(const char* operation, const Tensor& tensor) {
  // Sort the axes by stride: each axis must step past everything the faster axes cover.
  const Sizes sizes = sizes_of(tensor), strides = strides_of(tensor);
  std::vector<std::pair<int64_t, int64_t>> axes;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1) axes.emplace_back(strides[i], sizes[i]);
  std::sort(axes.begin(), axes.end());
  int64_t covered = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= covered)
      refuse(
          operation,
          "the destination has strides " + to_string(strides) + " and two indices share an element",
          "An in-place form writes each element once", "Call .contiguous() on it first");
    covered += stride * (size - 1);
  }
}

static std::pair<const char*, const char*> extent(const Tensor& tensor) {
  const Sizes sizes = sizes_of(tensor), strides = strides_of(tensor);
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return {nullptr, nullptr};
    last += strides[i] * (sizes[i] - 1);
  }
  const char* first = static_cast<const char*>(tensor.const_data_ptr());
  return {first, first + (last + 1) * static_cast<int64_t>(sizeof(int64_t))};
}

void check_overlap(const char* operation, const Tensor& destination, const Tensor& source) {
  const auto [a, a_end] = extent(destination);
  const auto [b, b_end] = extent(source);
  if (a == nullptr || b == nullptr || a_end <= b || b_end <= a) return;
  if (a == b && sizes_of(destination) == sizes_of(source) &&
      strides_of(destination) == strides_of(source))
    return;
  refuse(operation, "source and destination share part of their storage",
         "They are the same view or do not meet", "Clone the source first");
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
  const size_t missing = target.batch_sizes.size() - own.batch_sizes.size();
  bool fits = own.batch_sizes.size() <= target.batch_sizes.size() && own.limbs == target.limbs &&
              (own.degree == target.degree || own.degree == 1);
  for (size_t i = 0; fits && i < own.batch_sizes.size(); ++i)
    fits = own.batch_sizes[i] == target.batch_sizes[missing + i] || own.batch_sizes[i] == 1;
  if (!fits)
    refuse(
        operation,
        std::string(name) + " has shape " + to_string(sizes_of(tensor)) + " against " +
            to_string(sizes_of(like)),
        "It repeats over missing and size-1 batch axes; limbs agree; the last axis agrees or is 1",
        "Reshape or slice it to fit");
  for (size_t i = 0; i < own.batch_sizes.size(); ++i)
    if (own.batch_sizes[i] == 1) own.batch_strides[i] = 0;
  own.batch_strides.insert(own.batch_strides.begin(), missing, 0);
  own.batch_sizes = target.batch_sizes;
  own.batches = target.batches;
  if (own.degree == 1) own.step = 0;
  own.degree = target.degree;
  return own;
}

}  // namespace fhelium
