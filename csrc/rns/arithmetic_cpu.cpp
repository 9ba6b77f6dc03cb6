// Coefficient-wise operators on standard residues.
#include "rns/row_operators.h"

namespace fhelium {
namespace {

struct Standard {
  template <class Word>
  static std::vector<Modulus<Word>> moduli(const char* name, const Tensor& rns_params,
                                           int64_t limbs) {
    return check_parameters<Word>(name, rns_params, limbs);
  }
};

struct Add : Standard {
  static constexpr auto kName = "add_standard", kNameInPlace = "add_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.add;
  }
  template <class Word>
  static BinaryRow<Word> row_past_caches(const RnsKernels<Word>& kernels) {
    return kernels.past_caches.add;
  }
};
struct Subtract : Standard {
  static constexpr auto kName = "subtract_standard", kNameInPlace = "subtract_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.subtract;
  }
  template <class Word>
  static BinaryRow<Word> row_past_caches(const RnsKernels<Word>& kernels) {
    return kernels.past_caches.subtract;
  }
};
struct Multiply : Standard {
  static constexpr auto kName = "multiply_montgomery", kNameInPlace = "multiply_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.multiply_montgomery;
  }
  template <class Word>
  static BinaryRow<Word> row_past_caches(const RnsKernels<Word>& kernels) {
    return kernels.past_caches.multiply_montgomery;
  }
};
struct Negate : Standard {
  static constexpr auto kName = "negate_standard", kNameInPlace = "negate_standard_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static UnaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.negate;
  }
  template <class Word>
  static UnaryRow<Word> row_past_caches(const RnsKernels<Word>& kernels) {
    return kernels.past_caches.negate;
  }
};
struct ToMontgomery : Standard {
  static constexpr auto kName = "to_montgomery", kNameInPlace = "to_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static UnaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.to_montgomery;
  }
};
struct FromMontgomery : Standard {
  static constexpr auto kName = "from_montgomery", kNameInPlace = "from_montgomery_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static UnaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.from_montgomery;
  }
};

Tensor reduce_integers(const Tensor integers, const Tensor rns_params, ScalarType dtype) {
  constexpr auto kName = "reduce_integers";
  check_axes(kName, "integers", integers, 1, "Integers are [*batch, N]");
  check_axes(kName, "rns_params", rns_params, 2, "Parameters are [row, limb]");
  check_residue_type(kName, dtype);
  Sizes shape = sizes_of(integers);
  shape.insert(shape.end() - 1, rns_params.size(1));
  Tensor out = empty_on(integers, shape, dtype);
  const Tensor with_limb_axis = insert_axis(integers, integers.dim() - 1);
  // An integer word is no residue word, but its rows lie in the same way.
  const auto in = rows_of<i64>(with_limb_axis);
  for_word_of(dtype, [&](auto word) {
    using Word = decltype(word);
    const auto o = rows_of<Word>(out);
    const auto moduli = check_parameters<Word>(kName, rns_params, o.limbs);
    const auto row = rns_kernels<Word>().reduce_integers;
    for_each_row(o.limbs, o.batches, o.degree, 1.5, [&](int64_t limb, int64_t batch) {
      row(o.pointer(batch, limb), o.step, in.pointer(batch, 0), in.step, o.degree,
          moduli[static_cast<size_t>(limb)]);
    });
  });
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  using namespace fhelium;
  m.impl("add_standard", FHELIUM_BOX(&binary<Add>));
  m.impl("add_standard_", FHELIUM_BOX(&binary_in_place<Add>));
  m.impl("subtract_standard", FHELIUM_BOX(&binary<Subtract>));
  m.impl("subtract_standard_", FHELIUM_BOX(&binary_in_place<Subtract>));
  m.impl("multiply_montgomery", FHELIUM_BOX(&binary<Multiply>));
  m.impl("multiply_montgomery_", FHELIUM_BOX(&binary_in_place<Multiply>));
  m.impl("negate_standard", FHELIUM_BOX(&unary<Negate>));
  m.impl("negate_standard_", FHELIUM_BOX(&unary_in_place<Negate>));
  m.impl("to_montgomery", FHELIUM_BOX(&unary<ToMontgomery>));
  m.impl("to_montgomery_", FHELIUM_BOX(&unary_in_place<ToMontgomery>));
  m.impl("from_montgomery", FHELIUM_BOX(&unary<FromMontgomery>));
  m.impl("from_montgomery_", FHELIUM_BOX(&unary_in_place<FromMontgomery>));
  m.impl("reduce_integers", FHELIUM_BOX(&reduce_integers));
}
