// A key switch in eight launches at most, the arithmetic of ckks/key_switch.h:
//   raise    the switched polynomial to coefficients (2 passes), its digits to all primes and to
//            the NTT domain (2 passes);
//   finish   the sums with the key to coefficients where ModDown needs them (2 passes), the
//            remainder back to the NTT domain and divided (2 passes).
// Hoisted rotations raise once and finish for each key.
#include "ckks/cuda_kernels.h"
#include "ckks/product.cuh"
#include "ckks/switch_device.cuh"

namespace fhelium {
namespace {

constexpr u32 kThreads = 256;

template <class Word>
__global__ void __launch_bounds__(kThreads)
    digits_kernel(DigitStore<Word> store, DeviceRows input) {
  const u32 k = blockIdx.x * kThreads + threadIdx.x;
  if (k >= input.degree) return;
  for (u32 item = blockIdx.z; item < input.batches; item += gridDim.z) {
    const Word x = row_at<const Word>(input, item, blockIdx.y)[k * input.step];
    store.row({blockIdx.y, blockIdx.y, item})(k, x);
  }
}

/// ModDown of sums that are coefficients: (sum - remainder) / P, and what is kept.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    divide_kernel(RemainderLoad<Word> load, DeviceRows out) {
  const u32 k = blockIdx.x * kThreads + threadIdx.x, limb = blockIdx.y;
  if (k >= out.degree) return;
  const SwitchTables<Word>& t = load.remainder.t;
  const Modulus<Word> m = t.moduli[limb];
  for (u32 item = blockIdx.z; item < out.batches; item += gridDim.z) {
    const Word rest = load.row({limb, limb, item})(k);
    const Word sum = load.remainder.sums.at(item, (u32)t.specials + limb)[k];
    row_at<Word>(out, item, limb)[k * out.step] =
        multiply_shifted(subtract_modular(sum, rest, m.q), t.special_inverse[limb], m);
  }
}

/// The call's tables and the parts of its workspace.
template <class Word>
struct Switch {
  SwitchTables<Word> t;
  NttRows<Word> rows;  // of all limbs
  DenseRows<Word> digits, raised, sums;
  i64 words;  // of the workspace
  bool from_ntt, to_ntt, rescale;

  explicit Switch(const KeySwitchCall& call)
      : from_ntt(call.from_ntt != 0), to_ntt(call.to_ntt != 0), rescale(call.rescale != 0) {
    t.limbs = call.limbs;
    t.specials = call.specials;
    t.digits = call.digits;
    lay_out(t, const_cast<u64*>(call.tables));
    const auto limbs = (u32)t.limbs, q_limbs = (u32)t.q_limbs(), batches = (u32)call.batches;
    rows = ntt_rows<Word>(call.twiddles, call.twiddle_stride, call.degree, limbs, 0);
    Word* next = static_cast<Word*>(call.workspace);
    const auto take = [&](u32 items, u32 count) {
      const DenseRows<Word> part = {next, items, count, rows.log_degree};
      next += (i64)items * count << rows.log_degree;
      return part;
    };
    digits = take(batches, q_limbs);
    raised = take((u32)t.digits * batches, limbs);
    sums = take(2 * batches, (u32)t.specials + (to_ntt ? (rescale ? 1u : 0u) : q_limbs));
    words = next - static_cast<Word*>(call.workspace);
  }

  /// So many limbs from one on, of each item.
  NttRows<Word> limbs_from(u32 first, u32 count, u32 items) const {
    NttRows<Word> some = rows;
    some.first_limb = first;
    some.rows = count;
    some.items = items;
    return some;
  }

  dim3 grid(u32 limbs, u32 items) const {
    return dim3(tiles_of(1 << rows.log_degree, kThreads), limbs, capped(items));
  }

  int multiply(const DeviceRows& out, const DeviceRows& lhs, const DeviceRows& rhs,
               void* stream) const {
    return multiply_components<Word>(out, lhs, rhs, t.moduli, stream);
  }

  int raise(const DeviceRows& switched, void* stream) const {
    const DigitStore<Word> put = {t, digits, 0};
    const u32 q_limbs = digits.rows;
    int status = from_ntt
                     ? inverse_transform(limbs_from(0, q_limbs, digits.items),
                                         PlainLoad<Word>{switched}, digits.as_tensor(), put, stream)
                     : launch(digits_kernel<Word>, grid(q_limbs, digits.items), dim3(kThreads), 0,
                              stream, put, switched);
    if (status != 0) return status;
    const RaisedLoad<Word> load = {t, digits, switched, from_ntt};
    const DeviceRows out = raised.as_tensor();
    return forward_transform(limbs_from(0, rows.limbs, raised.items), load, out,
                             RaisedStore<Word>{load, out}, stream);
  }

  int finish(const DeviceRows& out, const DeviceRows& switched, const DeviceRows& key,
             const KeptRows& kept, u32 galois_element, void* stream) const {
    const u32 q_limbs = digits.rows, batches = digits.items;
    const u32 degree = 1u << rows.log_degree, dropped = rescale ? 1 : 0;
    const InnerProduct<Word> product = {t,    raised,  switched,       key,
                                        kept, batches, galois_element, from_ntt};
    // Row r of the sums: the special primes, and behind them q_0 or all of Q.
    int status = inverse_transform(limbs_from(q_limbs, sums.rows, sums.items),
                                   InnerProductLoad<Word>{product}, sums.as_tensor(),
                                   DigitStore<Word>{t, sums, q_limbs}, stream);
    if (status != 0) return status;
    const u32 inverse = (u32)inverse_modulo_word(galois_element) & (2 * degree - 1);
    const RemainderLoad<Word> load = {{t, sums, rescale}, kept, batches, inverse, !from_ntt};
    if (!to_ntt)
      return launch(divide_kernel<Word>, grid(q_limbs, sums.items), dim3(kThreads), 0, stream, load,
                    out);
    const DividedStore<Word> put = {product, out, rescale ? t.rescaled_inverse : t.special_inverse};
    return forward_transform(limbs_from(dropped, q_limbs - dropped, sums.items), load, out, put,
                             stream);
  }
};

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int64_t fhelium_cuda_key_switch_words(int word_bits, const KeySwitchCall& call) {
  return for_word_bits(word_bits, [&](auto word) { return Switch<decltype(word)>(call).words; });
}

int fhelium_cuda_key_switch_product(int word_bits, const KeySwitchCall& call, const DeviceRows& out,
                                    const DeviceRows& lhs, const DeviceRows& rhs, void* stream) {
  if (call.batches == 0) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    return Switch<decltype(word)>(call).multiply(out, lhs, rhs, stream);
  });
}

int fhelium_cuda_key_switch_raise(int word_bits, const KeySwitchCall& call,
                                  const DeviceRows& switched, void* stream) {
  if (call.batches == 0) return 0;
  return for_word_bits(
      word_bits, [&](auto word) { return Switch<decltype(word)>(call).raise(switched, stream); });
}

int fhelium_cuda_key_switch_finish(int word_bits, const KeySwitchCall& call, const DeviceRows& out,
                                   const DeviceRows& switched, const DeviceRows& key,
                                   const DeviceRows& kept0, const DeviceRows* kept1,
                                   int64_t galois_element, void* stream) {
  if (call.batches == 0) return 0;
  const KeptRows kept = {{kept0, kept1 == nullptr ? DeviceRows{} : *kept1}};
  return for_word_bits(word_bits, [&](auto word) {
    return Switch<decltype(word)>(call).finish(out, switched, key, kept, (u32)galois_element,
                                               stream);
  });
}
