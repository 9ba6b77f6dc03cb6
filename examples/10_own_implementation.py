"""Let code of your own compute an operation: plain Python, and an operator of torch.library.

An Engine finds the one implementation of each operation in the registry of its backend. Here two
more join it for the sum of ciphertexts, and an order of preference says which is taken.
"""

import torch

from fhelium import Engine
from fhelium.backend import OperationBackend, OperationImplementation
from fhelium.errors import ImplementationError
from fhelium.ir.dialects.ckks import AddOp


def sum_of_residues(lhs, rhs, parameters):
    """Return (lhs + rhs) mod q for residues [*batch, limb, N]; row 0 of the parameters is q."""
    total, q = lhs + rhs, parameters[0, :, None]
    return torch.where(total < q, total, total - q)


class PythonAdd(OperationImplementation):
    """Add residues with torch's own operators."""

    name = "python-add"
    operation_types = (AddOp,)
    calls = 0

    def material_symbols(self, invocation):
        """Ask for the parameters of the primes that are left at this depth."""
        return (f"rns_parameters/Q/{invocation.attributes['depth']}",)

    def compute(self, lhs, rhs, parameters):
        """Return the sum."""
        return sum_of_residues(lhs, rhs, parameters)

    def execute(self, invocation, inputs, resources, *, in_place):
        """Return the sum; in_place is never asked for, as supports_in_place is False."""
        type(self).calls += 1
        return (self.compute(*inputs),)


@torch.library.custom_op("example_rns::add", mutates_args=())
def add(lhs: torch.Tensor, rhs: torch.Tensor, parameters: torch.Tensor) -> torch.Tensor:
    """Add residues; a device of your own would register its kernel here."""
    return sum_of_residues(lhs, rhs, parameters)


@add.register_fake
def shape_of_sum(lhs, rhs, parameters):
    """Say what the sum looks like, for tracing."""
    return torch.empty_like(lhs)


class LibraryAdd(PythonAdd):
    """Add residues with the operator that torch's dispatcher chooses by device."""

    name = "library-add"
    calls = 0

    def compute(self, lhs, rhs, parameters):
        """Return the sum."""
        return torch.ops.example_rns.add(lhs, rhs, parameters)


preset = "slots4096_scale40_depth2_int64"
engine = Engine(preset)
secret_key = engine.create_secret_key()
x = engine.encrypt_with_secret_key(0.25, secret_key)
y = engine.encrypt_with_secret_key(0.5, secret_key)
expected = engine.add(x, y)

# Three implementations serve a sum now, and nothing says which one is meant.
registry = OperationBackend().registry.extended(PythonAdd(), LibraryAdd())
try:
    Engine(preset, backend=OperationBackend(registry)).add(x, y)
except ImplementationError as error:
    print(f"refused: {error}")

# A preference, by name, decides; the residues are the same, bit for bit.
for name in ("native-rns-linear", "python-add", "library-add"):
    registry = registry.preferring(name)
    own = Engine(preset, backend=OperationBackend(registry))
    same = torch.equal(own.add(x, y).data, expected.data)
    print(f"preferring {name}: calls {PythonAdd.calls} {LibraryAdd.calls}, equal {same}")

print("registered for a sum, 0 the first choice:")
registry = OperationBackend().registry.extended(PythonAdd(), LibraryAdd())
backend = OperationBackend(registry.preferring("library-add", "python-add"))
for found in backend.diagnostics(AddOp):
    print(f"  {found.name:18} {found.implementation_class:29} preference {found.preference}")
