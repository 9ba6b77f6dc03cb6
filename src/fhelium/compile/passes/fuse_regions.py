"""FuseRegionsPass."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from fhelium.backend import OperationImplementation, OperationImplementationRegistry
from fhelium.compile.calls import call_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.prepared_constants import readers_of
from fhelium.compile.regions import REGION
from fhelium.config import CkksConfig
from fhelium.ir.dialects.ckks import CKKS, CiphertextType
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program


@dataclass(frozen=True)
class FuseRegionsPass(CompilePass):
    """Note the largest regions of coefficient-wise operations that have one result.

    Sums, differences and products at one depth depend on the same coefficient of their operands
    alone: a region of them is computed in one pass over memory, and what stands between its
    operands and its result is never written there. Nothing outside uses a value inside a region.
    Linking runs this pass; the residues are those of the operations one by one.

    Args:
        registry: Says which implementation serves an operation, and whether it can be recorded.

    Example:
        >>> from fhelium import compile as fc
        >>> from fhelium.backend import OperationBackend
        >>> given = fc.capture(
        ...     lambda x, y: x * y + x * torch.roll(y, 3),
        ...     inputs=dict.fromkeys("xy", fc.encrypted(polynomial_domain="ntt")),
        ...     workspace=captured.workspace,
        ... )
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes,
        ...          FuseRegionsPass(OperationBackend().registry))
        >>> found = fc.Pipeline(steps).run(given)
        >>> [op.name for op in found.program.operations if "core.region" in op.attributes]
        ['ckks.multiply', 'ckks.multiply', 'ckks.add']
    """

    registry: OperationImplementationRegistry

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        ends = region_ends(program, compilation.workspace.config, self.registry)
        numbers: dict[Operation, int] = {}
        for operation in program.operations:
            operation.attributes.pop(REGION, None)
            if operation in ends:
                number = numbers.setdefault(ends[operation], len(numbers))
                operation.attributes[REGION] = IntegerAttr(number, i64)


def region_ends(
    program: Program, config: CkksConfig, registry: OperationImplementationRegistry
) -> dict[Operation, Operation]:
    """Return for each operation of a region the one that gives the region's result.

    Args:
        program: A Program of ckks operations whose depths and domains are known.
        config: Parameters.
        registry: Implementations.
    """
    ends: dict[Operation, Operation] = {}
    for operation in reversed(program.operations):
        if type(operation) in CKKS.operations and _joins(program, operation, config, registry):
            around = {  # what only a loop or a branch reads is computed in front of it
                ends.get(reader) if reader.parent is operation.parent else None
                for reader in readers_of(operation.results[0])
            }
            ends[operation] = (around.pop() if len(around) == 1 else None) or operation
    sizes = Counter(ends.values())
    return {operation: end for operation, end in ends.items() if sizes[end] > 1}


def _joins(
    program: Program,
    operation: Operation,
    config: CkksConfig,
    registry: OperationImplementationRegistry,
) -> bool:
    """Say whether a native program can compute an operation together with others."""
    if not isinstance(operation, DeclaredOperation) or operation.FACTS.needs_key:
        return False
    values = [*operation.operands, *operation.results]
    ciphertexts = [value.type for value in values if isinstance(value.type, CiphertextType)]
    if not all("components" in kind.known for kind in ciphertexts):
        return False
    call = call_of(program, operation, config, registry)
    recorded = call.implementation.recorded_as(call.invocation)
    return recorded is not None and _is_own(call.implementation)


def _is_own(implementation: OperationImplementation) -> bool:
    """Say whether what computes is what the implementation's record stands for."""
    kind = type(implementation)
    owner = next(base for base in kind.__mro__ if "recorded_as" in vars(base))
    return all(
        getattr(kind, name, None) is getattr(owner, name, None)
        for name in ("execute", "compute", "operator")
    )
