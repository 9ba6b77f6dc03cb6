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

  // CUDA only: compact grouped passes, and passes of one power-of-two radix. `schedule` holds the
  // levels that each pass over memory takes, on the CPU, so that a call waits for no device.
  m.def("compact_twiddles(Tensor roots, int degree, Tensor rns_params) -> Tensor");
  m.def("ntt_compact(Tensor input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> Tensor");
  m.def(
      "ntt_compact_(Tensor(a!) input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> ()");
  m.def(
      "intt_compact(Tensor input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> Tensor");
  m.def(
      "intt_compact_(Tensor(a!) input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> ()");
  m.def(
      "ntt_fixed_radix(Tensor input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> "
      "Tensor");
  m.def(
      "ntt_fixed_radix_(Tensor(a!) input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> "
      "()");
  m.def(
      "intt_fixed_radix(Tensor input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> "
      "Tensor");
  m.def(
      "intt_fixed_radix_(Tensor(a!) input, Tensor schedule, Tensor twiddles, Tensor rns_params) -> "
      "()");
}

FHELIUM_LIBRARY(fhelium_ntt_diagnostic_ops, m) {
  m.def("variant_names() -> str");
  m.def("variant_tables(str variant, Tensor roots, int degree, Tensor rns_params) -> Tensor");
  m.def("variant_ntt(str variant, Tensor input, Tensor tables, Tensor rns_params) -> Tensor");
  m.def("variant_intt(str variant, Tensor input, Tensor tables, Tensor rns_params) -> Tensor");
}
