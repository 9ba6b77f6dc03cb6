"""Import lines of emitted text, and the constructors of implementations."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Any

from fhelium.backend import OperationImplementation
from fhelium.compile.python_source import Names, refusal
from fhelium.ir.operation import DeclaredOperation


class Imports:
    """Collect the classes that a text names.

    Args:
        names: Names of the text; two classes of one name get different ones.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._used: dict[type, str] = {}

    def of(self, cls: type) -> str:
        """Return the name of a class in the text."""
        if cls not in self._used:
            self._used[cls] = self._names.exactly(cls.__name__)
        return self._used[cls]

    def text(self) -> str:
        """Write the import lines."""
        lines = []
        for cls, name in self._used.items():
            alias = "" if name == cls.__name__ else f" as {name}"
            lines.append(f"from {_home(cls)} import {cls.__name__}{alias}")
        return "\n".join([*sorted(lines), ""])

    def constructor(
        self, index: int, operation: DeclaredOperation, implementation: OperationImplementation
    ) -> str:
        """Write the call that makes an implementation.

        Raises:
            PythonCodegenError: Its class is not importable, or it is the caller's own and holds
                state.
        """
        cls = type(implementation)
        if _home(cls) is None:
            raise refusal(
                index,
                operation.name,
                f"{cls.__qualname__} cannot be imported from {cls.__module__}",
                "Define the implementation at the top of a module",
            )
        fields = _state(implementation)
        if not cls.__module__.startswith("fhelium.") and (fields or _needs_arguments(cls)):
            raise refusal(
                index,
                operation.name,
                f"{cls.__qualname__} was constructed with state, which is not copied into source",
                "Put the state into the source of an implementation without arguments, or emit at "
                "another stage",
            )
        arguments = ", ".join(f"{name}={value!r}" for name, value in fields.items())
        return f"{self.of(cls)}({arguments})"


def _home(cls: type) -> str | None:
    """Return the module to import a class from: the outermost package that has it."""
    parts = cls.__module__.split(".")
    for end in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:end]))
        if getattr(module, cls.__name__, None) is cls:
            return ".".join(parts[:end])
    return None


def _state(implementation: OperationImplementation) -> dict[str, Any]:
    """Return what an implementation holds beyond its class."""
    if dataclasses.is_dataclass(implementation):
        return {f.name: getattr(implementation, f.name) for f in dataclasses.fields(implementation)}
    slots = [name for cls in type(implementation).__mro__ for name in getattr(cls, "__slots__", ())]
    held = {name: getattr(implementation, name) for name in slots if hasattr(implementation, name)}
    return {**held, **vars(implementation)}


def _needs_arguments(cls: type) -> bool:
    parameters = inspect.signature(cls).parameters.values()
    return any(
        p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )
