// Operations with a key switch on CUDA tensors, each one call of a few launches.
#include "ckks/cuda_kernels.h"
#include "ckks/switch_tables.h"
#include "common/cuda_call.h"
#include "common/number_theory.h"
#include "ntt/cuda_table.h"

namespace fhelium {
namespace {

constexpr auto kComponents = "A ciphertext is [component, *batch, limb, N]";

/// The domains of a call, and whether it drops a prime.
struct Flags {
  bool from_ntt, to_ntt, rescale;
};

/// The number of digits of a table of so many words: with the limbs it decides the size, so the
/// table's header need not be fetched from the device.
template <class Word>
int64_t digits_of_table(int64_t limbs, int64_t specials, int64_t words) {
  SwitchTables<Word> t;
  t.limbs = limbs;
  t.specials = specials;
  for (t.digits = 1; t.digits <= t.q_limbs(); ++t.digits)
    if (lay_out<Word>(t, nullptr) == words) return t.digits;
  return 0;
}

/// One call: its operands' shapes, checked, and its workspace.
template <class Word>
class SwitchCall {
 public:
  SwitchCall(const CudaCall& call, const Tensor& input, int64_t components,
             const Tensor& switch_tables, const Tensor& ntt_tables, const Flags& flags)
      : call_(call), shape_(sizes_of(input)) {
    const int64_t degree = shape_.back(), q_limbs = shape_[shape_.size() - 2];
    if (shape_[0] != components)
      refuse(call,
             "the input has " + std::to_string(shape_[0]) + " components, needed are " +
                 std::to_string(components),
             "Component 0 is the first axis", "Pass a ciphertext of that many components");
    if (degree < 16 || !is_power_of_two(degree))
      refuse(call, "the input's last axis is " + std::to_string(degree),
             "It is the ring degree, a power of two from 16 on", "Check the axis order");
    if (flags.rescale && q_limbs < 2)
      refuse(call, "the input has 1 limb, needed are at least 2",
             "Row 0 is dropped and at least one limb remains", "The modulus chain is exhausted");
    check_tables(input, switch_tables, ntt_tables, q_limbs, degree);
    switch_.from_ntt = flags.from_ntt;
    switch_.to_ntt = flags.to_ntt;
    switch_.rescale = flags.rescale;
    switch_.batches = 1;
    for (size_t axis = 1; axis + 2 < shape_.size(); ++axis) switch_.batches *= shape_[axis];
    workspace_ = empty_on(input, {fhelium_cuda_key_switch_words(kWordBits<Word>, &switch_)});
    switch_.workspace = workspace_.mutable_data_ptr();
  }

  /// Component `c` of three, the product of two ciphertexts.
  Tensor multiply(const Tensor& lhs, const Tensor& rhs) const {
    Sizes shape = shape_;
    shape[0] = 3;
    const Tensor out = empty_on(lhs, shape);
    const DeviceRows o = rows(out), a = rows(lhs), b = rows(rhs);
    call_.check_launch(
        fhelium_cuda_key_switch_product(kWordBits<Word>, &switch_, &o, &a, &b, call_.stream()));
    return out;
  }

  void raise(const Tensor& switched) const {
    const DeviceRows in = rows(switched);
    call_.check_launch(
        fhelium_cuda_key_switch_raise(kWordBits<Word>, &switch_, &in, call_.stream()));
  }

  /// The result under a key; `kept` is one component or two.
  Tensor finish(const Tensor& switched, const Tensor& key, const std::vector<Tensor>& kept,
                int64_t galois_element) const {
    Sizes shape = shape_;
    shape[0] = 2;
    if (switch_.rescale) --shape[shape.size() - 2];
    const Tensor out = empty_on(switched, shape);
    const DeviceRows o = rows(out), in = rows(switched), k = key_rows(key), kept0 = rows(kept[0]),
                     kept1 = rows(kept.back());
    call_.check_launch(fhelium_cuda_key_switch_finish(kWordBits<Word>, &switch_, &o, &in, &k,
                                                      &kept0, kept.size() < 2 ? nullptr : &kept1,
                                                      galois_element, call_.stream()));
    return out;
  }

 private:
  void check_tables(const Tensor& input, const Tensor& switch_tables, const Tensor& ntt_tables,
                    int64_t q_limbs, int64_t degree) {
    check_axes(call_, "switch_tables", switch_tables, 1, "It is [words]");
    const int64_t limbs = ntt_tables.dim() == 2 ? ntt_tables.size(0) : 0;
    check_shape(call_, "ntt_tables", ntt_tables, input.scalar_type(),
                {limbs, 2 * row_pairs(degree)},
                "Row j is the table of limb j, as ntt_tables makes it of CUDA tensors");
    const int64_t specials = limbs - q_limbs, words = switch_tables.size(0);
    const bool plain = switch_tables.dim() == 1 && switch_tables.is_contiguous() &&
                       ntt_tables.stride(1) == 1 && ntt_tables.stride(0) % 2 == 0;
    if (!plain || specials < 1 || specials > kMaxSourcePrimes ||
        digits_of_table<Word>(limbs, specials, words) == 0)
      refuse(call_,
             "switch_tables of shape " + to_string(sizes_of(switch_tables)) +
                 " and ntt_tables of shape " + to_string(sizes_of(ntt_tables)) +
                 " are not those of " + std::to_string(q_limbs) + " limbs",
             "Both are made for the residues' type, a basis QP and a depth",
             "Make them with key_switch_tables and ntt_tables from the same parameters");
    switch_.tables = reinterpret_cast<const u64*>(switch_tables.const_data_ptr());
    switch_.limbs = limbs;
    switch_.specials = specials;
    switch_.digits = digits_of_table<Word>(limbs, specials, words);
    switch_.twiddles = ntt_tables.const_data_ptr();
    switch_.twiddle_stride = ntt_tables.stride(0);
    switch_.degree = degree;
  }

  DeviceRows rows(const Tensor& tensor) const { return device_rows(call_, rows_of<Word>(tensor)); }

  /// The last rows and digits of a key over the full chain, [digit, 2, limb + K, N].
  DeviceRows key_rows(const Tensor& key) const {
    check_residues(call_, "key", key, 4, "A switching key is [digit, 2, limb + K, N]");
    const int64_t digits = switch_.digits, limbs = switch_.limbs;
    if (key.dim() != 4 || key.scalar_type() != kTypeOf<Word> || key.size(0) < digits ||
        key.size(1) != 2 || key.size(2) < limbs || key.size(3) != switch_.degree)
      refuse(call_,
             "the key has shape " + to_string(sizes_of(key)) + ", this depth needs at least " +
                 to_string({digits, 2, limbs, switch_.degree}) + " of the input's type",
             "A key covers the full chain; deeper ciphertexts use its last digits and limbs",
             "Make the key with the ciphertext's parameters");
    ResidueRows<Word> in_use = rows_of<Word>(key);
    in_use.data += (key.size(0) - digits) * key.stride(0) + (key.size(2) - limbs) * key.stride(2);
    in_use.batch_sizes[0] = digits;
    in_use.batches = 2 * digits;
    in_use.limbs = limbs;
    return device_rows(call_, in_use);
  }

