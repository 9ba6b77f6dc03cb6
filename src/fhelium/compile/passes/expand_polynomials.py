"""ExpandPolynomialsPass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import insert_semantic
from fhelium.ir.dialects.semantic import (
    AddOp,
    AddScalarOp,
    MultiplyOp,
    MultiplyScalarOp,
    PolynomialOp,
)


@dataclass(frozen=True)
class ExpandPolynomialsPass(CompilePass):
    """Evaluate polynomials with few products and least depth, by splitting them at powers.

    Powers up to about sqrt(d) are computed once, and x^k, x^2k, x^4k after them; a polynomial is
    q x^(k 2^i) + r, and so are q and r. Every product is rescaled to the canonical scale of its
    depth, so terms meet exactly.

    Source: Paterson, Stockmeyer (SIAM J. Comput. 1973); Han, Ki (CT-RSA 2020), section 5.1.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: fc.polynomial(x, [1.0, 0.5, 0.25, 0.125]),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt", depth=0)},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> found.program.outputs[0].type.known["depth"]
        2
    """

    def run(self, compilation: Compilation) -> None:
        for operation in compilation.program.operations:
            if isinstance(operation, PolynomialOp):
                coefficients = _trimmed(operation.python_attributes()["coefficients"])
                found = _Evaluation(operation, coefficients).value()
                Rewriter.replace_op(operation, [], [found])


class _Evaluation:
    """Write one polynomial's evaluation in front of it."""

    def __init__(self, anchor: PolynomialOp, coefficients: Sequence[float]) -> None:
        self.anchor = anchor
        self._emit = partial(insert_semantic, anchor)
        self.coefficients = coefficients
        self.powers: dict[int, SSAValue] = {1: anchor.input}
        self.baby = 1 << max(1, math.ceil(math.log2(math.sqrt(len(coefficients)))))

    def value(self) -> SSAValue:
        """Return the value of the polynomial."""
        found = self._polynomial(self.coefficients)
        if isinstance(found, SSAValue):
            return found
        zero = self._emit(MultiplyScalarOp, self.anchor.input, value=0.0)  # no power is left
        return self._emit(AddScalarOp, zero, value=found)

    def _power(self, exponent: int) -> SSAValue:
        """Return a power, as the product of two of about half of it."""
        if exponent not in self.powers:
            largest = 1 << (exponent - 1).bit_length() - 1
            half = exponent // 2 if exponent == 2 * largest else largest
            factors = self._power(half), self._power(exponent - half)
            self.powers[exponent] = self._emit(MultiplyOp, *factors)
        return self.powers[exponent]

    def _polynomial(self, coefficients: Sequence[float]) -> SSAValue | float:
        if len(coefficients) <= self.baby:
            return self._small(coefficients)
        split = self.baby
        while 2 * split < len(coefficients):
            split *= 2
        high = self._polynomial(_trimmed(coefficients[split:]))
        low = self._polynomial(_trimmed(coefficients[:split]))
        return self._sum(self._product(high, self._power(split)), low)

    def _small(self, coefficients: Sequence[float]) -> SSAValue | float:
        total: SSAValue | float = coefficients[0]
        for exponent, coefficient in reversed(list(enumerate(coefficients))[1:]):
            if coefficient:
                term = self._product(coefficient, self._power(exponent))
                total = self._sum(term, total)
        return total

    def _product(self, factor: SSAValue | float, power: SSAValue) -> SSAValue:
        if isinstance(factor, SSAValue):
            return self._emit(MultiplyOp, factor, power)
        return power if factor == 1 else self._emit(MultiplyScalarOp, power, value=factor)

    def _sum(self, value: SSAValue, other: SSAValue | float) -> SSAValue:
        if isinstance(other, SSAValue):
            return self._emit(AddOp, value, other)
        return value if other == 0 else self._emit(AddScalarOp, value, value=other)


def _trimmed(coefficients: Sequence[float]) -> Sequence[float]:
    """Leave out zeros at the end, but for one coefficient."""
    count = len(coefficients)
    while count > 1 and coefficients[count - 1] == 0:
        count -= 1
    return coefficients[:count]
