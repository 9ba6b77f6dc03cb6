"""The interface that Eager calls and linked Programs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from fhelium.backend.invocation import BoundResource, OperationInvocation, ResourceRequirement
from fhelium.ir.operation import DeclaredOperation

Tensors = tuple[torch.Tensor, ...]
Tables = dict[str, torch.Tensor]
"""Materials by their symbols."""
Operator = Callable[..., torch.Tensor]


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
        inputs: Tensors,
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> Tensors:
        """Compute the results.

        Args:
            invocation: The call's literal facts.
            inputs: Operands, then materials.
            resources: Handles, in the order of the requirements.
            in_place: Write the result over the first operand.

        Returns:
            One tensor a result.
        """


class OperatorImplementation(OperationImplementation):
    """An implementation that hands all of a call's inputs to one operator."""

    @abstractmethod
    def operator(self, invocation: OperationInvocation) -> Operator:
        """Return what computes the one result."""

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: Tensors,
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> Tensors:
        return (self.operator(invocation)(*inputs),)


class InPlaceOperatorImplementation(OperatorImplementation):
    """One that has a second operator, which writes the result over the first input."""

    supports_in_place = True

    @abstractmethod
    def mutating_operator(self, invocation: OperationInvocation) -> Callable[..., Any]:
        """Return what writes the one result over the first input."""

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: Tensors,
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> Tensors:
        if not in_place:
            return super().execute(invocation, inputs, resources, in_place=False)
        self.mutating_operator(invocation)(*inputs)
        return (inputs[0],)


class CompositeImplementation(OperationImplementation):
    """An implementation of several steps, which finds its materials by their symbols."""

    @abstractmethod
    def compute(
        self, invocation: OperationInvocation, operands: Tensors, tables: Tables
    ) -> torch.Tensor | Tensors:
        """Compute the one result, or all of several."""

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: Tensors,
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> Tensors:
        count = invocation.operand_count
        tables = dict(zip(self.material_symbols(invocation), inputs[count:], strict=True))
        found = self.compute(invocation, inputs[:count], tables)
        return found if isinstance(found, tuple) else (found,)
