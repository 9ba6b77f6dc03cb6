// The packed transform by other kernels than the active ones, chosen by name: those of an
// instruction set ("avx2"), which take the path that a prime's size allows, or those of one path
// ("avx2_pass"). For benchmarks and tests, which compare them in one process.
#include "common/checks.h"
#include "common/names.h"
#include "common/number_theory.h"
#include "ntt/packed.h"

namespace fhelium {
namespace {

struct Variant {
  std::string name;
  const NttKernels<u64>* kernels;
  const NttPath* path;  // null where the prime chooses
};

/// The variants that the build and the machine have, in rising order of preference of their sets.
std::vector<Variant> usable_variants() {
  std::vector<Variant> found;
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!is_usable(isa)) continue;
    const std::string name = isa_name(isa);
    found.push_back({name, &ntt_kernels_of(isa), nullptr});
    for (const NttPath& path : ntt_paths_of(isa))
      found.push_back({name + "_" + path.name, &path.kernels, &path});
  }
  return found;
}

std::string variant_names() {
  std::string names;
  for (const Variant& variant : usable_variants())
    names += (names.empty() ? "" : ", ") + variant.name;
  return names;
}

Variant variant_named(const char* operation, const std::string& name) {
  for (const Variant& variant : usable_variants())
    if (variant.name == name) return variant;
  refuse(operation, "variant is '" + name + "', this machine can run " + variant_names(),
         "A variant is an instruction set that the build and the machine have, or a path of it",
         "Pass one of variant_names()");
}

/// A path computes whatever the prime: refuse those that are too large for it, and rings that are
/// too small. What is no ring degree at all is refused with the tables.
void check_admitted(const char* operation, const Variant& variant, int64_t degree,
                    const Tensor& rns_params, int64_t limbs) {
  if (variant.path == nullptr || degree < 1 || !is_power_of_two(degree)) return;
  for (const auto& m : check_parameters<u64>(operation, rns_params, limbs))
    if (!variant.path->admits(degree, m))
      refuse(operation,
             "variant is '" + variant.name + "', the limb has q = " + std::to_string(m.q) +
                 " and N = " + std::to_string(degree),
             "A path takes primes below a bound and rings that fill its vectors",
             "Pass a smaller prime or a larger ring, or the instruction set's own name");
}

Tensor variant_tables(std::string name, const Tensor roots, int64_t degree,
                      const Tensor rns_params) {
  constexpr auto kName = "variant_tables";
  check_axes(kName, "roots", roots, 1, "Roots are [limb]");
  const Variant variant = variant_named(kName, name);
  check_admitted(kName, variant, degree, rns_params, roots.size(0));
  return make_tables(kName, *variant.kernels, roots, degree, rns_params);
}

template <Name kName, bool kInverse>
Tensor transformed(std::string name, const Tensor input, const Tensor tables,
                   const Tensor rns_params) {
  check_axes(kName.text, "input", input, 2, "Residues are [*batch, limb, N]");
  const Variant variant = variant_named(kName.text, name);
  const Sizes shape = sizes_of(input);
  check_admitted(kName.text, variant, shape.back(), rns_params, shape[shape.size() - 2]);
  Tensor out = empty_on(input, shape);
  transform_with(kName.text, *variant.kernels, name.c_str(), kInverse, out, input, tables,
                 rns_params);
  return out;
}

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_ntt_diagnostic_ops, CompositeExplicitAutograd, m) {
  m.impl("variant_names", FHELIUM_BOX(&fhelium::variant_names));
}

FHELIUM_LIBRARY_IMPL(fhelium_ntt_diagnostic_ops, CPU, m) {
  m.impl("variant_tables", FHELIUM_BOX(&fhelium::variant_tables));
  m.impl("variant_ntt", FHELIUM_BOX((&fhelium::transformed<"variant_ntt", false>)));
  m.impl("variant_intt", FHELIUM_BOX((&fhelium::transformed<"variant_intt", true>)));
}
