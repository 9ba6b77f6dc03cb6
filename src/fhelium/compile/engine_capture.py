"""Capture of functions that are written against the Engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute

from fhelium.compile.borders import close_borders
from fhelium.compile.compilation import Compilation
from fhelium.compile.places import place, raising_frame
from fhelium.compile.public_numbers import SymbolicNumber
from fhelium.compile.states import STATES
from fhelium.compile.symbolic_engine import SymbolicEngine
from fhelium.compile.symbolic_values import (
    Symbolic,
    SymbolicCiphertext,
    SymbolicMessage,
    SymbolicPlaintext,
)
from fhelium.compile.workspace import CompileWorkspace
from fhelium.errors import CaptureError, FHEliumError
from fhelium.ir.dialects.ckks import CiphertextType, PlaintextType
from fhelium.ir.dialects.codec import MessageType
from fhelium.ir.dialects.logical import ROLES
from fhelium.ir.dialects.semantic import TensorType
from fhelium.ir.program import Program
from fhelium.ir.types import ValueType

_STAND_INS: dict[type, type[Symbolic]] = {
    CiphertextType: SymbolicCiphertext,
    PlaintextType: SymbolicPlaintext,
    MessageType: SymbolicMessage,
}


def capture_calls(
    name: str,
    function: Callable[..., Any],
    engines: Sequence[str],
    inputs: Mapping[str, Attribute],
    fixed: Mapping[str, Any],
    workspace: CompileWorkspace,
) -> Compilation:
    """Call the function once on a symbolic engine and values; ``capture`` says how.

    Args:
        name: Name of the Program.
        function: The user's function.
        engines: Parameters that are the engine.
        inputs: The other inputs, in order.
        fixed: Static arguments.
        workspace: Holds the parameters.
    """
    types = {key: _ckks_type(kind) for key, kind in inputs.items()}
    program = Program.create(name, list(types.items()))
    compilation = Compilation(program, workspace)
    engine = SymbolicEngine(compilation)
    values: dict[str, Any] = {}
    for (key, kind), argument in zip(types.items(), program.block.args, strict=True):
        if isinstance(kind, ValueType):
            values[key] = _STAND_INS[type(kind)].of(argument, kind.state(engine.config))
        else:
            values[key] = SymbolicNumber(engine, argument)
    try:
        result = function(**dict.fromkeys(engines, engine), **values, **fixed)
    except CaptureError:
        raise
    except FHEliumError as error:
        where = f"{place(raising_frame(error))}: {error.operation}"
        raise type(error)(where, error.fact, error.rule, error.remedy, **error.fields) from error
    results = result if isinstance(result, tuple | list) else [result]
    for entry in results:
        if not isinstance(entry, SymbolicCiphertext | SymbolicPlaintext):
            raise CaptureError(
                f"capture of {name}",
                f"the function returns a {type(entry).__name__}",
                "A Program returns ciphertexts that are made of its inputs",
                "Return one such ciphertext or a tuple of them",
            )
    program.finish([engine.value_of(entry) for entry in results])
    close_borders(program)
    program.set_attribute(STATES, "placed")
    program.verify()
    return compilation


def _ckks_type(kind: Attribute) -> Attribute:
    """Return the type that an input has for the Engine."""
    if not isinstance(kind, TensorType):
        return kind
    axes = kind.known
    return ROLES[axes["role"]].of(**axes).lowered()
