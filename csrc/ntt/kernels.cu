// Transforms of residues in a few passes over memory.
#include "ntt/cuda_kernels.h"
#include "ntt/launch.cuh"

namespace fhelium {
namespace {

/// The first pass reads the input; the others work in place on the output.
template <bool kInverse, class Word>
int transform(const NttRows<Word>& rows, const DeviceRows& out, const DeviceRows& input,
              const int64_t* schedule, int64_t passes, void* stream) {
  if (schedule == nullptr) {
    const PlainLoad<Word> load = {input};
    const PlainStore<Word> store = {out};
    return kInverse ? inverse_transform(rows, load, out, store, stream)
                    : forward_transform(rows, load, out, store, stream);
  }
  int status = 0, first = kInverse ? rows.log_degree : 0;
  for (int64_t k = 0; k < passes && status == 0; ++k) {
    const int levels = (int)schedule[kInverse ? passes - 1 - k : k];
    if (kInverse) first -= levels;
    status = launch_pass<kInverse>(rows, first, levels, PlainLoad<Word>{k == 0 ? input : out},
                                   PlainStore<Word>{out}, stream);
    if (!kInverse) first += levels;
  }
  return status;
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_ntt(int word_bits, int inverse, const DeviceRows& out, const DeviceRows& input,
                     const void* twiddles, int64_t twiddle_stride, const int64_t* schedule,
                     int64_t passes, void* stream) {
  if (out.batches == 0 || out.limbs == 0) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    const auto rows = ntt_rows<Word>(twiddles, twiddle_stride, out.degree, out.limbs, out.batches);
    return inverse ? transform<true>(rows, out, input, schedule, passes, stream)
                   : transform<false>(rows, out, input, schedule, passes, stream);
  });
}
