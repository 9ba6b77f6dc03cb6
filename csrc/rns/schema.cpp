#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_rns_ops, m) {
  m.def("rns_parameters(Tensor moduli, int degree) -> Tensor");
  m.def("parameter_row_names() -> str");
  m.def("cpu_isa() -> str");
  m.def("add_standard(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("add_standard_(Tensor(a!) lhs, Tensor rhs, Tensor rns_params) -> ()");
  m.def("round_to_residues(Tensor values, float scale, Tensor rns_params) -> Tensor");
  m.def("residues_to_real(Tensor input, Tensor rns_params) -> Tensor");
}
