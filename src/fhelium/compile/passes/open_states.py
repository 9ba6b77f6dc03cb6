"""OpenStatesPass."""

from __future__ import annotations

from dataclasses import dataclass

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import STATES, is_placed


@dataclass(frozen=True)
class OpenStatesPass(CompilePass):
    """Note that states need not fit yet: placement passes come and make them fit.

    Until AlignOperandsPass has run, an operation whose operands do not fit has a result of which
    nothing is known, and no error. A Program that was captured from calls of an Engine is placed by
    whoever wrote them: it stays closed, and placement passes leave it as it is.

    Example:
        >>> from fhelium import compile as fc
        >>> fc.Pipeline((OpenStatesPass(),)).run(captured).program.attributes()
        {'ckks.states': 'open'}
    """

    def run(self, compilation: Compilation) -> None:
        if not is_placed(compilation.program):
            compilation.program.set_attribute(STATES, "open")
