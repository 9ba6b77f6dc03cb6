// The packed transform of a named instruction set, whatever the active one: for benchmarks that
// compare them in one process. Which of its plans a kernel follows depends on the primes alone.
#include "common/checks.h"
#include "ntt/packed.h"

namespace fhelium {
namespace {

const NttKernels<u64>& kernels_named(const char* operation, const std::string& variant) {
  Isa isa;
  if (!find_usable_isa(variant, isa))
    refuse(operation, "variant is '" + variant + "', this machine can run " + usable_isas(),
           "A variant is an instruction set that the build and the machine have",
           "Pass one of variant_names()");
  return ntt_kernels_of(isa);
}

Tensor variant_tables(std::string variant, const Tensor roots, int64_t degree,
                      const Tensor rns_params) {
  constexpr auto kName = "variant_tables";
  check_axes(kName, "roots", roots, 1, "Roots are [limb]");
  return make_tables(kName, kernels_named(kName, variant), roots, degree, rns_params);
}

Tensor transformed(const char* name, bool inverse, const std::string& variant, const Tensor& input,
                   const Tensor& tables, const Tensor& rns_params) {
  check_axes(name, "input", input, 2, "Residues are [*batch, limb, N]");
  Tensor out = empty_on(input, sizes_of(input));
  transform_with(name, kernels_named(name, variant), variant.c_str(), inverse, out, input, tables,
                 rns_params);
  return out;
}

Tensor variant_ntt(std::string variant, const Tensor input, const Tensor tables,
                   const Tensor rns_params) {
  return transformed("variant_ntt", false, variant, input, tables, rns_params);
}

Tensor variant_intt(std::string variant, const Tensor input, const Tensor tables,
                    const Tensor rns_params) {
  return transformed("variant_intt", true, variant, input, tables, rns_params);
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_diagnostic_ops, CompositeExplicitAutograd, m) {
  m.impl("variant_names", FHELIUM_BOX(&fhelium::usable_isas));
}

FHELIUM_LIBRARY_IMPL(fhelium_ntt_diagnostic_ops, CPU, m) {
  m.impl("variant_tables", FHELIUM_BOX(&fhelium::variant_tables));
  m.impl("variant_ntt", FHELIUM_BOX(&fhelium::variant_ntt));
  m.impl("variant_intt", FHELIUM_BOX(&fhelium::variant_intt));
}
