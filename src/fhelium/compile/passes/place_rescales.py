"""PlaceRescalesPass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from xdsl.ir import Operation, SSAValue

from fhelium.compile.borders import crossings, home
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import (
    Site,
    ciphertexts_of,
    on_ciphertexts,
    outcome,
    replace_later_uses,
)
from fhelium.compile.states import is_placed
from fhelium.ir.dialects.ckks import CiphertextType, RelinearizeOp, RescaleOp
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class PlaceRescalesPass(CompilePass):
    """Bring the scale of products back, one prime of the chain for each.

    Args:
        when: "late": a sum of products is rescaled once, when its value enters another product,
            a key switch or an output; "immediate": each product is.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x + x * torch.roll(x, 3),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations].count("ckks.rescale")
        1
    """

    when: Literal["late", "immediate"] = "late"

    def run(self, compilation: Compilation) -> None:
        if is_placed(compilation.program):
            return
        placement = _Rescales(compilation)
        for operation in on_ciphertexts(compilation.program):
            if not isinstance(operation, DeclaredOperation):
                placement.cross(operation)
                continue
            placement.visit(operation)
            if self.when == "immediate":
                placement.follow(operation)


class _Level(NamedTuple):
    """How many primes were dropped, and of how many factors the scale is a product."""

    depth: int
    degree: int


class _Rescales:
    """Follow the number of factors in each scale; one is the number that operations start from."""

    def __init__(self, compilation: Compilation) -> None:
        self.program, self.config = compilation.program, compilation.workspace.config
        self.site = Site(self.program, self.config)
        self.unit = self.config.scale_at(0)
        self.rescaled: dict[SSAValue, SSAValue] = {}
        self.levels: dict[SSAValue, _Level] = {}
        for entry in self.program.inputs:
            if isinstance(entry.type, CiphertextType):
                known = entry.type.known
                self.levels[entry.value] = _Level(known.get("depth", 0), self._degree(known))

    def _degree(self, known: dict[str, Any]) -> int:
        factors = math.log(known.get("scale", self.unit)) / math.log(self.unit)
        return max(1, round(factors))

    def visit(self, operation: DeclaredOperation) -> None:
        """Rescale the operands that do not fit and note what the operation gives."""
        # What the rule makes of operands whose scale is one factor, at the depth 0.
        single = outcome(operation, self.config, lambda _: {"scale": self.unit, "depth": 0})
        grows = single is not None and (single.scale or 0) > self.unit**1.5
        levels = {self.levels.get(value) for value in ciphertexts_of(operation)}
        keeps = operation.FACTS.limb_wise or isinstance(operation, RelinearizeOp)
        if not isinstance(operation, RescaleOp) and (grows or not keeps or len(levels) > 1):
            self.rescale_operands(operation)
        found = [self.levels[value] for value in ciphertexts_of(operation) if value in self.levels]
        if not found:
            return
        depth, degree = max(level.depth for level in found), max(level.degree for level in found)
        if single is not None:
            depth += single.depth or 0
        depth = operation.python_attributes().get("depth", depth)
        if isinstance(operation, RescaleOp):
            degree -= 1
        level = _Level(depth, 2 if grows else degree)
        self.levels.update(dict.fromkeys(operation.results, level))

    def cross(self, operation: Operation) -> None:
        """Rescale what crosses the border of a region or of the Program."""
        self.rescale_operands(operation)
        crossing = [(to, self.levels[v]) for v, to in crossings(operation) if v in self.levels]
        self.levels.update(crossing)

    def follow(self, operation: DeclaredOperation) -> None:
        """Rescale a product right behind it, or behind its relinearization."""
        for result in operation.results:
            users = [use.operation for use in result.uses]
            handled = all(isinstance(user, RelinearizeOp | RescaleOp) for user in users)
            if self.levels[result].degree > 1 and users and not handled:
                anchor = operation.next_op
                assert anchor is not None
                made = self._rescale(anchor, result)
                replace_later_uses(result, made)

    def rescale_operands(self, operation: Operation) -> None:
        """Rescale the operands whose scale has more than one factor."""
        for value in ciphertexts_of(operation):
            if value in self.levels and self.levels[value].degree > 1:
                self.site.exchange(operation, value, self._rescale(operation, value))

    def _rescale(self, anchor: Operation, value: SSAValue) -> SSAValue:
        if value not in self.rescaled:
            made = self.site.insert(home(anchor, value), RescaleOp, value)
            level = self.levels[value]
            self.rescaled[value] = made
            self.levels[made] = _Level(level.depth + 1, level.degree - 1)
        return self.rescaled[value]
