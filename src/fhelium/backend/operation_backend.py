"""OperationBackend: a registry and a workspace, and the questions asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.registry import OperationImplementationRegistry
from fhelium.backend.workspace import BackendWorkspace
from fhelium.errors import OperandTypeError
from fhelium.ir.operation import DeclaredOperation


class Linkable(Protocol):
    """What ``link`` needs of a compilation; the passes belong to the compilation's side."""

    def link(self, backend: OperationBackend) -> Any:
        """Resolve every operation with this backend and return an executable."""


@dataclass(frozen=True)
class ImplementationDiagnostic:
    """Say of one implementation what it offers for an operation.

    Args:
        name: What chooses it.
        implementation_class: Its Python class.
        in_place: Whether it can write over its first operand.
        preference: Its place in the registry's order of preference, 0 the first; None where it is
            in none, and then serves a call only where no other does.
    """

    name: str
    implementation_class: str
    in_place: bool
    preference: int | None


class OperationBackend:
    """Own the implementation registry and the workspace of handles.

    Args:
        registry: Implementations; the built-in ones when omitted.
        workspace: Handles; an empty one when omitted.

    Example:
        >>> from fhelium.ir.dialects.ckks import AddOp
        >>> [d.name for d in OperationBackend().diagnostics(AddOp)]
        ['native-rns-linear']
    """

    def __init__(
        self,
        registry: OperationImplementationRegistry | None = None,
        workspace: BackendWorkspace | None = None,
    ) -> None:
        if registry is not None and not isinstance(registry, OperationImplementationRegistry):
            raise OperandTypeError(
                "OperationBackend",
                f"registry is a {type(registry).__name__}",
                "A backend resolves operations in an OperationImplementationRegistry",
                "Pass one, for example builtin_registry().extended(...)",
            )
        self.registry = builtin_registry() if registry is None else registry
        self.workspace = BackendWorkspace() if workspace is None else workspace

    def diagnostics(
        self, operation: type[DeclaredOperation]
    ) -> tuple[ImplementationDiagnostic, ...]:
        """Return what is registered for an operation, in order of registration."""
        preference = self.registry.preference
        return tuple(
            ImplementationDiagnostic(
                implementation.name,
                type(implementation).__name__,
                implementation.supports_in_place,
                preference.index(implementation.name)
                if implementation.name in preference
                else None,
            )
            for implementation in self.registry.candidates(operation)
        )

    def link(self, compilation: Linkable) -> Any:
        """Link a compilation on this backend."""
        return compilation.link(self)


@cache
def builtin_registry() -> OperationImplementationRegistry:
    """Return the registry of the implementations that come with FHElium."""
    from fhelium.backend import ckks, ntt, rns

    implementations: list[OperationImplementation] = []
    for package in (rns, ntt, ckks):
        implementations += [kind() for kind in package.IMPLEMENTATIONS]
    return OperationImplementationRegistry(implementations, ckks.PREFERRED)
