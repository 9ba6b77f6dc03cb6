"""ReuseValuesPass."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from fhelium.compile.borders import block_of, encloses
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class ReuseValuesPass(CompilePass):
    """Compute once what equal operations on equal operands compute twice, or a loop in each round.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x + x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.Pipeline((ReuseValuesPass(),)).run(given)
        >>> [op.name for op in found.program.operations]
        ['semantic.multiply', 'semantic.add', 'func.return']
    """

    def run(self, compilation: Compilation) -> None:
        seen: dict[Hashable, Operation] = {}
        for operation in compilation.program.operations:
            if not operation.results or operation.regions or not is_side_effect_free(operation):
                continue
            if isinstance(operation, DeclaredOperation) and operation.FACTS.random:
                continue
            _move_out(operation)
            key = _key(operation)
            first = seen.get(key)
            if first is not None and encloses(first.parent, operation):
                Rewriter.replace_op(operation, [], list(first.results))
            else:
                seen[key] = operation


def _move_out(operation: Operation) -> None:
    """Put an operation in front of the loops that it reads nothing of."""
    around = operation.parent_op()
    while isinstance(around, scf.ForOp):
        if any(not encloses(block_of(value), around) for value in operation.operands):
            return
        operation.detach()
        assert around.parent is not None
        around.parent.insert_op_before(operation, around)
        around = operation.parent_op()


def _key(operation: Operation) -> Hashable:
    """Return what two operations share that give the same."""
    if isinstance(operation, ConstantOp):  # its attributes are one for each number
        numbers = operation.numbers().numpy().tobytes()
        return ConstantOp, numbers, operation.result.type
    return (
        type(operation),
        tuple(operation.operands),
        tuple(sorted(operation.properties.items(), key=lambda item: item[0])),
        tuple(sorted(operation.attributes.items(), key=lambda item: item[0])),
        tuple(result.type for result in operation.results),
    )
