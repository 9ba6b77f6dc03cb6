"""FuseOperationsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import Site
from fhelium.ir.dialects.ckks import CKKS
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class FuseOperationsPass(CompilePass):
    """Replace chains of operations by the one that is declared to give the same residues.

    A chain is fused where nothing else uses its intermediate values.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations if op.name.startswith("ckks.")]
        ['ckks.multiply_rescale']
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        site = Site(program, compilation.workspace.config)
        for operation in program.operations:
            for fused in CKKS.operations:
                assert issubclass(fused, DeclaredOperation)
                for chain in fused.FUSES:
                    found = _chain(operation, chain) if operation.parent is not None else None
                    if found is not None:
                        made = site.insert(operation, fused, *fused.fused_operands(found))
                        Rewriter.replace_op(operation, [], [made])


def _chain(
    last: Operation, types: tuple[type[DeclaredOperation], ...]
) -> list[DeclaredOperation] | None:
    """Return the operations of a chain that ends here, the first one first."""
    found: list[DeclaredOperation] = []
    operation: object = last
    for kind in reversed(types):
        if not isinstance(operation, DeclaredOperation) or type(operation) is not kind:
            return None
        if operation.parent is not last.parent:
            return None  # it is computed once, and the fused operation would be in each round
        if operation.tables or operation.python_attributes():
            return None  # it does more than its part of the fused operation
        if found and len(list(operation.results[0].uses)) != 1:
            return None
        found.insert(0, operation)
        operation = operation.operands[0].owner
    return found
