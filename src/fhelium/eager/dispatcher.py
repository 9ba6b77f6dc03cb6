"""The device-local dispatcher: resolve an operation once, then call it directly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from fhelium.backend import (
    BoundResource,
    OperationBackend,
    OperationImplementation,
    OperationInvocation,
)
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.config import CkksConfig
from fhelium.ir.operation import DeclaredOperation

# Scalars make a call of their own for each value; beyond this many calls the cache starts anew.
_LARGEST_CACHE = 4096


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """An implementation with everything but the operands bound."""

    implementation: OperationImplementation
    invocation: OperationInvocation
    materials: tuple[torch.Tensor, ...]
    resources: tuple[BoundResource, ...]

    def __call__(
        self, operands: tuple[torch.Tensor, ...], *, in_place: bool = False
    ) -> tuple[torch.Tensor, ...]:
        """Run the implementation on the operands and return its results."""
        writes = in_place and self.implementation.supports_in_place
        results = self.implementation.execute(
            self.invocation, operands + self.materials, self.resources, in_place=writes
        )
        if in_place and not writes:
            operands[0].copy_(results[0])
        return results


class DeviceDispatcher:
    """Prepare and cache calls for one parameter set on one device."""

    def __init__(
        self,
        config: CkksConfig,
        device: torch.device,
        backend: OperationBackend,
        ntt_backend: str,
    ) -> None:
        self.resources = CkksDeviceResources(config=config, device=device)
        self.ntt_backend = ntt_backend
        self._backend = backend
        self._calls: dict[tuple[Any, ...], PreparedCall] = {}

    def prepared(
        self, operation: type[DeclaredOperation], operand_count: int, facts: Mapping[str, Any]
    ) -> PreparedCall:
        """Return the call for these facts, resolving and binding it on first use."""
        key = (operation, operand_count, *facts.values())
        call = self._calls.get(key)
        if call is None:
            call = self._prepare(operation, operand_count, facts)
            if len(self._calls) >= _LARGEST_CACHE:
                self._calls = {}
            self._calls[key] = call
        return call

    def _prepare(
        self, operation: type[DeclaredOperation], operand_count: int, facts: Mapping[str, Any]
    ) -> PreparedCall:
        invocation = OperationInvocation(
            operation_type=operation,
            operand_count=operand_count,
            attributes={**facts, "ntt_backend": self.ntt_backend},
        )
        implementation = self._backend.registry.resolve(invocation)
        symbols = implementation.material_symbols(invocation)
        requirements = implementation.resource_requirements(invocation)
        return PreparedCall(
            implementation,
            invocation,
            self.resources.materials(symbols),
            self._backend.workspace.bind(requirements),
        )
