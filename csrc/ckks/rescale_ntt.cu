// Rescaling of NTT values, of a ciphertext or of its product with a plaintext: the dropped limb to
// coefficients, its centred remainder to the other limbs and their NTT domain, and the division, in
// four launches. What ckks/rescale.h says of the CPU's holds here.
#include "ckks/cuda_kernels.h"
#include "ckks/rescale.cuh"
#include "ntt/launch.cuh"

namespace fhelium {
namespace {

/// The values that are rescaled; a plaintext without data is none.
template <class Word>
struct Values {
  DeviceRows ciphertext, plaintext;
  DeviceParameters parameters;

  __device__ __forceinline__ auto row(u32 item, u32 limb) const {
    const bool multiplies = plaintext.data != nullptr;
    return [=, c = row_at<const Word>(ciphertext, item, limb), c_step = ciphertext.step,
            p = multiplies ? row_at<const Word>(plaintext, item, limb) : nullptr,
            p_step = plaintext.step, m = modulus_at<Word>(parameters, limb)](u32 k) {
      const Word x = c[k * c_step];
      return multiplies ? multiply_shifted(x, p[k * p_step], m) : x;
    };
  }
};

template <class Word>
struct ValuesLoad {
  static constexpr int kAtOnce = 0;
  Values<Word> values;
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const { return values.row(at.item, at.limb); }
};

template <class Word>
struct RemainderLoad {
  static constexpr int kAtOnce = 0;
  DeviceRows dropped;  // [item, 1, N]
  DeviceParameters parameters;
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [x = row_at<const Word>(dropped, at.item, 0), q0 = prime_at<Word>(parameters, 0),
            m = modulus_at<Word>(parameters, at.limb)](u32 k) {
      return rescale_remainder<true>(x[k], q0, m);
    };
  }
};

template <class Word>
struct DividedStore {
  static constexpr int kAtOnce = 0;
  Values<Word> values;
  DeviceRows out;
  const Word* inverse;  // of q_0, by row of out
  __device__ bool skips(NttRow) const { return false; }
  __device__ auto row(NttRow at) const {
    return [value = values.row(at.item, at.limb), to = row_at<Word>(out, at.item, at.row),
            step = out.step, factor = inverse[at.row],
            m = modulus_at<Word>(values.parameters, at.limb)](u32 k, Word x) {
      to[k * step] = multiply_shifted(subtract_modular(value(k), x, m.q), factor, m);
    };
  }
};

template <class Word>
int rescale(const DeviceRows& out, const Values<Word>& values, const Word* inverse,
            NttRows<Word> rows, void* workspace, void* stream) {
  const i64 degree = out.degree;
  const DeviceRows dropped = {workspace, out.batches,        1, degree, degree, 1,
                              {degree},  {(u32)out.batches}, 1};
  rows.rows = 1;
  const int status =
      inverse_transform(rows, ValuesLoad<Word>{values}, dropped, PlainStore<Word>{dropped}, stream);
  if (status != 0) return status;
  rows.first_limb = 1;
  rows.rows = (u32)out.limbs;
  return forward_transform(rows, RemainderLoad<Word>{dropped, values.parameters}, out,
                           DividedStore<Word>{values, out, inverse}, stream);
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_rescale_ntt(int word_bits, const DeviceRows& out, const DeviceRows& ciphertext,
                             const DeviceRows* plaintext, const void* inverse, const void* twiddles,
                             int64_t twiddle_stride, const DeviceParameters& parameters,
                             void* workspace, void* stream) {
  if (out.batches == 0) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    const Values<Word> values = {ciphertext, plaintext == nullptr ? DeviceRows{} : *plaintext,
                                 parameters};
    const auto rows =
        ntt_rows<Word>(twiddles, twiddle_stride, out.degree, ciphertext.limbs, out.batches);
    return rescale(out, values, static_cast<const Word*>(inverse), rows, workspace, stream);
  });
}
