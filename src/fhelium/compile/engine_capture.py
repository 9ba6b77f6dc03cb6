"""Capture of functions that are written against the Engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fhelium.compile.compilation import Compilation
from fhelium.compile.places import place, raising_frame
from fhelium.compile.symbolic_engine import SymbolicEngine
from fhelium.compile.symbolic_values import Symbolic, SymbolicCiphertext, SymbolicPlaintext
from fhelium.compile.workspace import CompileWorkspace
from fhelium.errors import CaptureError, CompileInputError, FHEliumError
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.dialects.logical import ROLES
from fhelium.ir.dialects.semantic import TensorType
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType


def capture_calls(
    name: str,
    function: Callable[..., Any],
    engines: Sequence[str],
    inputs: Mapping[str, TensorType],
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
    types = {key: _ckks_type(name, key, kind) for key, kind in inputs.items()}
    program = Program.create(name, list(types.items()))
    compilation = Compilation(program, workspace)
    engine = SymbolicEngine(compilation)
    values: dict[str, Any] = {}
    for (key, kind), argument in zip(types.items(), program.block.args, strict=True):
        stand_in = SymbolicCiphertext if isinstance(kind, CiphertextType) else SymbolicPlaintext
        values[key] = stand_in.of(argument, kind.state(engine.config))
    try:
        result = function(**dict.fromkeys(engines, engine), **values, **fixed)
    except CaptureError:
        raise
    except FHEliumError as error:
        where = f"{place(raising_frame(error))}: {error.operation}"
        raise type(error)(where, error.fact, error.rule, error.remedy, **error.fields) from error
    results = result if isinstance(result, tuple | list) else [result]
    for entry in results:
        if not isinstance(entry, Symbolic):
            raise CaptureError(
                f"capture of {name}",
                f"the function returns a {type(entry).__name__}",
                "A Program returns ciphertexts that are made of its inputs",
                "Return one such ciphertext or a tuple of them",
            )
    program.finish([engine.value_of(entry) for entry in results])
    program.verify()
    return compilation


def _ckks_type(name: str, key: str, kind: TensorType) -> StatefulType:
    """Return the type that an input has for the Engine."""
    axes = kind.known
    found = ROLES[axes["role"]].CKKS
    if not (isinstance(found, type) and issubclass(found, StatefulType)):
        raise CompileInputError(
            f"capture of {name}",
            f"{key!r} is a message",
            "The Engine computes on ciphertexts and encoded vectors",
            "Use plaintext() and pass what engine.prepare_plaintext gives",
        )
    return found.of(**axes)
