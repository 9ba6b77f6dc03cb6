"""The registry: which implementation serves which operation."""

from __future__ import annotations

from collections.abc import Iterable

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.errors import ImplementationError
from fhelium.ir.operation import DeclaredOperation


class OperationImplementationRegistry:
    """An immutable list of implementations with one rule: exactly one must match a call.

    Args:
        implementations: Their names must differ.

    Raises:
        ImplementationError: Two implementations share a name.

    Example:
        >>> from fhelium.backend import OperationBackend
        >>> registry = OperationBackend().registry
        >>> "native-rns-linear" in registry.names
        True
    """

    def __init__(self, implementations: Iterable[OperationImplementation] = ()) -> None:
        self._implementations = tuple(implementations)
        self._by_operation: dict[type[DeclaredOperation], list[OperationImplementation]] = {}
        seen: set[str] = set()
        for implementation in self._implementations:
            if implementation.name in seen:
                raise ImplementationError(
                    "registry",
                    f"two implementations are named {implementation.name!r}",
                    "Names are unique in a registry",
                    "Rename one of them",
                )
            seen.add(implementation.name)
            for operation_type in implementation.operation_types:
                self._by_operation.setdefault(operation_type, []).append(implementation)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all implementations, in order of registration."""
        return tuple(implementation.name for implementation in self._implementations)

    def candidates(
        self, operation_type: type[DeclaredOperation]
    ) -> tuple[OperationImplementation, ...]:
        """Return every implementation registered for an operation."""
        return tuple(self._by_operation.get(operation_type, ()))

    def extended(
        self, *implementations: OperationImplementation
    ) -> OperationImplementationRegistry:
        """Return a registry with more implementations; this one stays as it is."""
        return OperationImplementationRegistry((*self._implementations, *implementations))

    def resolve(
        self, invocation: OperationInvocation, *, name: str | None = None
    ) -> OperationImplementation:
        """Return the one implementation that serves a call.

        Args:
            invocation: The call.
            name: Take the implementation of this name among those that match.

        Raises:
            ImplementationError: None matches, or several do and no name decides.
        """
        operation = invocation.operation_type.name
        found = [
            implementation
            for implementation in self.candidates(invocation.operation_type)
            if (name is None or implementation.name == name) and implementation.supports(invocation)
        ]
        if len(found) == 1:
            return found[0]
        registered = [i.name for i in self.candidates(invocation.operation_type)]
        if not found:
            wanted = f" named {name!r}" if name is not None else ""
            raise ImplementationError(
                operation,
                f"no implementation{wanted} serves it with attributes "
                f"{dict(invocation.attributes)}; registered for it: {registered or 'none'}",
                "Exactly one implementation serves a call",
                "Register one with registry.extended(...), or ask for a registered name",
                candidates=tuple(registered),
            )
        raise ImplementationError(
            operation,
            f"{len(found)} implementations serve it: {[i.name for i in found]}",
            "Exactly one implementation serves a call",
            "Choose one by name",
            candidates=tuple(i.name for i in found),
        )
