"""Borders of regions: what enters a loop or a branch, and what leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium.errors import StateError
from fhelium.ir.dialects.core import CastOp
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType


def block_of(value: SSAValue) -> Block | None:
    """Return the block that defines a value."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def encloses(block: Block | None, operation: Operation) -> bool:
    """Say whether a block holds an operation, itself or in a region."""
    here: Operation | None = operation
    while here is not None and here.parent is not block:
        here = here.parent_op()
    return here is not None


def home(operation: Operation, value: SSAValue) -> Operation:
    """Return the operation of a value's own block that is, or holds, one that uses the value.

    What is made of the value in front of it can be used wherever the value can be from there on:
    it does not belong to one branch alone, and is not made anew in each round.
    """
    block, here = block_of(value), operation
    while here.parent is not block:
        around = here.parent_op()
        assert around is not None
        here = around
    return here


def yield_of(block: Block) -> scf.YieldOp:
    """Return the end of a region's block."""
    assert isinstance(block.last_op, scf.YieldOp)
    return block.last_op


def branch_yields(branch: scf.IfOp) -> list[scf.YieldOp]:
    """Return the ends of both branches."""
    regions = (branch.true_region, branch.false_region)
    return [yield_of(block) for region in regions for block in region.blocks]


def crossings(operation: Operation) -> list[tuple[SSAValue, SSAValue]]:
    """Pair what enters or leaves a region at an operation with the value that it becomes."""
    if isinstance(operation, scf.ForOp):
        targets = (*operation.body.block.args[1:], *operation.results)
        return list(zip(2 * tuple(operation.iter_args), targets, strict=True))
    around = operation.parent_op()
    if isinstance(operation, scf.YieldOp) and isinstance(around, scf.IfOp):
        return list(zip(operation.operands, around.results, strict=True))
    return []


def flow(program: Program, operation: Operation) -> None:
    """Carry types across the border of a region; called on the operations in their order.

    What a loop carries has the type of what it starts from. A result of a branch knows what both
    sides know alike.
    """
    around = operation.parent_op()
    if isinstance(operation, scf.ForOp):
        for index, value in enumerate(operation.iter_args):
            program.retype(operation.body.block.args[index + 1], value.type)
            program.retype(operation.results[index], value.type)
    elif isinstance(operation, scf.YieldOp) and isinstance(around, scf.IfOp):
        ends = branch_yields(around)
        ends = ends[: ends.index(operation) + 1]
        for index in range(len(around.results)):
            kinds = [end.operands[index].type for end in ends]
            program.retype(around.results[index], shared_type(kinds))


def shared_type(kinds: Sequence[Attribute]) -> Attribute:
    """Return the type that knows what all of some types know alike; the first where they differ."""
    first, *others = kinds
    if not isinstance(first, StatefulType):
        return first
    known = first.known
    for kind in others:
        if isinstance(kind, type(first)):
            known = {axis: known[axis] for axis in known if kind.known.get(axis) == known[axis]}
    return first.of(**known)


def require_agreement(
    program: Program, operation: scf.YieldOp, *, kinds_only: bool = False
) -> None:
    """Refuse rounds that end in another state than they start from, and branches that differ.

    Args:
        program: The Program.
        operation: The end of a region.
        kinds_only: Compare what kinds of values they are; their states need not fit yet.

    Raises:
        StateError: The text names the loop or branch and both values.
    """
    around = operation.parent_op()
    if isinstance(around, scf.ForOp):
        others: Sequence[SSAValue] = around.body.block.args[1:]
        says = "it carries {} into a round and {} out of it"
        rule = "A loop is linked once for all its rounds, so what it carries keeps its state"
        remedy = (
            "Give it a constant bound, so that UnrollControlFlowPass writes each round out, or "
            "bring the value back inside the loop"
        )
    else:
        assert isinstance(around, scf.IfOp)
        others = branch_yields(around)[0].operands
        says = "its branches give {} and {}"
        rule = "A result has one state, whichever branch is taken"
        remedy = "Run AlignOperandsPass after OpenStatesPass, or bring both to one state"
    for other, given in zip(others, operation.operands, strict=True):
        found = difference(other.type, given.type, kinds_only)
        if found is not None:
            index = program.operations.index(around)
            where = f"operation {index} ({around.name})"
            fields: dict[str, Any] = {"index": index, "name": around.name}
            raise StateError(where, says.format(*found), rule, remedy, **fields)


def difference(
    first: Attribute, second: Attribute, kinds_only: bool = False
) -> tuple[str, str] | None:
    """Name what two types say differently; above ckks a state is not chosen yet."""
    if not isinstance(first, StatefulType) or not isinstance(second, type(first)):
        names = f"a value of type {first.name}", f"a value of type {second.name}"
        return None if first == second else names
    if kinds_only or "slots" in first.AXES:
        return None
    known = second.known
    for axis, value in first.known.items():
        if known.get(axis, value) != value:
            label = axis.replace("_", " ")
            return f"{label} {value}", f"{label} {known[axis]}"
    return None


def open_borders(program: Program) -> None:
    """Take the casts in front of yields away, so that passes see what is yielded."""
    for operation in program.operations:
        if isinstance(operation, scf.YieldOp):
            for position, value in enumerate(operation.operands):
                cast = value.owner
                while isinstance(cast, CastOp) and isinstance(cast.input.type, type(value.type)):
                    operation.operands[position] = cast.input
                    inner = cast.input.owner
                    if cast.result.first_use is None:
                        cast.detach()
                        cast.erase()
                    cast = inner


def close_borders(program: Program) -> None:
    """Carry types across all borders, and cast what is yielded with another knowledge."""
    for operation in program.operations:
        flow(program, operation)
    for operation in program.operations:
        if isinstance(operation, scf.YieldOp):
            around = operation.parent_op()
            assert around is not None
            for position, target in enumerate(around.results):
                value = operation.operands[position]
                if value.type != target.type and isinstance(value.type, type(target.type)):
                    cast = CastOp.build(operands=[value], result_types=[target.type])
                    block_of_yield = operation.parent
                    assert block_of_yield is not None
                    block_of_yield.insert_op_before(cast, operation)
                    operation.operands[position] = cast.result
