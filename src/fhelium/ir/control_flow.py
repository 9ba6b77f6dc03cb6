"""Control flow by public numbers: what loops, branches and integer arithmetic do in a run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium.errors import ExecutionInputError
from fhelium.ir.function import FunctionModule

NUMBER_TYPES: Mapping[Attribute, type] = {IndexType(): int, IntegerType(1): bool}
"""The type of a public number that is an input, and the Python type that carries it."""

ARITHMETIC: Mapping[Callable[..., Any], type[Operation]] = {
    operator.add: arith.AddiOp,
    operator.sub: arith.SubiOp,
    operator.mul: arith.MuliOp,
    operator.and_: arith.AndIOp,
    operator.or_: arith.OrIOp,
    operator.xor: arith.XOrIOp,
}
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
"""Comparisons by the number that stands for each in an ``arith.cmpi``."""

_ON_INTEGERS = (arith.AddiOp, arith.SubiOp, arith.MuliOp)


def number_function(operation: Operation) -> Callable[..., Any] | None:
    """Return the function of Python's ``operator`` that an operation on public numbers stands for.

    None where it is no such operation. One bit neither is added nor has an order.
    """
    if not isinstance(operation, arith.CmpiOp):
        bit = any(value.type == IntegerType(1) for value in operation.operands)
        known = (f for f, kind in ARITHMETIC.items() if type(operation) is kind)
        return None if bit and isinstance(operation, _ON_INTEGERS) else next(known, None)
    predicate = operation.predicate.value.data
    known_here = 2 if operation.lhs.type == IntegerType(1) else len(COMPARISONS)
    return COMPARISONS[predicate] if predicate < known_here else None


def constant_number(operation: Operation) -> int | bool | None:
    """Return the integer that an ``arith.constant`` holds; None where it is no such constant."""
    if not isinstance(operation, arith.ConstantOp) or not isinstance(operation.value, IntegerAttr):
        return None
    number = operation.value.value.data
    return bool(number) if operation.result.type == IntegerType(1) else number


def require_number(operation: str, name: str, kind: Attribute, value: Any) -> None:
    """Refuse what is no value for an input that is a public number."""
    wanted = NUMBER_TYPES[kind]
    if type(value) is wanted and value >= 0:
        return
    shown = f"{value}" if type(value) is wanted else f"a {type(value).__name__}"
    raise ExecutionInputError(
        operation,
        f"{name} is {shown}, needed is {'a bool' if wanted is bool else 'an int of at least 0'}",
        "Rounds are counted by public ints, and branches chosen by public bools",
        "Pass such a value",
        name=name,
    )


def executed(
    program: FunctionModule, values: dict[SSAValue, Any]
) -> Iterator[tuple[int, Operation]]:
    """Go through the operations as a run executes them, each with its index in the Program.

    Loops are gone through round by round, of branches the one that is taken. Operations on public
    numbers are computed here.

    Args:
        program: The Program.
        values: What is known of each value, public numbers among them. What is known of a value
            that crosses the border of a region is known of the one that it becomes.
    """
    indices = {operation: index for index, operation in enumerate(program.operations)}
    for operation in _in_order(program.block, values):
        yield indices[operation], operation


def _in_order(block: Block, values: dict[SSAValue, Any]) -> Iterator[Operation]:
    for operation in block.ops:
        if isinstance(operation, scf.ForOp):
            yield from _rounds(operation, values)
        elif isinstance(operation, scf.IfOp):
            region = operation.true_region if values[operation.cond] else operation.false_region
            for inner in region.blocks:
                yield from _in_order(inner, values)
                _move(inner, operation.results, values)
        elif (function := number_function(operation)) is not None:
            numbers = [values[value] for value in operation.operands]
            values[operation.results[0]] = function(*numbers)
        elif (number := constant_number(operation)) is not None:
            values[operation.results[0]] = number
        elif not isinstance(operation, scf.YieldOp):
            yield operation


def _rounds(loop: scf.ForOp, values: dict[SSAValue, Any]) -> Iterator[Operation]:
    block = loop.body.block
    counter, *carried = block.args
    first, last, step = (values[value] for value in (loop.lb, loop.ub, loop.step))
    _assign(loop.iter_args, carried, values)
    for number in range(first, last, step):
        values[counter] = number
        yield from _in_order(block, values)
        _move(block, carried, values)
    _assign(carried, loop.results, values)


def _move(block: Block, targets: Iterable[SSAValue], values: dict[SSAValue, Any]) -> None:
    last = block.last_op
    assert isinstance(last, scf.YieldOp)
    _assign(last.operands, targets, values)


def _assign(
    sources: Iterable[SSAValue], targets: Iterable[SSAValue], values: dict[SSAValue, Any]
) -> None:
    pairs = zip(sources, targets, strict=True)
    values.update([(target, values[source]) for source, target in pairs if source in values])
