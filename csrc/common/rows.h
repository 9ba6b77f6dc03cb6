// Residue tensors as rows of coefficients, at whatever strides they lie.
#pragma once
#include "common/words.h"

namespace fhelium {

/// Residues seen as rows: the batch axes flattened in front of [limb, N].
/// `pointer(b, l)` is the first coefficient; `step` is the stride between coefficients.
template <class Word>
struct ResidueRows {
  Word* data = nullptr;
  Sizes batch_sizes, batch_strides;
  int64_t batches = 1, limbs = 0, degree = 0, limb_stride = 0, step = 1;

  Word* pointer(int64_t batch, int64_t limb) const {
    int64_t offset = limb * limb_stride;
    for (size_t i = batch_sizes.size(); i-- > 0;) {
      offset += (batch % batch_sizes[i]) * batch_strides[i];
      batch /= batch_sizes[i];
    }
    return data + offset;
  }
};

/// Rows of [*batch, limb, N], whose type has been checked.
template <class Word>
ResidueRows<Word> rows_of(const Tensor& tensor) {
  const Sizes sizes = sizes_of(tensor), strides = strides_of(tensor);
  const size_t batch_axes = sizes.size() - 2;
  ResidueRows<Word> rows;
  // Reads go through the same view as writes; constness is the adapter's business.
  rows.data = const_cast<Word*>(data_of<Word>(tensor));
  rows.batch_sizes.assign(sizes.begin(), sizes.begin() + static_cast<int64_t>(batch_axes));
  rows.batch_strides.assign(strides.begin(), strides.begin() + static_cast<int64_t>(batch_axes));
  for (int64_t size : rows.batch_sizes) rows.batches *= size;
  rows.limbs = sizes[batch_axes];
  rows.degree = sizes[batch_axes + 1];
  rows.limb_stride = strides[batch_axes];
  rows.step = strides[batch_axes + 1];
  return rows;
}

/// Rows whose coefficients lie side by side: a tensor where they do not becomes its copy.
template <class Word>
ResidueRows<Word> plain_rows(Tensor& tensor) {
  if (tensor.stride(tensor.dim() - 1) != 1) tensor = fhelium::contiguous(tensor);
  return rows_of<Word>(tensor);
}

/// Rows of a tensor that passed check_broadcast, as if it had the batch shape of `like`; a last
/// axis of 1 has step 0.
template <class Word>
ResidueRows<Word> broadcast_rows(const Tensor& tensor, const Tensor& like) {
  ResidueRows<Word> own = rows_of<Word>(tensor), target = rows_of<Word>(like);
  const size_t axes = own.batch_sizes.size(), missing = target.batch_sizes.size() - axes;
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
