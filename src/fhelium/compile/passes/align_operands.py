"""AlignOperandsPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import branch_yields, flow, home, require_agreement, yield_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import Site, ciphertexts_of, outcome
from fhelium.compile.states import STATES, infer_open_states, is_open, settle
from fhelium.errors import StateError
from fhelium.ir.dialects.ckks import (
    AlignOp,
    CiphertextType,
    ModSwitchOp,
    MultiplyPlaintextOp,
    MultiplyScalarOp,
    RescaleOp,
)
from fhelium.ir.dialects.codec import PreparePlaintextOp
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.types import StatefulType


@dataclass(frozen=True)
class AlignOperandsPass(CompilePass):
    """Bring operands that must agree to one depth, at exactly its canonical scale.

    The deepest operand decides. A public factor on the way absorbs the alignment: primes are
    dropped before it, for nothing, and its scale makes the product canonical. Rotations and sums
    with public values move behind the alignment, where ciphertexts are smaller. After this pass
    every state must fit.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x * x + x,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations if op.name.startswith("ckks.")]
        ['ckks.multiply_rescale', 'ckks.align', 'ckks.add']
    """

    def run(self, compilation: Compilation) -> None:
        program, config = compilation.program, compilation.workspace.config
        if not is_open(program):
            return
        self._require_known(compilation)
        infer_open_states(program, config)
        _Alignment(Site(program, config)).go_through(program.block)
        del program.module.attributes[STATES]

    def _require_known(self, compilation: Compilation) -> None:
        for index, entry in enumerate(compilation.program.inputs):
            if isinstance(entry.type, CiphertextType):
                missing = [axis for axis in ("depth", "scale") if axis not in entry.type.known]
                if missing:
                    raise self.refusal(
                        index,
                        f"input {entry.name}",
                        f"its {missing[0]} is not known",
                        "Alignment computes with depths and scales",
                        "Name it in the input's spec, or run AssignCkksDepthsPass and "
                        "AssignCkksScalesPass first",
                    )


class _Alignment:
    """Go through a Program whose states fit up to the operation at hand."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._made: dict[tuple[SSAValue, int, type], SSAValue] = {}

    def go_through(self, block: Block) -> None:
        """Make all fit in a block and in its regions."""
        for operation in tuple(block.ops):
            if isinstance(operation, scf.ForOp):
                self.visit_loop(operation)
            elif isinstance(operation, scf.IfOp):
                self.visit_branches(operation)
            elif isinstance(operation, DeclaredOperation):
                self.visit(operation)

    def visit_loop(self, loop: scf.ForOp) -> None:
        """Let rounds end at the depth that they start from, or start at the one they come back to.

        Raises:
            StateError: Each round takes depth.
        """
        program, refused = self.site.program, None
        for _ in range(len(loop.iter_args) + 1):
            again = loop.clone()
            flow(program, loop)
            self.go_through(loop.body.block)
            end = yield_of(loop.body.block)
            for index, given in enumerate(end.operands, start=3):  # behind the bounds and the step
                start = loop.operands[index]
                depths = [_known(value).get("depth", 0) for value in (start, given)]
                if depths[0] < depths[1]:
                    again.operands[index] = self.aligned(loop, start, depths[1])
                elif depths[0] > depths[1]:
                    self.site.exchange(end, given, self.aligned(end, given, depths[0]))
            try:
                require_agreement(program, end)
            except StateError as error:
                refused = refused or error
            else:
                if refused is None or all(_known(value) for value in ciphertexts_of(end)):
                    return
                raise refused  # rounds ran out of depth
            Rewriter.replace_op(loop, again)
            loop = again
        assert refused is not None
        raise refused

    def visit_branches(self, branch: scf.IfOp) -> None:
        """Let both branches give their results at the depth of the deeper one."""
        ends = branch_yields(branch)
        for end in ends:
            assert end.parent is not None
            self.go_through(end.parent)
        for index in range(len(branch.results)):
            values = [end.operands[index] for end in ends]
            states = [_known(value) for value in values]
            if all(states) and any(state != states[0] for state in states):
                target = self._deepest(states)
                for end, value in zip(ends, values, strict=True):
                    self.site.exchange(end, value, self.aligned(end, value, target))
        for end in ends:
            flow(self.site.program, end)

    def visit(self, operation: DeclaredOperation) -> None:
        """Make the operands of an operation fit one another."""
        settle(self.site.program, operation, self.site.config)
        for _ in range(2):  # depths first, and then scales at that depth
            values = [
                v for v in ciphertexts_of(operation) if _known(v).keys() == {"depth", "scale"}
            ]
            if len(values) > 1 and outcome(operation, self.site.config, _known) is None:
                target = self._target(operation, values)
                for value in values:
                    aligned = self.aligned(operation, value, target)
                    self.site.exchange(operation, value, aligned)

    def _target(self, operation: DeclaredOperation, values: list[SSAValue]) -> int:
        """Return the smallest depth at which the operands can meet."""
        states = [_known(value) for value in values]
        deepest = max(state["depth"] for state in states)
        fits = outcome(operation, self.site.config, _scale_only)
        return deepest if fits else self._deepest(states)

    def _deepest(self, states: list[dict[str, Any]]) -> int:
        """Return the smallest depth at which states can meet at its canonical scale."""
        deepest = max(state["depth"] for state in states)
        scale = self.site.config.scale_at(deepest)
        return deepest + any(s["scale"] != scale for s in states if s["depth"] == deepest)

    def aligned(self, anchor: Operation, value: SSAValue, depth: int) -> SSAValue:
        """Return a value at a depth and its canonical scale; one that is there already as it is."""
        state = _known(value)
        if state == {"depth": depth, "scale": self.site.config.scale_at(depth)}:
            return value
        return self._lowered(anchor, value, depth, AlignOp)

    def _lowered(self, anchor: Operation, value: SSAValue, depth: int, how: type) -> SSAValue:
        """Return a value at a depth, lowered as early as that costs nothing more."""
        key = (value, depth, how)
        if key not in self._made:
            self._made[key] = self._lower(home(anchor, value), value, depth, how)
        return self._made[key]

    def _lower(self, anchor: Operation, value: SSAValue, depth: int, how: type) -> SSAValue:
        owner, state = value.owner, _known(value)
        if how is ModSwitchOp and state["depth"] == depth:
            return value
        if isinstance(owner, DeclaredOperation) and _single_use(value):
            inner = ciphertexts_of(owner)
            if how is AlignOp and isinstance(owner, RescaleOp) and _absorbs(inner[0]):
                product = self._product(anchor, inner[0], depth - 1)
                return self.site.remake(anchor, owner, inner[0], product)
            if len(inner) == 1 and _known(inner[0]) == state and _moves(owner):
                lowered = self._lowered(anchor, inner[0], depth, how)
                return self.site.remake(anchor, owner, inner[0], lowered)
        return self.site.insert(anchor, how, value, depth=depth)

    def _product(self, anchor: Operation, value: SSAValue, depth: int) -> SSAValue:
        """Return a public product at a depth; its own scale makes up for what is dropped."""
        owner = value.owner
        assert isinstance(owner, DeclaredOperation)
        (inner,) = ciphertexts_of(owner)
        if _is_public_product(owner):
            lowered = self._lowered(anchor, inner, depth, ModSwitchOp)
        else:
            lowered = self._product(anchor, inner, depth)
        return self.site.remake(anchor, owner, inner, lowered)


