"""EliminateDeadValuesPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.traits import is_side_effect_free

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.program import Program


@dataclass(frozen=True)
class EliminateDeadValuesPass(CompilePass):
    """Remove operations whose results nobody uses. Inputs stay, used or not.

    Example:
        >>> from fhelium import compile as fc
        >>> def wasteful(x):
        ...     unused = x * x
        ...     return -x
        >>> spec = {"x": fc.encrypted()}
        >>> given = fc.capture(wasteful, inputs=spec, workspace=captured.workspace)
        >>> found = fc.Pipeline((EliminateDeadValuesPass(),)).run(given)
        >>> [op.name for op in found.program.operations]
        ['semantic.negate', 'func.return']
    """

    def run(self, compilation: Compilation) -> None:
        eliminate_dead_values(compilation.program)


def eliminate_dead_values(program: Program) -> None:
    """Remove what is not used, the last first, so that what only it used goes too."""
    for operation in reversed(program.operations):
        used = any(result.first_use is not None for result in operation.results)
        if operation.results and not used and is_side_effect_free(operation):
            operation.detach()
            operation.erase()
