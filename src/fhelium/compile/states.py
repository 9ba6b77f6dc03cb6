"""State inference: each operation's own transfer rule on what is known so far."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from fhelium.compile.borders import close_borders, flow, open_borders, require_agreement
from fhelium.compile.compilation import Compilation
from fhelium.config import CkksConfig
from fhelium.errors import FHEliumError, PassError
from fhelium.ir.dialects.core import CastOp
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType, ValueType
from fhelium.values import CkksState


def state_of(value: SSAValue, config: CkksConfig) -> CkksState:
    """Return what is known of a value's state."""
    assert isinstance(value.type, ValueType)
    return value.type.state(config)


def operand_states(operation: DeclaredOperation, config: CkksConfig) -> list[Any]:
    """Return what the operands' types say of their states, as ``transfer`` takes them."""
    return operation.operand_states(config, lambda value: state_of(value, config))


def result_state(operation: DeclaredOperation, config: CkksConfig) -> CkksState:
    """Return the state of an operation's results, or raise what is wrong with its operands."""
    return operation.transfer(*operand_states(operation, config), **operation.python_attributes())


STATES = "ckks.states"
"""Attribute of a Program: "open" where states need not fit yet, as passes place what makes them
fit; "placed" where whoever wrote its calls has placed it all."""


def is_open(program: Program) -> bool:
    """Say whether placement passes still have to make the states fit."""
    return program.attributes().get(STATES) == "open"


def is_placed(program: Program) -> bool:
    """Say whether placement passes leave a Program as it was written."""
    return program.attributes().get(STATES) == "placed"


def infer_open_states(program: Program, config: CkksConfig) -> None:
    """Find what the inputs imply anew; where operands do not fit, nothing is known of a result."""
    for operation in program.operations:
        settle(program, operation, config)
        flow(program, operation)
    program.update_signature()


def settle(program: Program, operation: Operation, config: CkksConfig) -> None:
    """Find the types of an operation's results anew from its operands' as they are now."""
    for result in operation.results:
        kind = result.type
        if isinstance(kind, StatefulType) and isinstance(operation, DeclaredOperation):
            try:
                found = kind.of().of_state(result_state(operation, config))
            except FHEliumError:
                found = kind.of()
            program.retype(result, found)


def infer_states(program: Program, config: CkksConfig) -> None:
    """Fill in all that the inputs' types imply for the values of a Program, in place.

    Raises:
        FHEliumError: What the operation's transfer rule raises: the class and the sentences that
            the same call of an Engine gives, with the operation's index and name in front.
        PassError: A type says something else than what the operands give.
    """
    for index, operation in enumerate(program.operations):
        if isinstance(operation, DeclaredOperation):
            state = _checked(index, operation, config)
            for result in operation.results:
                kind = result.type
                assert isinstance(kind, StatefulType)
                _fill(program, index, operation, result, kind.of_state(state).known)
        elif isinstance(operation, CastOp):
            source, target = operation.input.type, operation.result.type
            if isinstance(source, StatefulType) and isinstance(target, StatefulType):
                known = target.of(**{**target.known, **source.known}).known
                _fill(program, index, operation, operation.result, known)
        elif isinstance(operation, scf.YieldOp):
            require_agreement(program, operation)
        flow(program, operation)
    program.update_signature()


def _checked(index: int, operation: DeclaredOperation, config: CkksConfig) -> CkksState:
    try:
        return result_state(operation, config)
    except FHEliumError as error:
        raise type(error)(
            f"operation {index} ({operation.name})",
            error.fact,
            error.rule,
            error.remedy,
            **{**error.fields, "index": index, "name": operation.name},
        ) from error


def _fill(
    program: Program, index: int, operation: Operation, result: SSAValue, found: dict[str, Any]
) -> None:
    kind = result.type
    assert isinstance(kind, StatefulType)
    for axis, value in kind.known.items():
        if found.get(axis, value) != value:
            raise PassError(
                f"operation {index} ({operation.name})",
                f"the result's {axis} is {value}, the operands give {found[axis]}",
                "A type says what the operation gives",
                "Correct the text, or leave the axis out of it",
                index=index,
                name=operation.name,
            )
    program.retype(result, kind.replace(**found))


def infer_compilation(compilation: Compilation) -> None:
    """Infer the states of a compilation's Program, and its outputs' scale where that left it."""
    config = compilation.workspace.config
    for program in (compilation.program, compilation.state_program):
        if program is not None:
            open_borders(program)
            infer = infer_open_states if is_open(program) else infer_states
            infer(program, config)
            close_borders(program)
    if compilation.state_program is None:
        return
    outputs = zip(compilation.program.outputs, compilation.state_program.outputs, strict=True)
    for output, known in outputs:
        if type(output.type) is type(known.type):
            compilation.program.retype(output, known.type)
    compilation.program.update_signature()
