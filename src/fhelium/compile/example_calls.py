"""Calls of ckks operations on tensors that mean nothing, to count or to time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fhelium.backend import OperationImplementationRegistry, OperationInvocation
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.config import CkksConfig
from fhelium.ir.operation import DeclaredOperation
from fhelium.values import Ciphertext, CkksState, Plaintext


@dataclass(frozen=True)
class ExampleCall:
    """One call of an operation.

    Args:
        operation: The declared operation.
        states: A state for each operand, or a tuple of them for a list.
        attributes: Name and value of each attribute.
    """

    operation: type[DeclaredOperation]
    states: tuple[Any, ...]
    attributes: tuple[tuple[str, Any], ...] = ()

    @property
    def state(self) -> CkksState:
        """Return the state of the first ciphertext; its depth and domain are known."""
        first = self.states[0]
        return first[0] if isinstance(first, tuple) else first

    @property
    def count(self) -> int:
        """Return how many operands the last list has; 1 where there is none."""
        return max([1, *(len(group) for group in self.states if isinstance(group, tuple))])

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shape of each operand's tensor."""
        config, found = self.state.config, []
        for kind, group in zip(self.operation.operand_kinds(), self.states, strict=True):
            for state in group if isinstance(group, tuple) else (group,):
                found.append(_shape(kind.value_class, state, self.state, config))
        return found

    def prepared(
        self,
        operands: Sequence[torch.Tensor],
        registry: OperationImplementationRegistry,
        resources: CkksDeviceResources,
    ) -> PreparedExample:
        """Bind the implementation and the tables of the call."""
        attributes = dict(self.attributes)
        facts = self.operation.call_facts(*self.states, **attributes)
        invocation = OperationInvocation(
            operation_type=self.operation,
            operand_count=len(operands),
            result_count=self.operation.result_count(*self.states),
            attributes=facts,
        )
        implementation = registry.resolve(invocation)
        tables = [resources.material(s) for s in implementation.material_symbols(invocation)]
        device = operands[0].device
        inputs = (*operands, *(table.to(device) for table in tables))
        return PreparedExample(implementation, invocation, inputs)


@dataclass(frozen=True)
class PreparedExample:
    """An example with everything bound."""

    implementation: Any
    invocation: OperationInvocation
    inputs: tuple[torch.Tensor, ...]

    def __call__(self) -> tuple[torch.Tensor, ...]:
        """Run it once."""
        return self.implementation.execute(self.invocation, self.inputs, (), in_place=False)


def _shape(
    value_class: type, state: CkksState, first: CkksState, config: CkksConfig
) -> tuple[int, ...]:
    if value_class is Ciphertext:
        return (state.components or 2, _limbs(state), config.N)
    if value_class is Plaintext:
        return (_limbs(state if state.depth is not None else first), config.N)
    return (config.dnum, 2, len(config.primes), config.N)


def _limbs(state: CkksState) -> int:
    assert state.depth is not None
    return len(state.config.q_primes) - state.depth
