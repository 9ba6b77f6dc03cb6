// Operations with a key switch on CUDA tensors, each one call of a few launches.
#include "ckks/checks.h"
#include "ckks/cuda_kernels.h"
#include "ckks/switch_tables.h"
#include "ntt/cuda_checks.h"

namespace fhelium {
namespace {

constexpr auto kComponents = "A ciphertext is [component, *batch, limb, N]";

/// The domains of a call, and whether it drops a prime.
struct Flags {
  bool from_ntt, to_ntt, rescale;
};

/// The number of digits of a table of so many words: with the limbs it decides the size, so the
/// table's header need not be fetched from the device. 0: there is no such table.
int64_t digits_of_table(ScalarType dtype, int64_t limbs, int64_t specials, int64_t words) {
  return for_word_of(dtype, [&](auto word) -> int64_t {
    SwitchTables<decltype(word)> t;
    t.limbs = limbs;
    t.specials = specials;
    for (t.digits = 1; t.digits <= t.q_limbs(); ++t.digits)
      if (lay_out(t, nullptr) == words) return t.digits;
    return 0;
  });
}

/// One call: its operands' shapes, checked, and its workspace.
class SwitchCall {
 public:
  SwitchCall(const CudaCall& call, const Tensor& input, int64_t components,
             const Tensor& switch_tables, const Tensor& ntt_tables, const Flags& flags)
      : call_(call), input_(input), shape_(sizes_of(input)) {
    if (shape_[0] != components)
      refuse(call,
             "the input has " + std::to_string(shape_[0]) + " components, needed are " +
                 std::to_string(components),
             "Component 0 is the first axis", "Pass a ciphertext of that many components");
    if (flags.rescale && shape_[shape_.size() - 2] < 2)
      refuse(call, "the input has 1 limb, needed are at least 2",
             "Row 0 is dropped and at least one limb remains", "The modulus chain is exhausted");
    switch_.degree = check_degree(call, input);
    check_tables(switch_tables, ntt_tables);
    switch_.from_ntt = flags.from_ntt;
    switch_.to_ntt = flags.to_ntt;
    switch_.rescale = flags.rescale;
    switch_.batches = 1;
    for (size_t axis = 1; axis + 2 < shape_.size(); ++axis) switch_.batches *= shape_[axis];
    const int bits = static_cast<int>(8 * input.element_size());
    workspace_ = empty_on(input, {fhelium_cuda_key_switch_words(bits, switch_)});
    switch_.workspace = workspace_.mutable_data_ptr();
  }

  /// Component `c` of three, the product of two ciphertexts.
  Tensor multiply(const Tensor& lhs, const Tensor& rhs) const {
    Sizes shape = shape_;
    shape[0] = 3;
    const Tensor out = empty_on(lhs, shape);
    call_.launch(fhelium_cuda_key_switch_product, lhs, switch_, call_.rows(out), call_.rows(lhs),
                 call_.rows(rhs));
    return out;
  }

  void raise(const Tensor& switched) const {
    call_.launch(fhelium_cuda_key_switch_raise, switched, switch_, call_.rows(switched));
  }

  /// The result under a key; `kept` is one component or two.
  Tensor finish(const Tensor& switched, const Tensor& key, const std::vector<Tensor>& kept,
                int64_t galois_element) const {
    Sizes shape = shape_;
    shape[0] = 2;
    if (switch_.rescale) --shape[shape.size() - 2];
    const Tensor out = empty_on(switched, shape);
    const DeviceRows last = call_.rows(kept.back());
    call_.launch(fhelium_cuda_key_switch_finish, switched, switch_, call_.rows(out),
                 call_.rows(switched), key_rows(key), call_.rows(kept[0]),
                 kept.size() < 2 ? nullptr : &last, galois_element);
    return out;
  }

