"""Public numbers that are inputs of a run: their stand-ins refuse what needs them now."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, SSAValue

from fhelium.compile.captured_functions import Unsupported
from fhelium.compile.places import place, user_frame
from fhelium.errors import CaptureError
from fhelium.ir.control_flow import ARITHMETIC, COMPARISONS, NUMBER_TYPES


class RunNumber:
    """Stand for a public number that is known at each run; Python cannot decide by it now."""

    def _refuse_decision(self) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "Python decides by a public number that is an input",
            "It is known at each run, and not where the function is captured",
            "Write fhelium.compile.repeat(count, body, x) for a loop and torch.cond(condition, f, "
            "g, operands) for a branch, or make the argument static",
        )

    __bool__ = __int__ = __float__ = __index__ = __iter__ = _refuse_decision


class Writer(Protocol):
    """Write operations at the end of a block."""

    block: Block


class SymbolicNumber(RunNumber):
    """Stand for a public number in a function that is written against the Engine.

    Args:
        engine: Writes what is computed with it.
        value: The Program's value.
    """

    def __init__(self, engine: Any, value: SSAValue) -> None:
        self.engine, self.value = engine, value

    def _computed(self, function: Callable[..., Any], *operands: Any) -> SymbolicNumber:
        values = [entry.value if isinstance(entry, SymbolicNumber) else entry for entry in operands]
        try:
            return SymbolicNumber(self.engine, write_number(self.engine, function, *values))
        except Unsupported as error:
            raise CaptureError(
                place(user_frame()),
                str(error),
                "Public numbers are added, subtracted, multiplied, compared, and joined by & | ^",
                "Use these, or make the argument static",
            ) from error

    __hash__ = None  # type: ignore[assignment]


def _operators(function: Callable[..., Any]) -> None:
    name = function.__name__.strip("_")

    def forwards(self: SymbolicNumber, other: Any) -> SymbolicNumber:
        return self._computed(function, self, other)

    def backwards(self: SymbolicNumber, other: Any) -> SymbolicNumber:
        return self._computed(function, other, self)

    setattr(SymbolicNumber, f"__{name}__", forwards)
    if function in ARITHMETIC:
        setattr(SymbolicNumber, f"__r{name}__", backwards)


for _function in (*ARITHMETIC, *COMPARISONS):
    _operators(_function)


def write_number(emit: Writer, function: Any, *operands: Any) -> SSAValue:
    """Write an operation on public numbers, some of which are known now."""
    kind = next(value.type for value in operands if isinstance(value, SSAValue))
    first, second = (number(emit, value, kind) for value in operands)
    made: Any
    if function in COMPARISONS:
        made = arith.CmpiOp(first, second, COMPARISONS.index(function))
    elif function in ARITHMETIC:
        build: Any = ARITHMETIC[function]
        made = build(first, second)
    else:
        raise Unsupported(f"{getattr(function, '__name__', function)} is called on a public number")
    emit.block.add_op(made)
    return made.results[0]


def number(emit: Writer, value: Any, kind: Any) -> SSAValue:
    """Return a public number of the Program: one that is known becomes a constant."""
    if isinstance(value, SSAValue):
        if value.type != kind:
            raise Unsupported("a public bool stands where an int is needed, or an int for a bool")
        return value
    if type(value) is not NUMBER_TYPES[kind]:
        raise Unsupported(f"a public {NUMBER_TYPES[kind].__name__} meets a {type(value).__name__}")
    made = arith.ConstantOp(IntegerAttr(int(value), kind))
    emit.block.add_op(made)
    return made.result


def condition_of(emit: Writer, value: SSAValue) -> SSAValue:
    """Return a public number as a condition: an int holds unless it is 0."""
    return write_number(emit, operator.ne, value, 0) if value.type == IndexType() else value
