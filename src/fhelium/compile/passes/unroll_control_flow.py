"""UnrollControlFlowPass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.passes.eliminate_dead_values import eliminate_dead_values
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.control_flow import constant_number, number_function
from fhelium.ir.program import Program

LONGEST = 10_000


@dataclass(frozen=True)
class UnrollControlFlowPass(CompilePass):
    """Write out each scf.for and scf.if whose bounds or condition are constants.

    Each round of a loop may take depth of its own, so a round is not the same operations as the
    next. Whatever is nested is written out as well. What the inputs of a run decide stays.

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
        while found := list(_constant_ones(program.block)):
            for operation in found:
                if isinstance(operation, scf.ForOp):
                    self._unroll(program, operation)
                elif isinstance(operation, scf.IfOp):
                    _choose(operation)
        eliminate_dead_values(program)

    def _unroll(self, program: Program, loop: scf.ForOp) -> None:
        first, last, step = (_constant(value) or 0 for value in (loop.lb, loop.ub, loop.step))
        rounds = range(first, last, step) if step > 0 else range(0)
        if step <= 0 or len(rounds) > LONGEST:
            raise self.refusal(
                program.operations.index(loop),
                loop.name,
                f"it goes from {first} to {last} by {step}",
                f"A loop has a step above 0 and at the most {LONGEST} rounds",
                "Correct its bounds",
            )
        values: Sequence[SSAValue] = tuple(loop.iter_args)
        block = loop.body.block
        for count in rounds:
            number = arith.ConstantOp(IntegerAttr(count, IndexType()))
            Rewriter.insert_op(number, InsertPoint.before(loop))
            values = _written_out(block, [number.result, *values], loop)
        Rewriter.replace_op(loop, [], list(values))


def _choose(branch: scf.IfOp) -> None:
    region = branch.true_region if _constant(branch.cond) else branch.false_region
    values = _written_out(region.block, [], branch) if region.blocks else ()
    Rewriter.replace_op(branch, [], list(values))


def _constant(value: SSAValue) -> int | None:
    """Return a number that is known now, also where it is computed from such; None for others."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    function = number_function(owner)
    if function is None:
        return constant_number(owner)
    numbers = [_constant(operand) for operand in owner.operands]
    return None if None in numbers else function(*numbers)


def _constant_ones(block: Block) -> Iterator[Operation]:
    """Find what can be written out and is not inside of another."""
    for operation in block.ops:
        deciding: tuple[SSAValue, ...] = ()
        if isinstance(operation, scf.ForOp):
            deciding = (operation.lb, operation.ub, operation.step)
        elif isinstance(operation, scf.IfOp):
            deciding = (operation.cond,)
        if deciding and None not in map(_constant, deciding):
            yield operation
            continue
        for region in operation.regions:
            for inner in region.blocks:
                yield from _constant_ones(inner)


def _written_out(block: Block, arguments: Sequence[SSAValue], anchor: Operation) -> list[SSAValue]:
    """Insert a copy of a block's operations in front of one, and return what the block yields."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    yielded: list[SSAValue] = []
    for operation in block.ops:
        if isinstance(operation, scf.YieldOp):
            yielded = [mapping.get(value, value) for value in operation.operands]
        else:
            Rewriter.insert_op(operation.clone(mapping), InsertPoint.before(anchor))
    return yielded
