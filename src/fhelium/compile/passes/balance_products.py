"""BalanceProductsPass."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import block_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.semantic import (
    MultiplyOp,
    MultiplyScalarOp,
    SemanticOperation,
    TensorType,
)
from fhelium.ir.program import Program


@dataclass(frozen=True)
class BalanceProductsPass(CompilePass):
    """Multiply the factors of a product in the order that needs the least depth.

    Public factors come first, each with the shallowest encrypted one; then the two shallowest
    products meet, equal ones first, so that their square can be reused.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x * x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.Pipeline((BalanceProductsPass(), fc.ReuseValuesPass())).run(given)
        >>> found = fc.Pipeline((fc.EliminateDeadValuesPass(),)).run(found)
        >>> [op.name for op in found.program.operations]
        ['semantic.multiply', 'semantic.multiply', 'func.return']
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        order = _Order(program)
        for operation in program.operations:
            if isinstance(operation, SemanticOperation):
                if _is_product(operation) and not _feeds_a_product(operation):
                    order.rebuild(operation)
                elif operation.parent is not None:
                    order.note(operation)


class _Order:
    """Know the depth of every value so far, and build products of least depth."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.depths: dict[SSAValue, int] = {}

    def note(self, operation: SemanticOperation) -> None:
        """Note the depth of an operation's result."""
        deepest = max((self._depth(value) for value in operation.operands), default=0)
        self.depths[operation.result] = deepest + _is_product(operation)

    def _depth(self, value: SSAValue) -> int:
        known = value.type.known if isinstance(value.type, TensorType) else {}
        found = self.depths.get(value)
        return known.get("depth", 0) if found is None else found

    def rebuild(self, operation: SemanticOperation) -> None:
        """Replace a whole product by one of least depth, if that is less than it has."""
        factors, number = _factors(operation)
        self.note_all(operation)
        public = [value for value in factors if _is_public(value)]
        encrypted = [value for value in factors if not _is_public(value)]
        if len(factors) + (number != 1.0) < 3 or not encrypted:
            return
        numbers = {value: index for index, value in enumerate(dict.fromkeys(encrypted))}
        heap = [(self._depth(v), numbers[v], index, v) for index, v in enumerate(encrypted)]
        heapq.heapify(heap)
        made: list[SemanticOperation] = []

        def multiply(*values: SSAValue, **scalar: float) -> SSAValue:
            kind = MultiplyScalarOp if scalar else MultiplyOp
            found = kind.make(*values, result_type=kind.result_type_of(values), **scalar)
            made.append(found)
            self.note(found)
            return found.result

        def push(value: SSAValue) -> None:
            heapq.heappush(heap, (self._depth(value), len(factors) + len(made), len(made), value))

        if number != 1.0:
            # The last of the shallowest, so that equal factors stay together.
            shallowest = max(entry for entry in heap if entry[0] == heap[0][0])
            heap.remove(shallowest)
            heapq.heapify(heap)
            push(multiply(shallowest[3], value=number))
        for value in public:
            push(multiply(heapq.heappop(heap)[3], value))
        while len(heap) > 1:
            push(multiply(heapq.heappop(heap)[3], heapq.heappop(heap)[3]))
        if self._depth(heap[0][3]) < self._depth(operation.result):
            self.depths.pop(operation.result)
            Rewriter.replace_op(operation, made, [heap[0][3]])

    def note_all(self, operation: SemanticOperation) -> None:
        """Note the depths of the products inside a product."""
        for value in operation.operands:
            owner = value.owner
            if isinstance(owner, SemanticOperation) and value not in self.depths:
                self.note_all(owner)
        self.note(operation)


def _is_product(operation: Operation) -> bool:
    return isinstance(operation, MultiplyOp | MultiplyScalarOp)


def _is_public(value: SSAValue) -> bool:
    known = value.type.known if isinstance(value.type, TensorType) else {}
    return isinstance(value.owner, ConstantOp) or known.get("role") in ("message", "plaintext")


def _feeds_a_product(operation: SemanticOperation) -> bool:
    """Say whether the one use of a product is another product."""
    users = [*{use.operation for use in operation.result.uses}]
    return len(users) == 1 and _is_product(users[0]) and users[0].parent is operation.parent


def _factors(operation: Operation) -> tuple[list[SSAValue], float]:
    """Return the factors of a whole product, and the numbers among them as one."""
    factors: list[SSAValue] = []
    number = 1.0
    if isinstance(operation, MultiplyScalarOp):
        number *= operation.python_attributes()["value"]
    for value in operation.operands:
        owner = value.owner
        alone = {use.operation for use in value.uses} == {operation}
        alone = alone and block_of(value) is operation.parent
        if alone and isinstance(owner, SemanticOperation) and _is_product(owner):
            inner, scalar = _factors(owner)
            factors, number = factors + inner, number * scalar
        else:
            factors.append(value)
    return factors, number
