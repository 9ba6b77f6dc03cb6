// Coefficient-wise operators on lazy residues, which lie in [0, 2q): sums and differences are those
// of the standard operators for a modulus of 2q, and so are their kernels. Results are exact, the
// same on every path; reduce_lazy goes back to [0, q), and so does a product.
#include "rns/row_operators.h"

namespace fhelium {
namespace {

/// Operands below 2q: a sum of two stays below 4q, and a product below q R.
struct Lazy {
  template <class Word>
  static std::vector<Modulus<Word>> moduli(const char* name, const Tensor& rns_params,
                                           int64_t limbs) {
    const auto moduli = check_parameters<Word>(name, rns_params, limbs);
    for (const Modulus<Word>& m : moduli)
      if (m.q >> (kWordBits<Word> - 2) != 0)
        refuse(name, "a limb has q = " + std::to_string(m.q) + ", at most 2^30 fits int32",
               "Lazy residues need room for 4q", "Use the standard operators, or int64 residues");
    return moduli;
  }
};

struct Doubled : Lazy {
  template <class Word>
  static std::vector<Modulus<Word>> moduli(const char* name, const Tensor& rns_params,
                                           int64_t limbs) {
    auto moduli = Lazy::moduli<Word>(name, rns_params, limbs);
    for (Modulus<Word>& m : moduli) m.q *= 2;
    return moduli;
  }
};

struct AddLazy : Doubled {
  static constexpr auto kName = "add_lazy", kNameInPlace = "add_lazy_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.add;
  }
};
struct SubtractLazy : Doubled {
  static constexpr auto kName = "subtract_lazy", kNameInPlace = "subtract_lazy_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.subtract;
  }
};
struct NegateLazy : Doubled {
  static constexpr auto kName = "negate_lazy", kNameInPlace = "negate_lazy_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static UnaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.negate;
  }
};
struct MultiplyLazy : Lazy {
  static constexpr auto kName = "multiply_montgomery_lazy",
                        kNameInPlace = "multiply_montgomery_lazy_";
  static constexpr double kNanoseconds = 1.5;
  template <class Word>
  static BinaryRow<Word> row(const RnsKernels<Word>& kernels) {
    return kernels.multiply_lazy;
  }
};
struct ReduceLazy : Lazy {
  static constexpr auto kName = "reduce_lazy", kNameInPlace = "reduce_lazy_";
  static constexpr double kNanoseconds = 0.7;
  template <class Word>
  static UnaryRow<Word> row(const RnsKernels<Word>& /*kernels*/) {
    return [](Word* out, i64 out_step, const Word* in, i64 in_step, i64 n, const Modulus<Word>& m) {
      const Word zero = 0;  // x + 0 mod q
      rns_kernels<Word>().add(out, out_step, in, in_step, &zero, 0, n, m);
    };
  }
};

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CPU, m) {
  using namespace fhelium;
  m.impl("add_lazy", FHELIUM_BOX(&binary<AddLazy>));
  m.impl("add_lazy_", FHELIUM_BOX(&binary_in_place<AddLazy>));
  m.impl("subtract_lazy", FHELIUM_BOX(&binary<SubtractLazy>));
  m.impl("subtract_lazy_", FHELIUM_BOX(&binary_in_place<SubtractLazy>));
  m.impl("negate_lazy", FHELIUM_BOX(&unary<NegateLazy>));
  m.impl("negate_lazy_", FHELIUM_BOX(&unary_in_place<NegateLazy>));
  m.impl("multiply_montgomery_lazy", FHELIUM_BOX(&binary<MultiplyLazy>));
  m.impl("multiply_montgomery_lazy_", FHELIUM_BOX(&binary_in_place<MultiplyLazy>));
  m.impl("reduce_lazy", FHELIUM_BOX(&unary<ReduceLazy>));
  m.impl("reduce_lazy_", FHELIUM_BOX(&unary_in_place<ReduceLazy>));
}
