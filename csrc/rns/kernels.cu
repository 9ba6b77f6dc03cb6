// Coefficient-wise operators.
#include "common/map_rows.h"
#include "rns/cuda_kernels.h"

namespace fhelium {
namespace {

template <class Word>
struct Add {
  Word q;
  __device__ explicit Add(const Modulus<Word>& m) : q(m.q) {}
  __device__ Word operator()(Word a, Word b) const { return add_modular(a, b, q); }
};

template <class Word>
struct Subtract {
  Word q;
  __device__ explicit Subtract(const Modulus<Word>& m) : q(m.q) {}
  __device__ Word operator()(Word a, Word b) const { return subtract_modular(a, b, q); }
};

template <class Word>
struct Multiply {
  Modulus<Word> m;
  __device__ explicit Multiply(const Modulus<Word>& m) : m(m) {}
  __device__ Word operator()(Word a, Word b) const { return multiply_shifted(a, b, m); }
};

template <class Word>
struct Negate {
  Word q;
  __device__ explicit Negate(const Modulus<Word>& m) : q(m.q) {}
  __device__ Word operator()(Word a) const { return negate_modular(a, q); }
};

template <class Word>
struct ToMontgomery {
  Modulus<Word> m;
  __device__ explicit ToMontgomery(const Modulus<Word>& m) : m(m) {}
  __device__ Word operator()(Word a) const { return multiply_shifted(a, m.montgomery_square, m); }
};

template <class Word>
struct FromMontgomery {
  Modulus<Word> m;
  __device__ explicit FromMontgomery(const Modulus<Word>& m) : m(m) {}
  __device__ Word operator()(Word a) const { return multiply_shifted<Word>(a, 1, m); }
};

template <class Word>
struct ReduceInteger {
  Modulus<Word> m;
  __device__ explicit ReduceInteger(const Modulus<Word>& m) : m(m) {}
  __device__ Word operator()(i64 x) const { return reduce_signed(x, m); }
};

/// Lazy residues lie in [0, 2q): their sums and differences are those of a modulus of 2q. The host
/// does not see q here, so these are exact for every q, and a word has no room for 4q at the
/// largest: sums are compared before they are made, and a product reduces one factor first.
template <class Word>
__device__ Modulus<Word> doubled(Modulus<Word> m) {
  m.q *= 2;
  return m;
}

template <class Word>
struct AddLazy {
  Word limit;
  __device__ explicit AddLazy(const Modulus<Word>& m) : limit(2 * m.q) {}
  __device__ Word operator()(Word a, Word b) const {
    const Word room = limit - b;
    return a < room ? a + b : a - room;
  }
};

template <class Word>
struct MultiplyLazy : Multiply<Word> {
  using Multiply<Word>::Multiply;
  __device__ Word operator()(Word a, Word b) const {
    return Multiply<Word>::operator()(a, reduce_once(b, this->m.q));
  }
};

template <class Word>
struct SubtractLazy : Subtract<Word> {
  __device__ explicit SubtractLazy(const Modulus<Word>& m) : Subtract<Word>(doubled(m)) {}
};

template <class Word>
struct NegateLazy : Negate<Word> {
  __device__ explicit NegateLazy(const Modulus<Word>& m) : Negate<Word>(doubled(m)) {}
};

template <class Word>
struct ReduceLazy {
  Word q;
  __device__ explicit ReduceLazy(const Modulus<Word>& m) : q(m.q) {}
  __device__ Word operator()(Word a) const { return reduce_once(a, q); }
};

/// Launch a functor whose sources hold residues.
template <template <class> class Function, class... Sources>
int map_residues(int word_bits, const DeviceRows& out, const DeviceParameters& parameters,
                 void* stream, const Sources&... sources) {
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return map_rows<Word, Function<Word>, Word>(out, parameters, stream, sources...);
  });
}

constexpr unsigned kCountThreads = 256;
constexpr i64 kCountTile = 16 * kCountThreads;

