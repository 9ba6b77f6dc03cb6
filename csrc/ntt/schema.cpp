#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_ntt_ops, m) {
  m.def("ntt_tables(Tensor roots, int degree, Tensor rns_params) -> Tensor");
  m.def("ntt_packed(Tensor input, Tensor tables, Tensor rns_params) -> Tensor");
  m.def("ntt_packed_(Tensor(a!) input, Tensor tables, Tensor rns_params) -> ()");
  m.def("intt_packed(Tensor input, Tensor tables, Tensor rns_params) -> Tensor");
  m.def("intt_packed_(Tensor(a!) input, Tensor tables, Tensor rns_params) -> ()");

  m.def("radix2_twiddles(Tensor roots, int degree, Tensor rns_params) -> Tensor");
  m.def(
      "ntt_radix2_indexed(Tensor input, Tensor even_indices, Tensor odd_indices, Tensor schedule, "
      "Tensor twiddles, Tensor rns_params) -> Tensor");
  m.def(
      "ntt_radix2_indexed_(Tensor(a!) input, Tensor even_indices, Tensor odd_indices, "
      "Tensor schedule, Tensor twiddles, Tensor rns_params) -> ()");
  m.def(
      "intt_radix2_indexed(Tensor input, Tensor even_indices, Tensor odd_indices, Tensor schedule, "
      "Tensor twiddles, Tensor rns_params) -> Tensor");
  m.def(
      "intt_radix2_indexed_(Tensor(a!) input, Tensor even_indices, Tensor odd_indices, "
      "Tensor schedule, Tensor twiddles, Tensor rns_params) -> ()");
}
