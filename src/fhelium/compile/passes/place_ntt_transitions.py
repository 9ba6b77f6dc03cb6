"""PlaceNttTransitionsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import branch_yields, crossings, home
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
from fhelium.ir.dialects.ckks import (
    CiphertextType,
    CoefficientToNttOp,
    FromMontgomeryOp,
    PlaintextType,
)
from fhelium.ir.dialects.codec import PreparePlaintextOp
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class PlaceNttTransitionsPass(CompilePass):
    """Transform to the NTT domain once, where products would do so again and again.

    If the Program multiplies, inputs are transformed before their first use and everything stays
    in the NTT domain. In any case operands that must be in one domain are brought there.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="coefficient")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations if op.name.startswith("ckks.")]
        ['ckks.coefficient_to_ntt', 'ckks.multiply_rescale']
    """

    def run(self, compilation: Compilation) -> None:
        if is_placed(compilation.program):
            return
        transitions = _Transitions(compilation)
        if transitions.many():
            transitions.transform_inputs()
        for operation in on_ciphertexts(compilation.program):
            if isinstance(operation, DeclaredOperation):
                transitions.visit(operation)
            else:
                transitions.cross(operation)


def _standard(value: SSAValue) -> SSAValue:
    """Return an input in the form that operations take."""
    users = (use.operation for use in value.uses)
    found = next((user for user in users if isinstance(user, FromMontgomeryOp)), None)
    return value if found is None else found.result


class _Transitions:
    """Follow the domain of each value in order."""

    def __init__(self, compilation: Compilation) -> None:
        self.program, self.config = compilation.program, compilation.workspace.config
        self.site = Site(self.program, self.config)
        self.domains: dict[SSAValue, str | None] = {
            _standard(entry.value): entry.type.known.get("polynomial_domain")
            for entry in self.program.inputs
            if isinstance(entry.type, CiphertextType)
        }
        self.transformed: dict[SSAValue, SSAValue] = {}

    def many(self) -> bool:
        """Say whether products would transform repeatedly, or rounds that mix two domains."""
        operations = list(on_ciphertexts(self.program))
        multiplies = any(isinstance(op, DeclaredOperation) and op.FACTS.in_ntt for op in operations)
        loops = any(isinstance(op, scf.ForOp) for op in operations)
        return multiplies or (loops and len(set(self.domains.values())) > 1)

    def transform_inputs(self) -> None:
        """Transform each input before the first operation on it."""
        for value in list(self.domains):
            users = [op for op in on_ciphertexts(self.program) if value in op.operands]
            if any(not isinstance(user, ReturnOp) for user in users):
                anchor = next(op for op in self.program.operations if value in op.operands)
                made = self._transform(anchor, value)
                replace_later_uses(value, made)

    def visit(self, operation: DeclaredOperation) -> None:
        """Transform what the operation refuses and note the domain of what it gives."""
        operand = operation.operands[0]
        if isinstance(operation, CoefficientToNttOp) and self.domains.get(operand) == "ntt":
            Rewriter.replace_op(operation, [], [operand])  # it was transformed at the input
            return
        if outcome(operation, self.config, self._known) is None:
            for value in ciphertexts_of(operation):
                self.site.exchange(operation, value, self._transform(operation, value))
        found = outcome(operation, self.config, self._known)
        domain = None if found is None else found.polynomial_domain
        self.domains.update(dict.fromkeys(operation.results, domain))

    def cross(self, operation: Operation) -> None:
        """Bring what leaves a region to the domain of the other branch, or of a round's start."""
        around = operation.parent_op()
        if isinstance(operation, scf.YieldOp) and around is not None:
            branches = isinstance(around, scf.IfOp)
            ends = branch_yields(around) if isinstance(around, scf.IfOp) else [operation]
            for index, result in enumerate(around.results):
                met = {self.domains.get(end.operands[index]) for end in ends}
                if "ntt" in met or (not branches and self.domains.get(result) == "ntt"):
                    for end in ends:
                        value = end.operands[index]
                        self.site.exchange(end, value, self._transform(end, value))
        self.domains.update([(to, self.domains.get(v)) for v, to in crossings(operation)])

    def _known(self, value: SSAValue) -> dict[str, str | None]:
        domain = self.domains.get(value)
        if isinstance(value.type, PlaintextType) and not isinstance(
            value.owner, PreparePlaintextOp
        ):
            domain = value.type.known.get("polynomial_domain")
        return {"polynomial_domain": domain}

    def _transform(self, anchor: Operation, value: SSAValue) -> SSAValue:
        if self.domains.get(value) != "coefficient":
            return value
        if value not in self.transformed:
            place = home(anchor, value)
            self.transformed[value] = self.site.insert(place, CoefficientToNttOp, value)
            self.domains[self.transformed[value]] = "ntt"
        return self.transformed[value]
