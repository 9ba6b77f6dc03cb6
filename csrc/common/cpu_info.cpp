// What Python may ask about the CPU side of this binary.
#include "common/isa.h"
#include "common/pool.h"
#include "common/torch_abi.h"

namespace fhelium {
namespace {

std::string cpu_isa() { return isa_name(active_isa()); }

}  // namespace
}  // namespace fhelium

FHELIUM_LIBRARY_IMPL(fhelium_rns_ops, CompositeExplicitAutograd, m) {
  m.impl("workspace_bytes", FHELIUM_BOX(&fhelium::pool_bytes));
  m.impl("release_workspace", FHELIUM_BOX(&fhelium::release_pool));
  m.impl("cpu_isa", FHELIUM_BOX(&fhelium::cpu_isa));
}
