"""UnrollControlFlowPass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.passes.eliminate_dead_values import eliminate_dead_values
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.core import CastOp

LONGEST = 10_000


@dataclass(frozen=True)
class UnrollControlFlowPass(CompilePass):
    """Write scf.for and scf.if out: their bounds and conditions are public and known here.

    Each round of a loop may take depth of its own, so a round is not the same operations as the
    next. Whatever is nested is written out as well.

    Example:
        >>> from fhelium.compile import CompileWorkspace, Pipeline, capture, encrypted, repeat
        >>> captured = capture(lambda x: repeat(3, lambda y: y * y, x), inputs={"x": encrypted()},
        ...                    workspace=CompileWorkspace())
        >>> found = Pipeline((UnrollControlFlowPass(),)).run(captured)
        >>> [op.name for op in found.program.operations].count("semantic.multiply")
        3
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        while True:
            found = [(k, op) for k, op in enumerate(program.operations) if op.regions]
            if not found:
                break
            for index, operation in found:
                if isinstance(operation, scf.ForOp):
                    self._unroll(index, operation)
                elif isinstance(operation, scf.IfOp):
                    self._choose(index, operation)
                else:
                    raise self.refusal(
                        index,
                        operation.name,
                        "it has a region",
                        "Written out are scf.for and scf.if",
                        "Use these",
                    )
        eliminate_dead_values(program)

    def _unroll(self, index: int, loop: scf.ForOp) -> None:
        first, last, step = (
            self._known(index, loop, value, name)
            for value, name in ((loop.lb, "first"), (loop.ub, "last"), (loop.step, "step"))
        )
        rounds = range(first, last, step) if step > 0 else range(0)
        if step <= 0 or len(rounds) > LONGEST:
            raise self.refusal(
                index,
                loop.name,
                f"it goes from {first} to {last} by {step}",
                f"A loop has a step above 0 and at the most {LONGEST} rounds",
                "Correct its bounds",
            )
        values: Sequence[SSAValue] = tuple(loop.iter_args)
        block = loop.body.block
        for count in rounds:
            number = arith.ConstantOp(IntegerAttr(count, IndexType()))
            _insert(number, loop)
            values = _written_out(block, [number.result, *values], loop)
        Rewriter.replace_op(loop, [], list(values))

    def _choose(self, index: int, branch: scf.IfOp) -> None:
        holds = self._known(index, branch, branch.cond, "condition")
        region = branch.true_region if holds else branch.false_region
        values = _written_out(region.block, [], branch) if region.blocks else ()
        Rewriter.replace_op(branch, [], list(values))

    def _known(self, index: int, operation: Operation, value: SSAValue, name: str) -> int:
        """Return a public number that is known now."""
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            return owner.value.value.data
        raise self.refusal(
            index,
            operation.name,
            f"its {name} is no constant",
            "Bounds and conditions are public and known when a Program is specialised",
            "Make it a static argument, or write arith.constant",
        )


def _written_out(block: Block, arguments: Sequence[SSAValue], anchor: Operation) -> list[SSAValue]:
    """Insert a copy of a block's operations in front of one, and return what the block yields."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    yielded: list[SSAValue] = []
    for operation in block.ops:
        if isinstance(operation, scf.YieldOp):
            yielded = [mapping.get(value, value) for value in operation.operands]
        elif isinstance(operation, CastOp) and type(operation.input.type) is type(
            operation.result.type
        ):
            mapping[operation.result] = mapping.get(operation.input, operation.input)
        else:
            _insert(operation.clone(mapping), anchor)
    return yielded


def _insert(operation: Operation, anchor: Operation) -> None:
    block = anchor.parent_block()
    assert block is not None
    block.insert_op_before(operation, anchor)
