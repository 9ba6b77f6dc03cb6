"""PlaceRelinearizationsPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Operation, SSAValue

from fhelium.compile.borders import crossings, home
from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import (
    Site,
    ciphertexts_of,
    on_ciphertexts,
    outcome,
    replace_later_uses,
)
from fhelium.compile.states import is_placed
from fhelium.ir.dialects.ckks import CiphertextType, RelinearizationKeyType, RelinearizeOp
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class PlaceRelinearizationsPass(CompilePass):
    """Bring products back to two components where an operation or an output needs it.

    A rescale takes three components, but its rounding of the third is multiplied by the square of
    the secret: about sqrt(2N/3) times the error. So a product is reduced before it is rescaled.
    Run this pass after PlaceRescalesPass.

    Args:
        when: "late": sums of products are relinearized once, when their value is needed;
            "immediate": each product is.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x + x * torch.roll(x, 3),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations].count("ckks.relinearize")
        1
    """

    when: Literal["late", "immediate"] = "late"

    def run(self, compilation: Compilation) -> None:
        if is_placed(compilation.program):
            return
        placement = _Relinearizations(compilation)
        for operation in on_ciphertexts(compilation.program):
            if not isinstance(operation, DeclaredOperation):
                placement.cross(operation)
                continue
            placement.visit(operation)
            if self.when == "immediate":
                placement.follow(operation)


class _Relinearizations:
    """Count components in order and reduce three of them where a rule refuses them."""

    def __init__(self, compilation: Compilation) -> None:
        self.program, self.config = compilation.program, compilation.workspace.config
        self.site = Site(self.program, self.config)
        self.materials = ProgramMaterials(self.program)
        self.reduced: dict[SSAValue, SSAValue] = {}
        self.counts: dict[SSAValue, int | None] = {
            entry.value: entry.type.known.get("components")
            for entry in self.program.inputs
            if isinstance(entry.type, CiphertextType)
        }

    def visit(self, operation: DeclaredOperation) -> None:
        """Reduce what the operation refuses and count what it gives."""
        rounds = operation.FACTS.consumes_depth and not operation.FACTS.limb_wise
        if rounds or outcome(operation, self.config, self._known) is None:
            self._reduce_operands(operation)
        found = outcome(operation, self.config, self._known)
        for result in operation.results:
            self.counts[result] = None if found is None else found.components

    def follow(self, operation: Operation) -> None:
        """Reduce a result of three components right behind its operation."""
        for result in operation.results:
            if self.counts[result] == 3:
                anchor = operation.next_op
                assert anchor is not None
                reduced = self._relinearized(anchor, result)
                replace_later_uses(result, reduced)

    def cross(self, operation: Operation) -> None:
        """Reduce what crosses the border of a region or of the Program."""
        self._reduce_operands(operation)
        self.counts.update([(to, self.counts.get(v)) for v, to in crossings(operation)])

    def _known(self, value: SSAValue) -> dict[str, int | None]:
        return {"components": self.counts.get(value)}

    def _reduce_operands(self, operation: Operation) -> None:
        for value in ciphertexts_of(operation):
            if self.counts.get(value) == 3:
                self.site.exchange(operation, value, self._relinearized(operation, value))

    def _relinearized(self, anchor: Operation, value: SSAValue) -> SSAValue:
        if value not in self.reduced:
            (symbol,) = RelinearizeOp.key_symbols()
            key = self.materials.value(symbol, RelinearizationKeyType())
            place = home(anchor, value)
            self.reduced[value] = self.site.insert(place, RelinearizeOp, value, key)
            self.counts[self.reduced[value]] = 2
        return self.reduced[value]