template <class Word>
__global__ void __launch_bounds__(kCountThreads)
    count_kernel(unsigned long long* counts, const __grid_constant__ DeviceRows input,
                 const __grid_constant__ DeviceParameters parameters) {
  const i64 begin = (i64)blockIdx.x * kCountTile, past = begin + kCountTile;
  const i64 end = past < input.degree ? past : input.degree;
  for (i64 limb = blockIdx.y; limb < input.limbs; limb += gridDim.y) {
    const Word q = prime_at<Word>(parameters, limb);
    unsigned long long count = 0;
    for (i64 batch = blockIdx.z; batch < input.batches; batch += gridDim.z) {
      const Word* row = row_at<Word>(input, batch, limb);
      for (i64 k = begin + threadIdx.x; k < end; k += kCountThreads)
        count += row[k * input.step] >= q;
    }
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
      count += __shfl_xor_sync(~0u, count, distance);
    if (threadIdx.x % warpSize == 0 && count != 0) atomicAdd(counts + limb, count);
  }
}

}  // namespace
}  // namespace fhelium

using namespace fhelium;

int fhelium_cuda_add_standard(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                              const DeviceRows& rhs, const DeviceParameters& parameters,
                              void* stream) {
  return map_residues<Add>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_subtract_standard(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                                   const DeviceRows& rhs, const DeviceParameters& parameters,
                                   void* stream) {
  return map_residues<Subtract>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_multiply_montgomery(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                                     const DeviceRows& rhs, const DeviceParameters& parameters,
                                     void* stream) {
  return map_residues<Multiply>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_negate_standard(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                 const DeviceParameters& parameters, void* stream) {
  return map_residues<Negate>(word_bits, out, parameters, stream, input);
}

int fhelium_cuda_to_montgomery(int word_bits, const DeviceRows& out, const DeviceRows& input,
                               const DeviceParameters& parameters, void* stream) {
  return map_residues<ToMontgomery>(word_bits, out, parameters, stream, input);
}

int fhelium_cuda_from_montgomery(int word_bits, const DeviceRows& out, const DeviceRows& input,
                                 const DeviceParameters& parameters, void* stream) {
  return map_residues<FromMontgomery>(word_bits, out, parameters, stream, input);
}

int fhelium_cuda_add_lazy(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                          const DeviceRows& rhs, const DeviceParameters& parameters, void* stream) {
  return map_residues<AddLazy>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_subtract_lazy(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                               const DeviceRows& rhs, const DeviceParameters& parameters,
                               void* stream) {
  return map_residues<SubtractLazy>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_multiply_lazy(int word_bits, const DeviceRows& out, const DeviceRows& lhs,
                               const DeviceRows& rhs, const DeviceParameters& parameters,
                               void* stream) {
  return map_residues<MultiplyLazy>(word_bits, out, parameters, stream, lhs, rhs);
}

int fhelium_cuda_negate_lazy(int word_bits, const DeviceRows& out, const DeviceRows& input,
                             const DeviceParameters& parameters, void* stream) {
  return map_residues<NegateLazy>(word_bits, out, parameters, stream, input);
}

int fhelium_cuda_reduce_lazy(int word_bits, const DeviceRows& out, const DeviceRows& input,
                             const DeviceParameters& parameters, void* stream) {
  return map_residues<ReduceLazy>(word_bits, out, parameters, stream, input);
}

int fhelium_cuda_reduce_integers(int word_bits, const DeviceRows& out, const DeviceRows& integers,
                                 const DeviceParameters& parameters, void* stream) {
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return map_rows<Word, ReduceInteger<Word>, i64>(out, parameters, stream, integers);
  });
}

int fhelium_cuda_count_out_of_range(int word_bits, int64_t* counts, const DeviceRows& input,
                                    const DeviceParameters& parameters, void* stream) {
  if (has_no_rows(input)) return 0;
  return for_word_bits(word_bits, [&](auto word) {
    using Word = decltype(word);
    return launch(count_kernel<Word>, grid_over(input, kCountTile), dim3(kCountThreads), 0, stream,
                  reinterpret_cast<unsigned long long*>(counts), input, parameters);
  });
}
