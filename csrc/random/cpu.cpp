#include <algorithm>

#include "common/isa.h"
#include "random/checks.h"
#include "random/streams.h"

namespace fhelium {

const RandomKernels& random_kernels() {
  return table_for<kRandomKernelsPortable, kRandomKernelsAvx2, kRandomKernelsAvx512>(active_isa());
}

namespace {

constexpr int64_t kSegment = 4096;  // coefficients of one task, about 50 us

/// [size] bytes; the messages say shapes, never contents.
std::vector<u32> words_of(const char* operation, const char* name, const Tensor& tensor,
                          int64_t size) {
  check_bytes(operation, name, tensor, size);
  const uint8_t* bytes = tensor.const_data_ptr<uint8_t>();
  const int64_t stride = tensor.stride(0);
  std::vector<u32> words(static_cast<size_t>(size / 4));
  for (int64_t k = 0; k < size; ++k)
    words[static_cast<size_t>(k / 4)] |= static_cast<u32>(bytes[k * stride]) << (8 * (k % 4));
  return words;
}

}  // namespace

StreamKey check_stream_key(const char* operation, const char* name, const Tensor& key) {
  const std::vector<u32> words = words_of(operation, name, key, 32);
  StreamKey result;
  std::copy(words.begin(), words.end(), result.words);
  return result;
}

namespace {

/// Call fill(row, first, n) for the segments of every row. Streams are addressed by position, so
/// the split changes no value.
template <class Fill>
void for_each_segment(int64_t rows, int64_t degree, const Fill& fill) {
  const int64_t segment = std::min(degree, kSegment), segments = degree / segment;
  parallel_for(0, rows * segments, std::max<int64_t>(1, kSegment / segment),
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task)
                   fill(task / segments, (task % segments) * segment, segment);
               });
}

Tensor chacha20_blocks(const Tensor key, const Tensor nonce, int64_t counter, int64_t blocks) {
  constexpr auto kName = "chacha20_blocks";
  const StreamKey stream_key = check_stream_key(kName, "key", key);
  const std::vector<u32> words = words_of(kName, "nonce", nonce, 12);
  check_range(kName, "counter", counter, 0, kWordLimit);
  check_range(kName, "blocks", blocks, 0, kWordLimit - counter + 1);
  Tensor out = empty_on(key, {64 * blocks}, kUInt8);
  // torch's allocations are aligned far beyond a word.
  u32* data = reinterpret_cast<u32*>(out.mutable_data_ptr<uint8_t>());
  parallel_for(0, blocks, kSegment / 8, [&](int64_t begin, int64_t end) {
    random_kernels().blocks(data + 16 * begin, stream_key, words.data(),
                            static_cast<u32>(counter + begin), end - begin);
  });
  return out;
}

Tensor sample_uniform(const Tensor key, const Tensor prime_ids, int64_t component,
                      int64_t first_index, int64_t count, int64_t degree, const Tensor rns_params,
                      ScalarType dtype) {
  constexpr auto kName = "sample_uniform";
  const StreamKey stream_key = check_stream_key(kName, "key", key);
  check_samples(kName, count, degree);
  check_range(kName, "component", component, 0, 256);
  check_range(kName, "first_index", first_index, 0, kWordLimit - count + 1);
  check_residue_type(kName, dtype);
  const int64_t limbs = rns_params.dim() == 2 ? rns_params.size(1) : 0;
  const auto ids =
      check_integers(kName, "prime_ids", prime_ids, limbs, "It holds one integer per limb");
  for (int64_t id : ids) check_range(kName, "a prime id", id, 0, static_cast<int64_t>(kNoPrime));
  return for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto moduli = check_parameters<Word>(kName, rns_params, limbs);
    Tensor out = empty_on(rns_params, {count, limbs, degree}, dtype);
    Word* data = mutable_data_of<Word>(out);
    const UniformRow<Word> uniform = uniform_row<Word>();
    for_each_segment(limbs * count, degree, [&](int64_t row, int64_t first, int64_t n) {
      const int64_t limb = row / count, index = row % count;
      const StreamPosition position = {static_cast<u32>(ids[static_cast<size_t>(limb)]),
                                       static_cast<u32>(first_index + index),
                                       static_cast<u32>(component)};
      uniform(data + (index * limbs + limb) * degree + first, first, n, stream_key, position,
              moduli[static_cast<size_t>(limb)]);
    });
    return out;
  });
}

/// [count, degree] integers that belong to no prime: sample(out, first, n, position).
template <class Sample>
Tensor integers(const char* name, const Tensor& key, int64_t component, int64_t count,
                int64_t degree, const Sample& sample) {
  check_samples(name, count, degree);
  check_range(name, "component", component, 0, 256);
  Tensor out = empty_on(key, {count, degree}, kInt64);
  int64_t* data = out.mutable_data_ptr<int64_t>();
  for_each_segment(count, degree, [&](int64_t row, int64_t first, int64_t n) {
    sample(data + row * degree + first, first, n,
           StreamPosition{kNoPrime, static_cast<u32>(row), static_cast<u32>(component)});
  });
  return out;
}

Tensor sample_ternary(const Tensor key, int64_t component, int64_t count, int64_t degree) {
  const StreamKey stream_key = check_stream_key("sample_ternary", "key", key);
  return integers("sample_ternary", key, component, count, degree,
                  [&](i64* out, i64 first, i64 n, const StreamPosition& position) {
                    random_kernels().ternary(out, first, n, stream_key, position);
                  });
}

Tensor sample_gaussian(const Tensor key, int64_t component, int64_t count, int64_t degree) {
  const StreamKey stream_key = check_stream_key("sample_gaussian", "key", key);
  return integers("sample_gaussian", key, component, count, degree,
                  [&](i64* out, i64 first, i64 n, const StreamPosition& position) {
                    random_kernels().gaussian(out, first, n, stream_key, position);
                  });
}

Tensor sample_rounded_gaussian(const Tensor key, double sigma, int64_t count, int64_t degree) {
  constexpr auto kName = "sample_rounded_gaussian";
  const StreamKey stream_key = check_stream_key(kName, "key", key);
  const GaussianWidth width = check_width(kName, sigma);
  return integers(kName, key, 0, count, degree,
                  [&](i64* out, i64 first, i64 n, const StreamPosition& position) {
                    random_kernels().rounded_gaussian(out, first, n, stream_key, position, width);
                  });
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_random_ops, CPU, m) {
  m.impl("chacha20_blocks", FHELIUM_BOX(&fhelium::chacha20_blocks));
  m.impl("sample_uniform", FHELIUM_BOX(&fhelium::sample_uniform));
  m.impl("sample_ternary", FHELIUM_BOX(&fhelium::sample_ternary));
  m.impl("sample_gaussian", FHELIUM_BOX(&fhelium::sample_gaussian));
  m.impl("sample_rounded_gaussian", FHELIUM_BOX(&fhelium::sample_rounded_gaussian));
}
