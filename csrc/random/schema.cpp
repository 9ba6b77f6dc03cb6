#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_random_ops, m) {
  m.def("chacha20_blocks(Tensor key, Tensor nonce, int counter, int blocks) -> Tensor");
  m.def(
      "sample_uniform(Tensor key, Tensor prime_ids, int component, int first_index, int count, "
      "int degree, Tensor rns_params, ScalarType dtype=long) -> Tensor");
  m.def("sample_ternary(Tensor key, int component, int count, int degree) -> Tensor");
  m.def("sample_gaussian(Tensor key, int component, int count, int degree) -> Tensor");
  m.def("sample_rounded_gaussian(Tensor key, float sigma, int count, int degree) -> Tensor");
}
