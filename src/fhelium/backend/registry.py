"""The registry: which implementation serves which operation."""

from __future__ import annotations

from collections.abc import Iterable

from fhelium.backend.implementation import OperationImplementation
from fhelium.backend.invocation import OperationInvocation
from fhelium.errors import ImplementationError, OperandTypeError
from fhelium.ir.operation import DeclaredOperation


class OperationImplementationRegistry:
    """An immutable list of implementations with one rule: exactly one must match a call.

    Where several match, an order of preference may decide; nothing else does.

    Args:
        implementations: Their names must differ.
        preference: Names, the most preferred first.

    Raises:
        ImplementationError: Two implementations share a name, or a preferred one is missing.
        OperandTypeError: Something is no implementation.

    Example:
        >>> from fhelium.backend import OperationBackend
        >>> registry = OperationBackend().registry
        >>> "native-rns-linear" in registry.names
        True
    """

    def __init__(
        self,
        implementations: Iterable[OperationImplementation] = (),
        preference: Iterable[str] = (),
    ) -> None:
        self._implementations = tuple(implementations)
        self._preference = tuple(preference)
        self._by_operation: dict[type[DeclaredOperation], list[OperationImplementation]] = {}
        seen: set[str] = set()
        for implementation in self._implementations:
            if not isinstance(implementation, OperationImplementation):
                raise OperandTypeError(
                    "registry",
                    f"an implementation is a {type(implementation).__name__}",
                    "A registry holds objects of OperationImplementation's subclasses",
                    "Pass such an object, not its class",
                )
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
        for name in self._preference:
            if name not in seen:
                raise ImplementationError(
                    "registry",
                    f"{name!r} is preferred, registered are {sorted(seen)}",
                    "A preference is among the implementations of the registry",
                    "Add it first with registry.extended(...)",
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all implementations, in order of registration."""
        return tuple(implementation.name for implementation in self._implementations)

    @property
    def preference(self) -> tuple[str, ...]:
        """Return the names that decide between several matches, the most preferred first."""
        return self._preference

    def candidates(
        self, operation_type: type[DeclaredOperation]
    ) -> tuple[OperationImplementation, ...]:
        """Return every implementation registered for an operation."""
        return tuple(self._by_operation.get(operation_type, ()))

    def extended(
        self, *implementations: OperationImplementation
    ) -> OperationImplementationRegistry:
        """Return a registry with more implementations; this one stays as it is."""
        return OperationImplementationRegistry(
            (*self._implementations, *implementations), self._preference
        )

    def preferring(self, *names: str) -> OperationImplementationRegistry:
        """Return a registry where these come first, in this order; this one stays as it is.

        Args:
            *names: Implementations to take wherever they and others match a call. What was
                preferred before comes after them.

        Raises:
            ImplementationError: No implementation has such a name.

        Example:
            >>> from fhelium.backend import builtin_registry
            >>> builtin_registry().preferring("native-rns-linear").preference[0]
            'native-rns-linear'
        """
        rest = (name for name in self._preference if name not in names)
        return OperationImplementationRegistry(
            self._implementations, dict.fromkeys((*names, *rest))
        )

    def resolve(
        self, invocation: OperationInvocation, *, name: str | None = None
    ) -> OperationImplementation:
        """Return the one implementation that serves a call, the preferred one of several.

        Args:
            invocation: The call.
            name: Take the implementation of this name, or of this family, among those that match.

        Raises:
            ImplementationError: None matches, or several do and neither name nor preference
                decides.
        """
        operation = invocation.operation_type.name
        found = [
            implementation
            for implementation in self.candidates(invocation.operation_type)
            if name in (None, implementation.name, implementation.family)
            and implementation.supports(invocation)
        ]
        if len(found) == 1:
            return found[0]
        by_name = {implementation.name: implementation for implementation in found}
        for preferred in self._preference:
            if preferred in by_name:
                return by_name[preferred]
        registered = [i.name for i in self.candidates(invocation.operation_type)]
        if not found:
            wanted = f" named {name!r}" if name is not None else ""
            # A scalar operand is an attribute too: what it is worth is nobody else's business.
            shown = {k: v for k, v in invocation.attributes.items() if k != "value"}
            raise ImplementationError(
                operation,
                f"no implementation{wanted} serves it with attributes {shown}; registered for it: "
                f"{registered or 'none'}",
                "Exactly one implementation serves a call",
                "Register one with registry.extended(...), or ask for a registered name",
                candidates=tuple(registered),
            )
        raise ImplementationError(
            operation,
            f"{len(found)} implementations serve it: {[i.name for i in found]}",
            "Exactly one implementation serves a call",
            "Choose one by name, or prefer one with registry.preferring(...)",
            candidates=tuple(i.name for i in found),
        )
