"""What an implementation is told about one call, and the handles bound to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class OperationInvocation:
    """Describe one call of an operation: literal facts only, no tensor, key or device.

    Args:
        operation_type: The declared operation.
        operand_count: Operands of the operation itself, before the materials that follow them.
        result_count: Tensors that come back.
        attributes: The operation's attributes and the state facts it asks for, such as
            ``depth``, ``polynomial_domain`` and ``ntt_backend``.

    Example:
        >>> from fhelium.ir.dialects.ckks import AddOp
        >>> invocation = OperationInvocation(
        ...     operation_type=AddOp, operand_count=2, result_count=1, attributes={"depth": 0})
        >>> invocation.attributes["depth"]
        0
    """

    operation_type: type[DeclaredOperation]
    operand_count: int
    result_count: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Return the depth of the operands."""
        return self.attributes["depth"]

    @property
    def domain(self) -> str:
        """Return the polynomial domain of the operands."""
        return self.attributes["polynomial_domain"]

    @property
    def output_domain(self) -> str:
        """Return the domain the result is asked in: the operands' unless another is named."""
        return self.attributes.get("output_domain") or self.domain


@dataclass(frozen=True)
class ResourceRequirement:
    """Name a non-tensor handle that an implementation needs, such as a process group."""

    name: str


@dataclass(frozen=True)
class BoundResource:
    """Pair a required name with the live handle bound to it."""

    name: str
    handle: Any
