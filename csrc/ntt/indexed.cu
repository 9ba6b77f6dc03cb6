// The validation transform: plain radix-2 butterflies, a launch for each stage.
#include "common/grid.h"
#include "common/number_theory.h"
#include "ntt/cuda_kernels.h"

namespace fhelium {
namespace {

constexpr unsigned kThreads = 256;

/// Where the operands and twiddles of one stage stand: N / 2 of each.
struct Stage {
  const i64 *even, *odd, *schedule;
};

template <class Word>
__global__ void __launch_bounds__(kThreads) copy_kernel(DeviceRows out, DeviceRows input) {
  const i64 k = (i64)blockIdx.x * kThreads + threadIdx.x;
  if (k >= out.degree) return;
  for_rows(out.batches, out.limbs, [&](i64 batch, i64 limb) {
    row_at<Word>(out, batch, limb)[k * out.step] = row_at<Word>(input, batch, limb)[k * input.step];
  });
}

/// The last stage of the inverse divides by N as well.
template <class Word, bool kInverse>
__global__ void __launch_bounds__(kThreads)
    stage_kernel(DeviceRows out, Stage stage, const Word* twiddles, bool is_last,
                 DeviceParameters parameters) {
  const i64 k = (i64)blockIdx.x * kThreads + threadIdx.x, n = out.degree, mask = n - 1;
  if (k >= n / 2) return;
  const i64 even = (stage.even[k] & mask) * out.step, odd = (stage.odd[k] & mask) * out.step;
  for_rows(out.batches, out.limbs, [&](i64 batch, i64 limb) {
    const Modulus<Word> m = modulus_at<Word>(parameters, limb);
    const Word w = twiddles[limb * n + (stage.schedule[k] & mask)];
    Word* row = row_at<Word>(out, batch, limb);
    Word a = row[even], b = row[odd];
    if constexpr (kInverse) {
      const Word difference = multiply_shifted(subtract_modular(a, b, m.q), w, m);
      a = add_modular(a, b, m.q);
      b = difference;
      if (is_last) {
        a = multiply_shifted(a, m.degree_inverse, m);
        b = multiply_shifted(b, m.degree_inverse, m);
      }
      row[even] = a;
      row[odd] = b;
    } else {
      b = multiply_shifted(b, w, m);
      row[even] = add_modular(a, b, m.q);
      row[odd] = subtract_modular(a, b, m.q);
    }
  });
}

template <class Word, bool kInverse>
int transform(const DeviceRows& out, const DeviceRows& input, const Stage& first,
              const Word* twiddles, const DeviceParameters& parameters, void* stream) {
  const i64 half = out.degree / 2;
  int status = 0;
  if (out.data != input.data)
    status =
        launch(copy_kernel<Word>, grid_over(out, kThreads), dim3(kThreads), 0, stream, out, input);
  const int stages = exact_log2(out.degree);
  for (int s = 0; s < stages && status == 0; ++s) {
    const Stage stage = {first.even + s * half, first.odd + s * half, first.schedule + s * half};
    status = launch(stage_kernel<Word, kInverse>, grid_over(out, 2 * kThreads), dim3(kThreads), 0,
                    stream, out, stage, twiddles, s + 1 == stages, parameters);
  }
  return status;
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_ntt_indexed(int word_bits, int inverse, const DeviceRows& out,
                             const DeviceRows& input, const int64_t* even, const int64_t* odd,
                             const int64_t* schedule, const void* twiddles,
                             const DeviceParameters& parameters, void* stream) {
  if (out.batches == 0 || out.limbs == 0) return 0;
  const Stage first = {even, odd, schedule};
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    const auto* factors = static_cast<const Word*>(twiddles);
    return inverse ? transform<Word, true>(out, input, first, factors, parameters, stream)
                   : transform<Word, false>(out, input, first, factors, parameters, stream);
  });
}
