"""OpenStatesPass."""

from __future__ import annotations

from dataclasses import dataclass

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import OPEN


@dataclass(frozen=True)
class OpenStatesPass(CompilePass):
    """Note that states need not fit yet: placement passes come and make them fit.

    Until AlignOperandsPass has run, an operation whose operands do not fit has a result of which
    nothing is known, and no error.

    Example:
        >>> from fhelium import compile as fc
        >>> fc.Pipeline((OpenStatesPass(),)).run(captured).program.attributes()
        {'ckks.states': 'open'}
    """

    def run(self, compilation: Compilation) -> None:
        compilation.program.set_attribute(OPEN, "open")
