"""What a pass says of the inputs of a Program, at whatever stage it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fhelium.compile.compilation import Compilation
from fhelium.ir.program import Program
from fhelium.ir.types import StatefulType


def assign_entry_axis(
    compilation: Compilation, axis: str, value_of: Callable[[StatefulType], Any]
) -> None:
    """Fill an axis in on every encrypted or encoded input that does not know it yet.

    Args:
        compilation: Changed in place.
        axis: Name of the axis.
        value_of: Gives the value for an input's type, or None where there is none.
    """
    programs = [compilation.program, compilation.state_program]
    for program in programs:
        if program is not None:
            _assign(program, axis, value_of)


def _assign(program: Program, axis: str, value_of: Callable[[StatefulType], Any]) -> None:
    for entry in program.inputs:
        kind = entry.type
        if not isinstance(kind, StatefulType) or axis not in kind.AXES or axis in kind.known:
            continue
        if kind.known.get("role") != "message":
            program.retype(entry.value, kind.replace(**{axis: value_of(kind)}))
    program.update_signature()
