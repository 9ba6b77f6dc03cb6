"""Passes in a row: each gets a Program of its own, and each result is verified."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from fhelium.compile.borders import close_borders, open_borders
from fhelium.compile.compilation import Compilation, PassReport
from fhelium.compile.states import infer_compilation
from fhelium.config import CkksConfig
from fhelium.errors import PassError


class CompilePass(ABC):
    """Base of a pass: a frozen dataclass whose fields are its options.

    A pass changes the compilation it is given in place; the pipeline gave it one of its own. One
    that finds nothing to do changes nothing; one that cannot do its work raises PassError.

    Example:
        >>> from fhelium import compile as fc
        >>> class CountRotationsPass(CompilePass):
        ...     def run(self, compilation):
        ...         names = [op.name for op in compilation.program.operations]
        ...         compilation.workspace["rotations"] = names.count("semantic.roll")
        >>> fc.Pipeline((CountRotationsPass(),)).run(captured).workspace["rotations"]
        1
    """

    @abstractmethod
    def run(self, compilation: Compilation) -> None:
        """Transform the compilation's Program or publish in its workspace."""

    def refusal(self, index: int, operation: str, fact: str, rule: str, remedy: str) -> PassError:
        """Return the error that this pass raises at an operation."""
        return PassError(
            type(self).__name__,
            f"operation {index} ({operation}): {fact}",
            rule,
            remedy,
            index=index,
            name=operation,
        )


@dataclass(frozen=True, init=False)
class Pipeline:
    """Run passes in order.

    Args:
        passes: The passes; any order gives a right Program or a named error.

    Example:
        >>> from fhelium import compile as fc
        >>> found = fc.Pipeline((fc.LowerSemanticToLogicalPass(),)).run(captured)
        >>> [report.name for report in found.reports]
        ['LowerSemanticToLogicalPass']
        >>> captured.program.operations[0].name, found.program.operations[0].name
        ('semantic.roll', 'logical.roll')
    """

    passes: tuple[CompilePass, ...]

    def __init__(self, passes: Iterable[CompilePass]) -> None:
        object.__setattr__(self, "passes", tuple(passes))

    def run(self, compilation: Compilation) -> Compilation:
        """Return a new compilation; the given one and its Program stay as they are.

        After each pass the structure of the Program is verified and, where the workspace holds the
        parameters, every state is checked by the operations' own rules.

        Raises:
            PassError: A pass cannot do its work; the text names the operation and says why.
            ProgramError: A pass left a Program that breaks a rule of the IR.
            StateError: The operands of an operation do not fit, as in a call of an Engine.
        """
        current = compilation.copy()
        for step in self.passes:
            started, before = time.perf_counter(), len(current.program.operations)
            open_borders(current.program)
            step.run(current)
            close_borders(current.program)
            current.program.update_signature()
            current.program.verify()
            if CkksConfig in current.workspace:
                infer_compilation(current)
            after, seconds = len(current.program.operations), time.perf_counter() - started
            report = PassReport(type(step).__name__, before, after, seconds)
            current.reports = (*current.reports, report)
        return current