def _known(value: SSAValue) -> dict[str, Any]:
    """Return what a value's type knows of depth and scale."""
    known = value.type.known if isinstance(value.type, StatefulType) else {}
    return {axis: known[axis] for axis in ("depth", "scale") if axis in known}


def _scale_only(value: SSAValue) -> dict[str, Any]:
    return {axis: found for axis, found in _known(value).items() if axis == "scale"}


def _single_use(value: SSAValue) -> bool:
    """Say whether one operation uses a value, apart from the vectors prepared for it."""
    users = {use.operation for use in value.uses}
    return sum(not isinstance(user, PreparePlaintextOp) for user in users) == 1


def _absorbs(value: SSAValue) -> bool:
    """Say whether a value is a product whose public factor can take in an alignment's."""
    owner = value.owner
    if not isinstance(owner, DeclaredOperation) or not _single_use(value):
        return False
    inner = ciphertexts_of(owner)
    passes_on = len(inner) == 1 and _moves(owner) and _absorbs(inner[0])
    return _is_public_product(owner) or passes_on


def _is_public_product(operation: DeclaredOperation) -> bool:
    """Say whether an operation multiplies by a constant whose scale is still free."""
    if isinstance(operation, MultiplyScalarOp):
        return operation.scale is None
    return isinstance(operation, MultiplyPlaintextOp) and isinstance(
        operation.plaintext.owner, PreparePlaintextOp
    )


def _moves(operation: DeclaredOperation) -> bool:
    """Say whether an operation costs no more behind an alignment than before it."""
    facts = operation.FACTS
    if any(
        isinstance(v.type, StatefulType)
        and not isinstance(v.type, CiphertextType)
        and not isinstance(v.owner, PreparePlaintextOp)
        for v in operation.operands
    ):
        return False  # a plaintext that comes encoded has a depth of its own
    return (facts.limb_wise or facts.needs_key) and len(operation.results) == 1
