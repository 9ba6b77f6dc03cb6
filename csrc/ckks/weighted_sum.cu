// Sums of products of ciphertexts and plaintexts, reduced once for as many products as a wide word
// holds.
#include "ckks/cuda_kernels.h"
#include "common/grid.h"

namespace fhelium {
namespace {

constexpr u32 kThreads = 128, kEach = 4;

/// So many products a launch: they fit a wide word.
template <class Word>
constexpr int kTerms = kWordBits<Word> == 64 ? 8 : 4;
static_assert(kTerms<u64> <= kMaxProducts<u64> && kTerms<u32> <= kMaxProducts<u32>);

template <class Word>
struct Terms {
  DeviceRows ciphertexts[kTerms<Word>], plaintexts[kTerms<Word>];
  int count;
};

/// Plaintexts repeat over components. Where not the first launch, `out` holds the sum so far.
template <class Word>
__global__ void __launch_bounds__(kThreads) sum_kernel(DeviceRows out, const Terms<Word> terms,
                                                       bool is_first, DeviceParameters parameters) {
  constexpr int kBits = kWordBits<Word>;
  const i64 first = (i64)blockIdx.x * kThreads * kEach + threadIdx.x;
  for (i64 limb = blockIdx.y; limb < out.limbs; limb += gridDim.y) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb);
    for (i64 batch = blockIdx.z; batch < out.batches; batch += gridDim.z) {
      WideOf<Word> sum[kEach] = {};
#pragma unroll
      for (int i = 0; i < kTerms<Word>; ++i) {
        if (i >= terms.count) continue;
        const DeviceRows &c = terms.ciphertexts[i], &p = terms.plaintexts[i];
        const Word* x = row_at<const Word>(c, batch, limb);
        const Word* y = row_at<const Word>(p, batch, limb);
#pragma unroll
        for (u32 j = 0; j < kEach; ++j) {
          const i64 k = first + j * kThreads;
          if (k < out.degree) sum[j] += (WideOf<Word>)x[k * c.step] * y[k * p.step];
        }
      }
      Word* to = row_at<Word>(out, batch, limb);
#pragma unroll
      for (u32 j = 0; j < kEach; ++j) {
        const i64 k = first + j * kThreads;
        if (k >= out.degree) continue;
        const Word part = montgomery_reduce_wide<kBits>(sum[j] << (kBits - m.bits), m);
        to[k * out.step] = is_first ? part : add_modular(to[k * out.step], part, m.q);
      }
    }
  }
}

template <class Word>
int sum(const DeviceRows& out, const DeviceRows* ciphertexts, const DeviceRows* plaintexts,
        int64_t count, const DeviceParameters& parameters, void* stream) {
  int status = 0;
  for (int64_t first = 0; first < count && status == 0; first += kTerms<Word>) {
    Terms<Word> terms = {};
    for (; terms.count < kTerms<Word> && first + terms.count < count; ++terms.count) {
      terms.ciphertexts[terms.count] = ciphertexts[first + terms.count];
      terms.plaintexts[terms.count] = plaintexts[first + terms.count];
    }
    status = launch(sum_kernel<Word>, grid_over(out, kThreads * kEach), dim3(kThreads), 0, stream,
                    out, terms, first == 0, parameters);
  }
  return status;
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_sum_plaintext_products(int word_bits, const DeviceRows& out,
                                        const DeviceRows* ciphertexts, const DeviceRows* plaintexts,
                                        int64_t count, const DeviceParameters& parameters,
                                        void* stream) {
  if (has_no_rows(out)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return sum<decltype(word)>(out, ciphertexts, plaintexts, count, parameters, stream);
  });
}
