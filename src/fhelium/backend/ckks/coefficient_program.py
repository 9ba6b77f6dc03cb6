"""Coefficient-wise operations written down as one program that a native operator runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import torch

from fhelium.native.wrapper import ckks_ops

ADD, SUBTRACT, NEGATE, MULTIPLY, TO_MONTGOMERY, WEIGHTED_SUMS = range(6)
"""Codes of `coefficient_program`."""

MOST_WRITTEN: Final = 64
"""Rows that a native program may write."""

Rows = tuple[int, ...]
"""A row of each component."""


class _Step(NamedTuple):
    code: int
    results: Rows
    operands: Rows


@dataclass(frozen=True)
class NativeCoefficientProgram:
    """Compute one ciphertext of others in one pass over memory.

    Args:
        words: Its steps.
        ciphertexts: How many operands are ciphertexts; plaintexts and constants follow them, and
            last the parameters.
        components: Of the result.
    """

    words: list[int]
    ciphertexts: int
    components: int

    def __call__(self, *operands: torch.Tensor) -> torch.Tensor:
        """Run it."""
        ciphertexts, plaintexts = operands[: self.ciphertexts], operands[self.ciphertexts : -1]
        return ckks_ops.coefficient_program(
            list(ciphertexts), list(plaintexts), self.words, self.components, operands[-1]
        )


@dataclass
class Vector:
    """A ciphertext as sums that are still to be computed; a sign of -1 subtracts.

    Args:
        components: How many it has.
        summands: Sign and a row of each component.
        firsts: Sign and a row that joins component 0.
        weighted: Sign, a factor in Montgomery form, and a row of each component.
        products: Sign and the components of two ciphertexts.
    """

    components: int
    summands: list[tuple[int, Rows]] = field(default_factory=list)
    firsts: list[tuple[int, int]] = field(default_factory=list)
    weighted: list[tuple[int, int, Rows]] = field(default_factory=list)
    products: list[tuple[int, Rows, Rows]] = field(default_factory=list)

    def plus(self, other: Vector, sign: int = 1) -> Vector:
        """Return the sum with another vector, or the difference."""
        found = Vector(self.components)
        for name in ("summands", "firsts", "weighted", "products"):
            mine, others = getattr(self, name), getattr(other, name)
            setattr(found, name, [*mine, *((sign * its, *rest) for its, *rest in others)])
        return found


class CoefficientProgram:
    """Record ciphertext operations of one depth and domain, and give the steps of one pass.

    What is recorded are sums of products; a product is computed when it enters another, and a sum
    of products is reduced once. All of that is exact modulo the primes, so the residues are those
    of the operations one by one.

    Args:
        ciphertexts: Components of each ciphertext that comes in.
        constants: Of each plaintext that comes in, whether it is one number a limb.
    """

    def __init__(self, ciphertexts: Sequence[int], constants: Sequence[bool]) -> None:
        rows = iter(range(sum(ciphertexts) + len(constants)))
        taken = [tuple(next(rows) for _ in range(count)) for count in ciphertexts]
        self.ciphertexts = [Vector(len(found), [(1, found)]) for found in taken]
        self.plaintexts = [next(rows) for _ in constants]
        pairs = zip(self.plaintexts, constants, strict=True)
        self._constants = {row for row, constant in pairs if constant}
        self._inputs = self._rows = sum(ciphertexts) + len(constants)
        self._steps: list[_Step] = []

    def add(self, *vectors: Vector) -> Vector:
        """Record a sum."""
        total = vectors[0]
        for vector in vectors[1:]:
            total = total.plus(vector)
        return total

    def subtract(self, lhs: Vector, rhs: Vector) -> Vector:
        """Record a difference."""
        return lhs.plus(rhs, -1)

    def negate(self, vector: Vector) -> Vector:
        """Record a negation."""
        return Vector(vector.components).plus(vector, -1)

    def add_plaintext(self, vector: Vector, plaintext: int) -> Vector:
        """Record a sum with a plaintext or a constant, which joins component 0."""
        return vector.plus(Vector(vector.components, firsts=[(1, plaintext)]))

    def multiply_plaintext(self, vector: Vector, plaintext: int) -> Vector:
        """Record a product with a plaintext or a constant in Montgomery form."""
        term = (1, plaintext, self.computed(vector))
        return Vector(vector.components, weighted=[term])

    def sum_plaintext_products(self, *operands: Any) -> Vector:
        """Record products of ciphertexts with as many plaintexts behind them, added up."""
        half = len(operands) // 2
        pairs = zip(operands[:half], operands[half:], strict=True)
        return self.add(*(self.multiply_plaintext(*pair) for pair in pairs))

    def multiply(self, lhs: Vector, rhs: Vector) -> Vector:
        """Record a product of two ciphertexts of two components."""
        return Vector(3, products=[(1, self.computed(lhs), self.computed(rhs))])

    def square(self, vector: Vector) -> Vector:
        """Record a product with itself."""
        return self.multiply(vector, vector)

    def computed(self, vector: Vector) -> Rows:
        """Compute a vector's rows, once."""
        if not self._is_computed(vector):
            vector.summands = [(1, self._sums(vector))]
            vector.firsts, vector.weighted, vector.products = [], [], []
        return vector.summands[0][1]

    def _is_computed(self, vector: Vector) -> bool:
        plain = not (vector.firsts or vector.weighted or vector.products)
        return plain and len(vector.summands) == 1 and vector.summands[0][0] == 1

    def _sums(self, vector: Vector) -> Rows:
        """Add up what each component consists of."""
        parts = {sign: self._parts(vector, sign) for sign in (1, -1)}
        found = []
        for index in range(vector.components):
            plus, minus = ([part[index] for part in parts[sign]] for sign in (1, -1))
            if index == 0:
                plus += [(row,) for sign, row in vector.firsts if sign == 1]
                minus += [(row,) for sign, row in vector.firsts if sign == -1]
            found.append(self._sum(plus, minus))
        return tuple(found)

    def _parts(self, vector: Vector, sign: int) -> list[list[Rows]]:
        """Return the summands of one sign: of each component a row, or a row and its factor."""
        parts = [[(row,) for row in rows] for its, rows in vector.summands if its == sign]
        products = [(lhs, rhs) for its, lhs, rhs in vector.products if its == sign]
        if products:
            parts.append([(row,) for row in self._products(products)])
        terms = [(factor, rows) for its, factor, rows in vector.weighted if its == sign]
        whole = [term for term in terms if term[0] not in self._constants]
        if len(whole) > 1:
            parts.append([(row,) for row in self._weighted(whole)])
            terms = [term for term in terms if term[0] in self._constants]
        return parts + [[(row, factor) for row in rows] for factor, rows in terms]

    def _sum(self, plus: list[Rows], minus: list[Rows]) -> int:
        """Add up summands: rows, and products that are computed when it is their turn."""

        def row(part: Rows) -> int:
            return part[0] if len(part) == 1 else self._emit(MULTIPLY, *part)

        for parts in (plus, minus):  # a constant is no left side
            parts.sort(key=lambda part: part[0] in self._constants)
        starts = plus and plus[0][0] not in self._constants
        total = row(plus.pop(0)) if starts else self._emit(NEGATE, row(minus.pop(0)))
        for part in plus:
            total = self._emit(ADD, total, row(part))
        for part in minus:
            total = self._emit(SUBTRACT, total, row(part))
        return total

    def _weighted(self, terms: list[tuple[int, Rows]]) -> Rows:
        """Multiply by factors and add up, two components at a time."""
        count = len(terms[0][1])
        sums: list[int] = []
        for index in range(0, count, 2):
            pair = (index, min(index + 1, count - 1))
            sums += self._weighted_sums([(f, *(rows[k] for k in pair)) for f, rows in terms])
        return tuple(sums[:count])

    def _products(self, terms: list[tuple[Rows, Rows]]) -> Rows:
        """Multiply ciphertexts: sums over 1/R, brought back by R once for each component."""
        first, mixed = self._weighted_sums([(a[0], b[0], b[1]) for a, b in terms])
        others, last = self._weighted_sums([(a[1], b[0], b[1]) for a, b in terms])
        rows = (first, self._emit(ADD, mixed, others), last)
        return tuple(self._emit(TO_MONTGOMERY, row) for row in rows)

    def _emit(self, code: int, *operands: int) -> int:
        return self._step(code, operands, 1)[0]

    def _weighted_sums(self, terms: list[Rows]) -> Rows:
        return self._step(WEIGHTED_SUMS, tuple(row for term in terms for row in term), 2)

    def _step(self, code: int, operands: Rows, count: int) -> Rows:
        results = tuple(range(self._rows, self._rows + count))
        self._rows += count
        self._steps.append(_Step(code, results, operands))
        return results

    def computing(self, result: Vector) -> NativeCoefficientProgram | None:
        """Return the native program that computes a vector.

        None where a component is an operand as it is, or where there are too many rows to write.
        """
        outputs = self.computed(result)
        if min(outputs) < self._inputs:
            return None
        places = _Places(self._inputs, self._steps, outputs)
        words: list[int] = []
        for index, step in enumerate(self._steps):
            operands = [places.of[row] for row in step.operands]
            several = [len(operands) // 3] if step.code == WEIGHTED_SUMS else []
            results = [place - self._inputs for place in places.take(index, step)]
            words += [step.code, *results, *several, *operands]
        if places.count > MOST_WRITTEN:
            return None
        return NativeCoefficientProgram(words, len(self.ciphertexts), len(outputs))


class _Places:
    """Give every row that is written a place, and its place to another when it is read no more."""

    def __init__(self, inputs: int, steps: list[_Step], outputs: Rows) -> None:
        self._inputs = inputs
        self.of = {row: row for row in range(inputs)}
        self._last = {row: index for index, step in enumerate(steps) for row in step.operands}
        self._outputs = {row: inputs + index for index, row in enumerate(outputs)}
        self.count = len(outputs)
        self._free: list[int] = []

    def take(self, index: int, step: _Step) -> list[int]:
        """Return the places of a step's results.

        A row may take the place of one that is read for the last time; sums are written while
        their operands are still read.
        """
        ended = [
            self.of[row]
            for row in dict.fromkeys(step.operands)
            if row >= self._inputs and self._last[row] == index and row not in self._outputs
        ]
        if step.code != WEIGHTED_SUMS:
            self._free += ended
        for row in step.results:
            self.of[row] = self._outputs.get(row) or self._next()
        if step.code == WEIGHTED_SUMS:
            self._free += ended
        return [self.of[row] for row in step.results]

    def _next(self) -> int:
        if self._free:
            return self._free.pop()
        self.count += 1
        return self._inputs + self.count - 1