  const CudaCall& call_;
  Sizes shape_;
  KeySwitchCall switch_ = {};
  Tensor workspace_;
};

/// Made once for each depth, so it may wait for the device.
Tensor switch_tables_cuda(const Tensor digit_bounds, int64_t specials, const Tensor rns_params,
                          ScalarType dtype) {
  const CudaCall call("key_switch_tables", "rns_params", rns_params);
  return on_device_of(rns_params,
                      key_switch_tables(on_cpu(digit_bounds), specials, on_cpu(rns_params), dtype));
}

void check_galois_element(const CudaCall& call, int64_t element, int64_t degree) {
  if (element < 1 || element >= 2 * degree || element % 2 == 0)
    refuse(
        call,
        "galois_element is " + std::to_string(element) + " with 2N = " + std::to_string(2 * degree),
        "It is odd and lies in [1, 2N)", "Reduce it modulo 2N");
}

Tensor relinearize(const Tensor input, const Tensor key, const Tensor switch_tables,
                   const Tensor ntt_tables, bool from_ntt, bool to_ntt) {
  const CudaCall call("relinearize", "input", input);
  check_residues(call, "input", input, 3, kComponents);
  return for_word_of(input, [&](auto word) {
    const SwitchCall<decltype(word)> switching(call, input, 3, switch_tables, ntt_tables,
                                               {from_ntt, to_ntt, false});
    const Tensor switched = select_first(input, 2);
    switching.raise(switched);
    return switching.finish(switched, key, {select_first(input, 0), select_first(input, 1)}, 1);
  });
}

std::vector<Tensor> hoisted(const CudaCall& call, const Tensor& input,
                            const std::vector<int64_t>& elements, const std::vector<Tensor>& keys,
                            const Tensor& switch_tables, const Tensor& ntt_tables, bool from_ntt,
                            bool to_ntt) {
  check_residues(call, "input", input, 3, kComponents);
  return for_word_of(input, [&](auto word) {
    const SwitchCall<decltype(word)> switching(call, input, 2, switch_tables, ntt_tables,
                                               {from_ntt, to_ntt, false});
    for (int64_t element : elements)
      check_galois_element(call, element, input.size(input.dim() - 1));
    const Tensor kept = select_first(input, 0), switched = select_first(input, 1);
    switching.raise(switched);
    std::vector<Tensor> outs;
    for (size_t r = 0; r < keys.size(); ++r)
      outs.push_back(switching.finish(switched, keys[r], {kept}, elements[r]));
    return outs;
  });
}

Tensor switch_galois(const Tensor input, int64_t galois_element, const Tensor key,
                     const Tensor switch_tables, const Tensor ntt_tables, bool from_ntt,
                     bool to_ntt) {
  const CudaCall call("switch_galois", "input", input);
  return hoisted(call, input, {galois_element}, {key}, switch_tables, ntt_tables, from_ntt,
                 to_ntt)[0];
}

std::vector<Tensor> switch_hoisted(const Tensor input, const std::vector<int64_t> galois_elements,
                                   std::vector<Tensor> keys, const Tensor switch_tables,
                                   const Tensor ntt_tables, bool from_ntt, bool to_ntt) {
  const CudaCall call("switch_hoisted", "input", input);
  if (keys.size() != galois_elements.size() || keys.empty())
    refuse(call,
           "there are " + std::to_string(keys.size()) + " keys and " +
               std::to_string(galois_elements.size()) + " Galois elements",
           "Each element has its key", "Pass as many of one as of the other, at least one");
  return hoisted(call, input, galois_elements, keys, switch_tables, ntt_tables, from_ntt, to_ntt);
}

Tensor multiply_relinearize_rescale(const Tensor lhs, const Tensor rhs, const Tensor key,
                                    const Tensor switch_tables, const Tensor ntt_tables) {
  const CudaCall call("multiply_relinearize_rescale", "lhs", lhs);
  check_residues(call, "lhs", lhs, 3, kComponents);
  check_shape(call, "rhs", rhs, lhs.scalar_type(), sizes_of(lhs), "Both operands have one shape");
  return for_word_of(lhs, [&](auto word) {
    const SwitchCall<decltype(word)> switching(call, lhs, 2, switch_tables, ntt_tables,
                                               {true, true, true});
    const Tensor product = switching.multiply(lhs, rhs), switched = select_first(product, 2);
    switching.raise(switched);
    return switching.finish(switched, key, {select_first(product, 0), select_first(product, 1)}, 1);
  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ckks_ops, CUDA, m) {
  m.impl("key_switch_tables", FHELIUM_BOX(&fhelium::switch_tables_cuda));
  m.impl("relinearize", FHELIUM_BOX(&fhelium::relinearize));
  m.impl("switch_galois", FHELIUM_BOX(&fhelium::switch_galois));
  m.impl("switch_hoisted", FHELIUM_BOX(&fhelium::switch_hoisted));
  m.impl("multiply_relinearize_rescale", FHELIUM_BOX(&fhelium::multiply_relinearize_rescale));
}
