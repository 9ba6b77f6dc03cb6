"""The logical dialect: the same meaning with every role resolved, and its way down to CKKS.

An operation says itself what it becomes: ``lower`` is told the operands and emits ckks operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    BaseAttr,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from fhelium.config import CkksConfig
from fhelium.errors import StateError
from fhelium.ir.dialects import ckks, codec, semantic
from fhelium.ir.dialects.semantic import MeaningfulOperation
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.rules import window
from fhelium.ir.types import VALUE_AXES, StatefulType, ValueType


class RoleType(StatefulType):
    """A vector whose role is resolved."""

    VALUE_CLASS: ClassVar[str] = "Tensor"
    AXES: ClassVar[tuple[str, ...]] = ("slots", *VALUE_AXES)
    CKKS: ClassVar[type[ValueType]]
    """The type that carries it below."""

    def lowered(self) -> ValueType:
        """Return the type below that knows what this one knows."""
        return self.CKKS.of(**self.known) if issubclass(self.CKKS, StatefulType) else self.CKKS()


@irdl_attr_definition
class EncryptedType(RoleType):
    """A vector that is computed on without being read."""

    name = "logical.encrypted"
    CKKS: ClassVar[type[ValueType]] = ckks.CiphertextType


@irdl_attr_definition
class PlaintextType(RoleType):
    """A public vector that comes encoded."""

    name = "logical.plaintext"
    CKKS: ClassVar[type[ValueType]] = ckks.PlaintextType


@irdl_attr_definition
class MessageType(RoleType):
    """A public vector that comes as it is."""

    name = "logical.message"
    AXES: ClassVar[tuple[str, ...]] = ("slots",)
    CKKS: ClassVar[type[ValueType]] = codec.MessageType


ROLES: dict[str, type[RoleType]] = {
    "encrypted": EncryptedType,
    "plaintext": PlaintextType,
    "message": MessageType,
}
"""The type of each role, the role that prevails in a result first."""

_ANY = BaseAttr(RoleType)

Emit = Callable[..., SSAValue]
"""Emits an operation of the ckks dialect: ``emit(operation, *operands, **attributes)``."""


class LogicalOperation(MeaningfulOperation):
    """Base of the logical operations."""

    SEMANTIC: ClassVar[type[semantic.SemanticOperation]]
    """The operation whose roles it resolves; the two share the clear meaning."""
    LOWERED: ClassVar[type[DeclaredOperation]]
    """The operation that it becomes; one with a ``lower`` of its own has none."""

    result = result_def(_ANY)

    @classmethod
    def lower(
        cls, emit: Emit, config: CkksConfig, *operands: SSAValue, **attributes: Any
    ) -> SSAValue:
        """Emit the operation in ckks on lowered operands, or raise what stands in the way."""
        return emit(cls.LOWERED, *operands, **attributes)

    @classmethod
    def reference(cls, *operands: Any, **attributes: Any) -> torch.Tensor:
        return cls.SEMANTIC.reference(*operands, **attributes)


class BinaryOperation(LogicalOperation):
    """Base of the operations on two vectors."""

    lhs = operand_def(_ANY)
    rhs = operand_def(_ANY)


class UnaryOperation(LogicalOperation):
    """Base of the operations on one vector."""

    input = operand_def(_ANY)


def result_role(types: list[Attribute]) -> str:
    """Return the role of a result: encrypted if any operand is, and so on down the list."""
    found = {type(kind) for kind in types}
    return next(role for role, kind in ROLES.items() if kind in found)


def _encrypted(value: SSAValue) -> bool:
    return isinstance(value.type, ckks.CiphertextType)


def _encrypted_first(name: str, lhs: SSAValue, rhs: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Order the operands of a commutative operation."""
    if _encrypted(lhs):
        return lhs, rhs
    if _encrypted(rhs):
        return rhs, lhs
    raise StateError(
        name,
        "both operands are public, needed is a ciphertext",
        "An operation in ckks has an encrypted operand",
        "Compute on public vectors before they are encoded",
    )


def _plaintext(emit: Emit, operand: SSAValue, like: SSAValue, use: str) -> SSAValue:
    """Return a public operand encoded: a message is prepared for what it meets."""
    if not isinstance(operand.type, codec.MessageType):
        return operand
    return emit(codec.PreparePlaintextOp, operand, like, for_=use)


