"""The interface that Eager calls and linked Programs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch

from fhelium.backend.invocation import BoundResource, OperationInvocation, ResourceRequirement
from fhelium.ir.operation import DeclaredOperation


class OperationImplementation(ABC):
    """Execute declared operations on tensors.

    Inputs are the operation's operands followed by the tensors of ``material_symbols``: modulus
    parameters, NTT tables, conversion constants. Everything numerical arrives this way; resources
    are non-tensor handles. An implementation never changes an input unless ``in_place`` is set,
    and then only the first.

    A caller's own implementation subclasses this, names itself, and joins a registry with
    ``registry.extended(...)``.
    """

    name: ClassVar[str]
    family: ClassVar[str | None] = None
    """Name that stands for all of several implementations, of which attributes choose one."""
    operation_types: ClassVar[tuple[type[DeclaredOperation], ...]]
    supports_in_place: ClassVar[bool] = False

    def supports(self, invocation: OperationInvocation) -> bool:
        """Say whether this call, beyond its operation type, can be served."""
        return True

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        """Name the tensors that follow the operands, in order."""
        return ()

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """Name the non-tensor handles the call needs."""
        return ()

    def recorded_as(self, invocation: OperationInvocation) -> str | None:
        """Name the method of a CoefficientProgram that stands for the call.

        None where there is none: the call is then never part of a fused region.
        """
        return None

    @abstractmethod
    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """Compute the results.

        Args:
            invocation: The call's literal facts.
            inputs: Operands, then materials.
            resources: Handles, in the order of the requirements.
            in_place: Write the result over the first operand.

        Returns:
            One tensor a result.
        """


class CompositeImplementation(OperationImplementation):
    """An implementation whose materials are asked for, and received, by a short name."""

    @abstractmethod
    def materials(self, invocation: OperationInvocation) -> dict[str, str]:
        """Map the names used in ``compute`` to material symbols."""

    @abstractmethod
    def compute(
        self,
        invocation: OperationInvocation,
        operands: tuple[torch.Tensor, ...],
        tables: dict[str, torch.Tensor],
    ) -> torch.Tensor:
        """Compute the one result."""

    def material_symbols(self, invocation: OperationInvocation) -> tuple[str, ...]:
        return tuple(self.materials(invocation).values())

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        count = invocation.operand_count
        names: Any = self.materials(invocation)
        tables = dict(zip(names, inputs[count:], strict=True))
        return (self.compute(invocation, inputs[:count], tables),)
