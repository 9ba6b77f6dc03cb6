#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_ckks_ops, m) {
  m.def("embedding_tables(int degree) -> Tensor");
  m.def("slots_to_coefficients(Tensor slots, Tensor tables) -> Tensor");
  m.def("coefficients_to_slots(Tensor coefficients, Tensor tables) -> Tensor");
}
