"""ExpandMatrixProductsPass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import insert_semantic
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.semantic import (
    AddOp,
    BoundByOp,
    MatrixProductOp,
    MultiplyOp,
    MultiplyScalarOp,
    RollOp,
    TensorType,
    count_of,
)


@dataclass(frozen=True)
class ExpandMatrixProductsPass(CompilePass):
    """Multiply with public matrices by their diagonals, in baby steps and giant steps.

    With n diagonals and B baby steps the vector is rotated B + n / B times instead of n; the baby
    steps are rotations of one vector, which HoistRotationsPass shares. Diagonals of zeros are left
    out.

    Bounds follow from the matrix, not from the way. Each slot of x W, and each of the sums on the
    way to it, is a sum of slots of x times entries of one column of W, every entry at most once and
    whatever x holds: it is at most the largest slot of x times the largest column sum of |W|.

    Args:
        baby_steps: How many; about sqrt(n) when omitted.

    Source: Halevi, Shoup (CRYPTO 2014), "Algorithms in HElib"; (CRYPTO 2018), section 4.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x @ torch.eye(4, dtype=torch.float64),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.Pipeline((ExpandMatrixProductsPass(),)).run(given)
        >>> "semantic.matrix_product" in [op.name for op in found.program.operations]
        False
    """

    baby_steps: int | None = None

    def run(self, compilation: Compilation) -> None:
        slots = compilation.workspace.config.num_slots
        found = [
            (index, operation, count_of(operation.input))
            for index, operation in enumerate(compilation.program.operations)
            if isinstance(operation, MatrixProductOp)
        ]
        for index, operation, count in found:  # the types are those of before any expansion
            period = slots if count is None else 1 << (count - 1).bit_length()
            attributes = operation.python_attributes()
            rows, columns = attributes["rows"], attributes["columns"]
            if rows > (count or slots) or max(period, columns) > slots:
                raise self.refusal(
                    index,
                    operation.name,
                    f"the matrix is [{rows}, {columns}], the vector has a period of {period}, the "
                    f"ring {slots} slots",
                    "A period is a power of two that holds a row, and columns fit the slots",
                    "Pad the vector, and say encrypted(slots=...) with its period",
                )
            found = _Expansion(operation, period).value(self.baby_steps)
            Rewriter.replace_op(operation, [], [found])


class _Expansion:
    """Write one matrix product's diagonals in front of it."""

    def __init__(self, operation: MatrixProductOp, period: int) -> None:
        self.anchor = operation
        self._emit = partial(insert_semantic, operation)
        attributes = operation.python_attributes()
        rows, columns = attributes["rows"], attributes["columns"]
        constant = operation.matrix.owner
        assert isinstance(constant, ConstantOp)
        self.period, self.width = period, 1 << (columns - 1).bit_length()
        entries = constant.numbers().reshape(rows, columns)
        padding = (0, self.width - columns, 0, period - rows)
        self.matrix = torch.nn.functional.pad(entries, padding)
        # A sum of n terms >= 0 in doubles is n - 1 roundings of 2^-53 short at the most, and two
        # more follow: of this product, and of the one with the vector's bound.
        self.factor = float(entries.abs().sum(dim=0).max()) * (1 + (rows + 1) * 2.0**-52)

    def value(self, baby_steps: int | None) -> SSAValue:
        """Return the product."""
        count = min(self.period, self.width)
        baby = baby_steps or 1 << math.ceil(math.log2(count) / 2)
        total: SSAValue | None = None
        for giant in range(0, count, baby):
            inner: SSAValue | None = None
            for step in range(giant, min(giant + baby, count)):
                diagonal = self._diagonal(step)
                if bool(diagonal.any()):
                    rolled = self._roll(self.anchor.input, giant - step)
                    weights = self._constant(torch.roll(diagonal, giant))
                    inner = self._add(inner, self._emit(MultiplyOp, rolled, weights))
            if inner is not None:
                total = self._add(total, self._roll(inner, -giant))
                total = self._bounded(total) if giant else total
        if total is None:  # a matrix of zeros
            return self._emit(MultiplyScalarOp, self.anchor.input, value=0.0)
        step = self.width
        while step < self.period:  # each column's sum stands in several parts of a period
            total = self._bounded(self._add(total, self._roll(total, -step)))
            step *= 2
        return total

    def _bounded(self, total: SSAValue) -> SSAValue:
        """Say what bounds a sum behind a rotation; one of products alone is rescaled later."""
        if not math.isfinite(self.factor):
            return total
        return self._emit(BoundByOp, total, self.anchor.input, factor=self.factor)

    def _diagonal(self, step: int) -> torch.Tensor:
        """Return the entries that meet the vector when it is rolled back by a step."""
        columns = torch.arange(max(self.period, self.width))
        return self.matrix[(columns + step) % self.period, columns % self.width]

    def _add(self, total: SSAValue | None, term: SSAValue) -> SSAValue:
        return term if total is None else self._emit(AddOp, total, term)

    def _roll(self, value: SSAValue, step: int) -> SSAValue:
        return self._emit(RollOp, value, step=step) if step else value

    def _constant(self, numbers: torch.Tensor) -> SSAValue:
        kind = TensorType.of(role="message", slots=numbers.shape[-1])
        made = ConstantOp.of(numbers, kind)
        Rewriter.insert_op(made, InsertPoint.before(self.anchor))
        return made.result