 private:
  void check_tables(const Tensor& switch_tables, const Tensor& ntt_tables) {
    check_axes(call_, "switch_tables", switch_tables, 1, "It is [words]");
    const int64_t limbs = ntt_tables.dim() == 2 ? ntt_tables.size(0) : 0;
    check_twiddle_rows(call_, "ntt_tables", ntt_tables, input_, limbs);
    const int64_t q_limbs = shape_[shape_.size() - 2], specials = limbs - q_limbs;
    const bool plain = switch_tables.dim() == 1 && switch_tables.is_contiguous();
    if (plain && specials >= 1 && specials <= kMaxSourcePrimes)
      switch_.digits =
          digits_of_table(input_.scalar_type(), limbs, specials, switch_tables.size(0));
    if (switch_.digits == 0)
      refuse(call_,
             "switch_tables of shape " + to_string(sizes_of(switch_tables)) +
                 " and ntt_tables of shape " + to_string(sizes_of(ntt_tables)) +
                 " are not those of " + std::to_string(q_limbs) + " limbs",
             "Both are made for the residues' type, a basis QP and a depth",
             "Make them with key_switch_tables and ntt_tables from the same parameters");
    switch_.tables = reinterpret_cast<const u64*>(switch_tables.const_data_ptr());
    switch_.limbs = limbs;
    switch_.specials = specials;
    switch_.twiddles = ntt_tables.const_data_ptr();
    switch_.twiddle_stride = ntt_tables.stride(0);
  }

  /// The last rows and digits of a key over the full chain, [digit, 2, limb + K, N].
  DeviceRows key_rows(const Tensor& key) const {
    check_residues(call_, "key", key, 4, "A switching key is [digit, 2, limb + K, N]");
    const int64_t digits = switch_.digits, limbs = switch_.limbs;
    if (key.dim() != 4 || key.scalar_type() != input_.scalar_type() || key.size(0) < digits ||
        key.size(1) != 2 || key.size(2) < limbs || key.size(3) != switch_.degree)
      refuse(call_,
             "the key has shape " + to_string(sizes_of(key)) + ", this depth needs at least " +
                 to_string({digits, 2, limbs, switch_.degree}) + " of the input's type",
             "A key covers the full chain; deeper ciphertexts use its last digits and limbs",
             "Make the key with the ciphertext's parameters");
    return call_.rows(last_of(last_of(key, 0, digits), 2, limbs));
  }

  const CudaCall& call_;
  const Tensor& input_;
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

Tensor relinearize(const Tensor input, const Tensor key, const Tensor switch_tables,
                   const Tensor ntt_tables, bool from_ntt, bool to_ntt) {
  const CudaCall call("relinearize", "input", input);
  check_residues(call, "input", input, 3, kComponents);
  const SwitchCall switching(call, input, 3, switch_tables, ntt_tables, {from_ntt, to_ntt, false});
  const Tensor switched = select_first(input, 2);
  switching.raise(switched);
  return switching.finish(switched, key, {select_first(input, 0), select_first(input, 1)}, 1);
}

std::vector<Tensor> hoisted(const CudaCall& call, const Tensor& input,
                            const std::vector<int64_t>& elements, const std::vector<Tensor>& keys,
                            const Tensor& switch_tables, const Tensor& ntt_tables, bool from_ntt,
                            bool to_ntt) {
  check_residues(call, "input", input, 3, kComponents);
  const SwitchCall switching(call, input, 2, switch_tables, ntt_tables, {from_ntt, to_ntt, false});
  for (int64_t element : elements) check_automorphism(call, input, element);
  const Tensor kept = select_first(input, 0), switched = select_first(input, 1);
  switching.raise(switched);
  std::vector<Tensor> outs;
  for (size_t r = 0; r < keys.size(); ++r)
    outs.push_back(switching.finish(switched, keys[r], {kept}, elements[r]));
  return outs;
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
  const SwitchCall switching(call, lhs, 2, switch_tables, ntt_tables, {true, true, true});
  const Tensor product = switching.multiply(lhs, rhs), switched = select_first(product, 2);
  switching.raise(switched);
  return switching.finish(switched, key, {select_first(product, 0), select_first(product, 1)}, 1);
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