@irdl_op_definition
class AddOp(BinaryOperation):
    """Add two vectors."""

    name = "logical.add"
    SEMANTIC: ClassVar = semantic.AddOp

    @classmethod
    def lower(cls, emit: Emit, config: CkksConfig, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        first, second = _encrypted_first(cls.name, lhs, rhs)
        if _encrypted(second):
            return emit(ckks.AddOp, first, second)
        return emit(ckks.AddPlaintextOp, first, _plaintext(emit, second, first, "add"))


@irdl_op_definition
class SubtractOp(BinaryOperation):
    """Subtract the second vector from the first."""

    name = "logical.subtract"
    SEMANTIC: ClassVar = semantic.SubtractOp

    @classmethod
    def lower(cls, emit: Emit, config: CkksConfig, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if _encrypted(lhs) and _encrypted(rhs):
            return emit(ckks.SubtractOp, lhs, rhs)
        first, second = _encrypted_first(cls.name, lhs, rhs)
        negated = emit(ckks.NegateOp, first)
        summand = _plaintext(emit, second, negated, "add")
        difference = emit(ckks.AddPlaintextOp, negated, summand)
        return difference if first is rhs else emit(ckks.NegateOp, difference)


@irdl_op_definition
class MultiplyOp(BinaryOperation):
    """Multiply two vectors slot by slot."""

    name = "logical.multiply"
    SEMANTIC: ClassVar = semantic.MultiplyOp

    @classmethod
    def lower(cls, emit: Emit, config: CkksConfig, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        first, second = _encrypted_first(cls.name, lhs, rhs)
        if not _encrypted(second):
            factor = _plaintext(emit, second, first, "multiply")
            return emit(ckks.MultiplyPlaintextOp, first, factor)
        if first is second:
            return emit(ckks.SquareOp, first)
        return emit(ckks.MultiplyOp, first, second)


@irdl_op_definition
class NegateOp(UnaryOperation):
    """Negate a vector."""

    name = "logical.negate"
    SEMANTIC: ClassVar = semantic.NegateOp
    LOWERED: ClassVar = ckks.NegateOp


@irdl_op_definition
class RollOp(UnaryOperation):
    """Move slot i to slot i + step around the end."""

    name = "logical.roll"
    step = prop_def(IntegerAttr)
    SEMANTIC: ClassVar = semantic.RollOp

    @classmethod
    def lower(cls, emit: Emit, config: CkksConfig, input: SSAValue, *, step: int) -> SSAValue:
        canonical = step % config.num_slots
        return emit(ckks.RotateOp, input, None, step=canonical) if canonical else input


@irdl_op_definition
class AddScalarOp(UnaryOperation):
    """Add one real number to every slot."""

    name = "logical.add_scalar"
    value = prop_def(FloatAttr)
    SEMANTIC: ClassVar = semantic.AddScalarOp
    LOWERED: ClassVar = ckks.AddScalarOp


@irdl_op_definition
class MultiplyScalarOp(UnaryOperation):
    """Multiply every slot by one real number."""

    name = "logical.multiply_scalar"
    value = prop_def(FloatAttr)
    SEMANTIC: ClassVar = semantic.MultiplyScalarOp
    LOWERED: ClassVar = ckks.MultiplyScalarOp


@irdl_op_definition
class AssumeMessageBoundOp(UnaryOperation):
    """Take the caller's word that no slot exceeds a bound."""

    name = "logical.assume_message_bound"
    bound = prop_def(FloatAttr)
    SEMANTIC: ClassVar = semantic.AssumeMessageBoundOp
    LOWERED: ClassVar = ckks.AssumeMessageBoundOp


@irdl_op_definition
class BoundByOp(LogicalOperation):
    """Say that no slot exceeds a number of times the largest slot of another vector."""

    name = "logical.bound_by"
    input = operand_def(_ANY)
    other = operand_def(_ANY)
    factor = prop_def(FloatAttr)
    SEMANTIC: ClassVar = semantic.BoundByOp
    LOWERED: ClassVar = ckks.BoundByOp


@irdl_op_definition
class SumOp(UnaryOperation):
    """Add up the slots of one period."""

    name = "logical.sum"
    period = opt_prop_def(IntegerAttr)
    SEMANTIC: ClassVar = semantic.SumOp

    @classmethod
    def lower(
        cls, emit: Emit, config: CkksConfig, input: SSAValue, *, period: int | None = None
    ) -> SSAValue:
        total, step = input, 1
        while step < window(cls.name, period, config.num_slots):
            rotated = emit(ckks.RotateOp, total, None, step=-step % config.num_slots)
            total = emit(ckks.AddOp, total, rotated)
            step *= 2
        return total


LOGICAL = Dialect(
    "logical",
    [
        AddOp,
        SubtractOp,
        MultiplyOp,
        NegateOp,
        RollOp,
        AddScalarOp,
        MultiplyScalarOp,
        AssumeMessageBoundOp,
        BoundByOp,
        SumOp,
    ],
    [EncryptedType, PlaintextType, MessageType],
)
