// Samplers on CUDA: the bytes of the CPU's. Keys and nonces stay on the device.
#include "common/cuda_call.h"
#include "random/checks.h"
#include "random/cuda_kernels.h"

namespace fhelium {
namespace {

Tensor dense_bytes(const CudaCall& call, const char* name, const Tensor& tensor, int64_t size) {
  check_bytes(call, name, tensor, size);
  return fhelium::contiguous(tensor);
}

Tensor chacha20_blocks(const Tensor key, const Tensor nonce, int64_t counter, int64_t blocks) {
  const CudaCall call("chacha20_blocks", "key", key);
  const Tensor key_bytes = dense_bytes(call, "key", key, 32);
  const Tensor nonce_bytes = dense_bytes(call, "nonce", nonce, 12);
  check_range(call, "counter", counter, 0, kWordLimit);
  check_range(call, "blocks", blocks, 0, kWordLimit - counter + 1);
  Tensor out = empty_on(key, {64 * blocks}, kUInt8);
  call.launch_untyped(fhelium_cuda_chacha20_blocks, out.mutable_data_ptr(),
                      key_bytes.const_data_ptr(), nonce_bytes.const_data_ptr(), counter, blocks);
  return out;
}

Tensor sample_uniform(const Tensor key, const Tensor prime_ids, int64_t component,
                      int64_t first_index, int64_t count, int64_t degree, const Tensor rns_params,
                      ScalarType dtype) {
  const CudaCall call("sample_uniform", "key", key);
  const Tensor key_bytes = dense_bytes(call, "key", key, 32);
  check_samples(call, count, degree);
  check_range(call, "component", component, 0, 256);
  check_range(call, "first_index", first_index, 0, kWordLimit - count + 1);
  check_residue_type(call, dtype);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const Tensor ids = dense_constants(call, "prime_ids", prime_ids, kInt64, {limbs},
                                     "It holds one integer per limb");
  Tensor out = empty_on(rns_params, {count, limbs, degree}, dtype);
  call.launch(fhelium_cuda_sample_uniform, out, call.rows(out), key_bytes.const_data_ptr(),
              ids.const_data_ptr<int64_t>(), component, first_index,
              call.parameters(rns_params, limbs));
  return out;
}

/// [count, degree] integers of a stream's component; `width` is what a sampler takes besides.
template <class Launcher, class... Width>
Tensor integers(const CudaCall& call, const Launcher& launcher, const Tensor& key,
                int64_t component, int64_t count, int64_t degree, const Width&... width) {
  const Tensor key_bytes = dense_bytes(call, "key", key, 32);
  check_samples(call, count, degree);
  check_range(call, "component", component, 0, 256);
  Tensor out = empty_on(key, {count, degree}, kInt64);
  call.launch_untyped(launcher, out.mutable_data_ptr<int64_t>(), key_bytes.const_data_ptr(),
                      component, count, degree, width...);
  return out;
}

Tensor sample_ternary(const Tensor key, int64_t component, int64_t count, int64_t degree) {
  const CudaCall call("sample_ternary", "key", key);
  return integers(call, fhelium_cuda_sample_ternary, key, component, count, degree);
}

Tensor sample_gaussian(const Tensor key, int64_t component, int64_t count, int64_t degree) {
  const CudaCall call("sample_gaussian", "key", key);
  return integers(call, fhelium_cuda_sample_gaussian, key, component, count, degree);
}

Tensor sample_rounded_gaussian(const Tensor key, double sigma, int64_t count, int64_t degree) {
  const CudaCall call("sample_rounded_gaussian", "key", key);
  const GaussianWidth width = check_width(call, sigma);
  return integers(call, fhelium_cuda_sample_rounded_gaussian, key, 0, count, degree, width.scaled,
                  int64_t{width.shift});
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_random_ops, CUDA, m) {
  m.impl("chacha20_blocks", FHELIUM_BOX(&fhelium::chacha20_blocks));
  m.impl("sample_uniform", FHELIUM_BOX(&fhelium::sample_uniform));
  m.impl("sample_ternary", FHELIUM_BOX(&fhelium::sample_ternary));
  m.impl("sample_gaussian", FHELIUM_BOX(&fhelium::sample_gaussian));
  m.impl("sample_rounded_gaussian", FHELIUM_BOX(&fhelium::sample_rounded_gaussian));
}
