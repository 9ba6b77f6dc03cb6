"""Parts of a ciphertext: its components, its limbs, and sums with one component."""

from __future__ import annotations

from typing import ClassVar

import torch
from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from fhelium.errors import StateError
from fhelium.ir.dialects.rns.exact import limb_wise
from fhelium.ir.dialects.rns.shapes import BinaryOperation, require_standard
from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation, OperationFacts
from fhelium.ir.rules import require, require_reachable
from fhelium.ir.types import TableType
from fhelium.values import CkksState


def _require_components(operation: str, state: CkksState, wanted: int) -> None:
    if wanted < 1 or (state.components is not None and wanted > state.components):
        raise StateError(
            operation,
            f"asked for are {wanted} components, there are {state.components or 'at most 3'}",
            "A part is inside the whole",
            "Name components that exist",
        )


@irdl_op_definition
class ComponentOp(DeclaredOperation):
    """Take one component of a ciphertext.

    Shapes:
        [component, *batch, limb, N] -> [*batch, limb, N].
    """

    name = "rns.component"
    input = operand_def(ResiduesType)
    index = prop_def(IntegerAttr)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, input: CkksState, *, index: int) -> CkksState:
        _require_components(cls.name, input, index + 1)
        return input.replace(components=1)

    @staticmethod
    def reference(input: torch.Tensor, *, index: int) -> torch.Tensor:
        return input[index]


@irdl_op_definition
class FirstComponentsOp(DeclaredOperation):
    """Take the first components of a ciphertext.

    Shapes:
        [component, *batch, limb, N] -> [count, *batch, limb, N].
    """

    name = "rns.first_components"
    input = operand_def(ResiduesType)
    count = prop_def(IntegerAttr)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, input: CkksState, *, count: int) -> CkksState:
        _require_components(cls.name, input, count)
        return input.replace(components=count)

    @staticmethod
    def reference(input: torch.Tensor, *, count: int) -> torch.Tensor:
        return input[:count]


@irdl_op_definition
class DropLimbsOp(DeclaredOperation):
    """Drop the limbs above a depth; the rest is copied.

    Shapes:
        [*batch, limb, N] -> [*batch, fewer limbs, N].
    """

    name = "rns.drop_limbs"
    input = operand_def(ResiduesType)
    target_depth = prop_def(IntegerAttr)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True, consumes_depth=True)

    @classmethod
    def transfer(cls, input: CkksState, *, target_depth: int) -> CkksState:
        require_reachable(cls.name, input, target_depth)
        return input.replace(depth=target_depth)

    @staticmethod
    def reference(input: torch.Tensor, *, target_depth: int, depth: int = 0) -> torch.Tensor:
        return input[..., target_depth - depth :, :].clone()


@irdl_op_definition
class AddToFirstComponentOp(BinaryOperation):
    """Add a polynomial to the first component: (a_0 + b, a_1, ...) (mod q_i).

    Shapes:
        [component, *batch, limb, N] + [*batch, limb, N], rns_params [row, limb] -> the first shape.
    """

    name = "rns.add_to_first_component"

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        require(cls.name, rhs, "components", 1, "Take one with rns.component", "summand")
        return super().transfer(lhs, rhs)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        result = lhs.clone()
        result[0] = limb_wise(lambda q, radix, a, b: a + b, rns_params, lhs[0], rhs)
        return result


@irdl_op_definition
class AddConstantOp(DeclaredOperation):
    """Add a constant polynomial to the first component.

    It is the constant coefficient, and the same value at every root of the NTT domain.

    Shapes:
        [component, *batch, limb, N] + [limb, 1], rns_params [row, limb] -> the first shape.
    """

    name = "rns.add_constant"
    input = operand_def(ResiduesType)
    constant = operand_def(TableType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        require_standard(cls.name, input)
        return input

    @staticmethod
    def reference(
        input: torch.Tensor,
        constant: torch.Tensor,
        rns_params: torch.Tensor,
        *,
        polynomial_domain: str = "coefficient",
    ) -> torch.Tensor:
        result = input.clone()
        columns = slice(0, 1) if polynomial_domain == "coefficient" else slice(None)
        part = input[0][..., columns]
        result[0][..., columns] = limb_wise(
            lambda q, radix, a, b: a + b, rns_params, part, constant
        )
        return result
