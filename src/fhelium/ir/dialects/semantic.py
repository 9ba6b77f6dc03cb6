"""The semantic dialect: what a captured function means on vectors, whoever may read them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import torch
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium.ir.operation import DescribedOperation
from fhelium.ir.types import VALUE_AXES, StatefulType


@irdl_attr_definition
class TensorType(StatefulType):
    """A vector of slots. An input's type also says its role and what is known of its state.

    ``slots`` is how many values it has before they repeat; where that is no power of two, zeros or
    what became of them fill up to the next one.
    """

    name = "semantic.tensor"
    VALUE_CLASS: ClassVar[str] = "Tensor"
    AXES: ClassVar[tuple[str, ...]] = ("role", "slots", *VALUE_AXES)


def count_of(vector: Any) -> int | None:
    """Return how many values a vector has before they repeat; None where that is not known."""
    kind = vector.type if isinstance(vector, SSAValue) else None
    return kind.known.get("slots") if isinstance(kind, TensorType) else None


class MeaningfulOperation(DescribedOperation):
    """Base of the operations above CKKS: they have a clear meaning, and no state yet."""

    traits = traits_def(Pure())

    @staticmethod
    @abstractmethod
    def reference(*operands: Any, **attributes: Any) -> torch.Tensor:
        """Compute the clear meaning on plain tensors."""

    @classmethod
    def make(cls, *operands: SSAValue, result_type: Attribute, **attributes: Any) -> Self:
        """Build the operation from operands and Python attributes."""
        properties = cls.properties_of(attributes)
        return cls.build(operands=operands, result_types=[result_type], properties=properties)


class SemanticOperation(MeaningfulOperation):
    """Base of the semantic operations: each gives one vector."""

    result = result_def(TensorType)

    @classmethod
    def result_type_of(cls, operands: Sequence[SSAValue]) -> TensorType:
        """Return the type of the result: the operands' common period, where they have one."""
        types = [value.type for value in operands if isinstance(value.type, TensorType)]
        periods = [kind.known["slots"] for kind in types if "slots" in kind.known]
        return TensorType.of(slots=math.lcm(*periods) if len(periods) == len(types) else None)


class BinaryOperation(SemanticOperation):
    """Base of the operations on two vectors."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)


class UnaryOperation(SemanticOperation):
    """Base of the operations on one vector."""

    input = operand_def(TensorType)


@irdl_op_definition
class AddOp(BinaryOperation):
    """Add two vectors."""

    name = "semantic.add"

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs + rhs


@irdl_op_definition
class SubtractOp(BinaryOperation):
    """Subtract the second vector from the first."""

    name = "semantic.subtract"

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs - rhs


@irdl_op_definition
class MultiplyOp(BinaryOperation):
    """Multiply two vectors slot by slot."""

    name = "semantic.multiply"

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs * rhs


@irdl_op_definition
class NegateOp(UnaryOperation):
    """Negate a vector."""

    name = "semantic.negate"

    @staticmethod
    def reference(input: torch.Tensor) -> torch.Tensor:
        return -input


@irdl_op_definition
class RollOp(UnaryOperation):
    """Move slot i to slot i + step around the end, as ``torch.roll`` does."""

    name = "semantic.roll"
    step = prop_def(IntegerAttr)

    @staticmethod
    def reference(input: torch.Tensor, *, step: int) -> torch.Tensor:
        return torch.roll(input, step, dims=-1)


@irdl_op_definition
class AddScalarOp(UnaryOperation):
    """Add one real number to every slot."""

    name = "semantic.add_scalar"
    value = prop_def(FloatAttr)

    @staticmethod
    def reference(input: torch.Tensor, *, value: float) -> torch.Tensor:
        return input + value


@irdl_op_definition
class MultiplyScalarOp(UnaryOperation):
    """Multiply every slot by one real number."""

    name = "semantic.multiply_scalar"
    value = prop_def(FloatAttr)

    @staticmethod
    def reference(input: torch.Tensor, *, value: float) -> torch.Tensor:
        return input * value


@irdl_op_definition
class AssumeMessageBoundOp(UnaryOperation):
    """Take the caller's word that no slot exceeds a bound."""

    name = "semantic.assume_message_bound"
    bound = prop_def(FloatAttr)

    @staticmethod
    def reference(input: torch.Tensor, *, bound: float) -> torch.Tensor:
        return input


@irdl_op_definition
class BoundByOp(SemanticOperation):
    """Say that no slot exceeds a number of times the largest slot of another vector."""

    name = "semantic.bound_by"
    input = operand_def(TensorType)
    other = operand_def(TensorType)
    factor = prop_def(FloatAttr)

    @classmethod
    def result_type_of(cls, operands: Sequence[SSAValue]) -> TensorType:
        """Return the type of the first vector."""
        return super().result_type_of(operands[:1])

    @staticmethod
    def reference(input: torch.Tensor, other: torch.Tensor, *, factor: float) -> torch.Tensor:
        return input


@irdl_op_definition
class SumOp(UnaryOperation):
    """Add up the slots of one period; every slot of the result holds the sum."""

    name = "semantic.sum"
    period = opt_prop_def(IntegerAttr)

    @classmethod
    def result_type_of(cls, operands: Sequence[SSAValue]) -> TensorType:
        """Return the type of a vector whose slots are equal."""
        return TensorType.of(slots=1)

    @staticmethod
    def reference(input: torch.Tensor, *, period: int | None = None) -> torch.Tensor:
        total = input[..., : input.shape[-1] if period is None else period]
        return total.sum(dim=-1, keepdim=True).expand(input.shape)


@irdl_op_definition
class MatrixProductOp(SemanticOperation):
    """Multiply the first ``rows`` slots, as a row, with a public matrix [rows, columns].

    The result repeats with the smallest power of two that holds all columns; further slots of a
    period are 0.
    """

    name = "semantic.matrix_product"
    input = operand_def(TensorType)
    matrix = operand_def(TensorType)
    rows = prop_def(IntegerAttr)
    columns = prop_def(IntegerAttr)

    @classmethod
    def make(cls, *operands: SSAValue, result_type: Attribute, **attributes: Any) -> Self:
        """Build the operation; its result has as many values as the matrix has columns."""
        kind = TensorType.of(slots=attributes["columns"])
        return super().make(*operands, result_type=kind, **attributes)

    @staticmethod
    def reference(
        input: torch.Tensor, matrix: torch.Tensor, *, rows: int, columns: int
    ) -> torch.Tensor:
        entries = matrix[..., : rows * columns].reshape(rows, columns).to(input.dtype)
        product = input[..., :rows] @ entries
        period = 1 << (columns - 1).bit_length()
        if input.shape[-1] % period:
            return product
        padded = torch.nn.functional.pad(product, (0, period - columns))
        return padded.repeat(*(1 for _ in padded.shape[:-1]), input.shape[-1] // period)


@irdl_op_definition
class PolynomialOp(UnaryOperation):
    """Evaluate a polynomial with public real coefficients, the constant first."""

    name = "semantic.polynomial"
    coefficients = prop_def(ArrayAttr[FloatAttr])

    def verify_(self) -> None:
        if not self.coefficients.data:
            raise VerifyException("a polynomial has 0 coefficients, needed is at least one")

    @staticmethod
    def reference(input: torch.Tensor, *, coefficients: tuple[float, ...]) -> torch.Tensor:
        total = torch.full_like(input, coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            total = total * input + coefficient
        return total


SEMANTIC = Dialect(
    "semantic",
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
        MatrixProductOp,
        PolynomialOp,
    ],
    [TensorType],
)
