// Types, in all namespaces: residues are int32 or int64, and so, in the type of the call's
// residues, is everything that holds numbers modulo the limbs' primes: moduli, roots, twiddles,
// packed NTT tables, constants of a conversion. Integers (indices, digit borders, prime ids,
// samples) and rns_params are int64. The parameters' MONTGOMERY_BITS row says which residues they
// serve, and every call compares. `dtype` names the type where no argument has it.
#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_rns_ops, m) {
  m.def("rns_parameters(Tensor moduli, int degree) -> Tensor");
  m.def("parameter_row_names() -> str");
  m.def("cpu_isa() -> str");
  m.def("workspace_bytes() -> int");
  m.def("release_workspace() -> int");

  m.def("add_standard(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("add_standard_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("subtract_standard(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("subtract_standard_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("multiply_montgomery(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("multiply_montgomery_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("negate_standard(Tensor input, Tensor rns_params) -> Tensor");
  m.def("negate_standard_(Tensor(a!) input, Tensor rns_params) -> ()");
  m.def("to_montgomery(Tensor input, Tensor rns_params) -> Tensor");
  m.def("to_montgomery_(Tensor(a!) input, Tensor rns_params) -> ()");
  m.def("from_montgomery(Tensor input, Tensor rns_params) -> Tensor");
  m.def("from_montgomery_(Tensor(a!) input, Tensor rns_params) -> ()");
  // Lazy residues lie in [0, 2q).
  m.def("add_lazy(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("add_lazy_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("subtract_lazy(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("subtract_lazy_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("negate_lazy(Tensor input, Tensor rns_params) -> Tensor");
  m.def("negate_lazy_(Tensor(a!) input, Tensor rns_params) -> ()");
  m.def("multiply_montgomery_lazy(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("multiply_montgomery_lazy_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("reduce_lazy(Tensor input, Tensor rns_params) -> Tensor");
  m.def("reduce_lazy_(Tensor(a!) input, Tensor rns_params) -> ()");
  m.def("reduce_integers(Tensor integers, Tensor rns_params, ScalarType dtype=long) -> Tensor");
  m.def("count_out_of_range(Tensor input, Tensor rns_params) -> Tensor");

  m.def(
      "mod_up(Tensor input, Tensor digit_bounds, Tensor digit_scale, Tensor matrix, "
      "Tensor correction, Tensor rns_params) -> Tensor");
  m.def(
      "mod_down(Tensor input, Tensor special_scale, Tensor matrix, Tensor correction, "
      "Tensor special_inverse, Tensor rns_params) -> Tensor");
  // x = v_0 + v_1 d_0 + v_2 d_0 d_1 + ..., and what x is modulo other primes, centred as above.
  m.def("mixed_radix_digits(Tensor input, Tensor inverses, Tensor rns_params) -> Tensor");
  m.def(
      "mixed_radix_extend(Tensor digits, Tensor radices, Tensor digit_params, "
      "Tensor rns_params) -> Tensor");
  m.def(
      "round_to_residues(Tensor values, float scale, Tensor rns_params, "
      "ScalarType dtype=long) -> Tensor");
  m.def("residues_to_real(Tensor input, Tensor rns_params) -> Tensor");
}
