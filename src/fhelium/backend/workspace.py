"""Named non-tensor handles that implementations may ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from fhelium.backend.invocation import BoundResource, ResourceRequirement
from fhelium.errors import ImplementationError


class BackendWorkspace:
    """Hold handles by name: process groups, samplers. Tensors belong to the Compilation.

    Args:
        handles: Handles that exist already.
        materializers: Functions that make a missing handle on first use.

    Example:
        >>> workspace = BackendWorkspace(materializers={"log": list})
        >>> workspace.bind((ResourceRequirement("log"),))
        (BoundResource(name='log', handle=[]),)
    """

    def __init__(
        self,
        handles: Mapping[str, Any] | None = None,
        materializers: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        self._handles = dict(handles or {})
        self._materializers = dict(materializers or {})
        self._lock = threading.RLock()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the handles that exist now."""
        return tuple(self._handles)

    def put(self, name: str, handle: Any) -> None:
        """Store a handle under a name, replacing what was there."""
        with self._lock:
            self._handles[name] = handle

    def bind(self, requirements: tuple[ResourceRequirement, ...]) -> tuple[BoundResource, ...]:
        """Return the handles for some requirements, making missing ones where possible.

        Raises:
            ImplementationError: A handle is neither there nor can be made.
        """
        bound = []
        for requirement in requirements:
            with self._lock:
                if requirement.name not in self._handles:
                    make = self._materializers.get(requirement.name)
                    if make is None:
                        raise ImplementationError(
                            "bind",
                            f"the handle {requirement.name!r} is missing, there are "
                            f"{list(self._handles)}",
                            "Every required handle is bound before a call",
                            "Store it with workspace.put(name, handle)",
                        )
                    self._handles[requirement.name] = make()
                bound.append(BoundResource(requirement.name, self._handles[requirement.name]))
        return tuple(bound)
