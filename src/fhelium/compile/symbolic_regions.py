"""Loops and branches in functions that are written against the Engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from fhelium.compile.borders import difference, shared_type
from fhelium.compile.places import place, user_frame
from fhelium.compile.public_numbers import SymbolicNumber, condition_of, number
from fhelium.compile.symbolic_values import SymbolicCiphertext
from fhelium.errors import CaptureError


def repeat_calls(
    count: SymbolicNumber, body: Callable[..., Any], values: Sequence[Any]
) -> list[SymbolicCiphertext]:
    """Write a loop as scf.for, its body once; ``repeat`` says how."""
    engine = count.engine
    starts = [engine.value_of(value) for value in values]
    block = Block(arg_types=[IndexType(), *(start.type for start in starts)])
    carried = [_stand_in(engine, value) for value in block.args[1:]]
    ends = _written(engine, block, lambda: body(*carried))
    _require_pairs(starts, ends, "a loop carries {} into a round and {} out of it")
    first, last, step = (number(engine, value, IndexType()) for value in (0, count.value, 1))
    made = scf.ForOp(first, last, step, starts, Region(block))
    engine.block.add_op(made)
    return [_stand_in(engine, value) for value in made.results]


def branch_calls(
    condition: SymbolicNumber, functions: Sequence[Callable[..., Any]], operands: Sequence[Any]
) -> list[SymbolicCiphertext]:
    """Write a branch as scf.if."""
    engine, blocks = condition.engine, [Block(), Block()]
    ends = [
        _written(engine, block, lambda function=function: function(*operands))
        for block, function in zip(blocks, functions, strict=True)
    ]
    _require_pairs(ends[0], ends[1], "the branches give {} and {}")
    kinds = [shared_type([value.type for value in pair]) for pair in zip(*ends, strict=True)]
    holds = condition_of(engine, condition.value)
    made = scf.IfOp(holds, kinds, Region(blocks[0]), Region(blocks[1]))
    engine.block.add_op(made)
    return [_stand_in(engine, value) for value in made.results]


def _written(engine: Any, block: Block, function: Callable[[], Any]) -> list[SSAValue]:
    """Call a function whose calls are written into a block, and yield what it returns."""
    with engine.inside(block):
        found = function()
        results = found if isinstance(found, tuple | list) else [found]
        for entry in results:
            if not isinstance(entry, SymbolicCiphertext):
                raise CaptureError(
                    place(user_frame()),
                    f"a {type(entry).__name__} leaves a loop or a branch",
                    "What leaves them are ciphertexts",
                    "Return ciphertexts, one or a tuple of them",
                )
        values = [engine.value_of(entry) for entry in results]
    block.add_op(scf.YieldOp(*values))
    return values


def _require_pairs(first: list[SSAValue], second: list[SSAValue], says: str) -> None:
    found: tuple[str, str] | None = None
    if len(first) != len(second):
        found = f"{len(first)} values", f"{len(second)}"
    else:
        pairs = zip(first, second, strict=True)
        found = next(filter(None, (difference(a.type, b.type) for a, b in pairs)), None)
    if found is not None:
        raise CaptureError(
            place(user_frame()),
            says.format(*found),
            "It is linked once for all rounds and ways, so its values have one state each",
            "Bring both to one state with the engine's methods, or make the number static",
        )


def _stand_in(engine: Any, value: SSAValue) -> SymbolicCiphertext:
    """Return the stand-in for what is known in any round; of bounds nothing is."""
    kind: Any = value.type
    return SymbolicCiphertext.of(value, kind.state(engine.config))
