"""Coefficient-wise operations on residues, and the Montgomery transitions."""

from __future__ import annotations

from typing import ClassVar

import torch
from xdsl.irdl import irdl_op_definition

from fhelium.ir.dialects.rns.exact import limb_wise
from fhelium.ir.dialects.rns.shapes import BinaryOperation, UnaryOperation, joined
from fhelium.ir.operation import OperationFacts
from fhelium.ir.rules import require
from fhelium.values import CkksState

_IN_PLACE = OperationFacts(limb_wise=True, in_place=True)


@irdl_op_definition
class AddStandardOp(BinaryOperation):
    """Add residues: c = a + b (mod q_i), canonical in [0, q_i).

    Shapes:
        [*batch, limb, N] + broadcastable residues, rns_params [row, limb] -> [*batch, limb, N].
    """

    name = "rns.add_standard"
    FACTS: ClassVar = _IN_PLACE

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a, b: a + b, rns_params, lhs, rhs)


@irdl_op_definition
class SubtractStandardOp(BinaryOperation):
    """Subtract residues: c = a - b (mod q_i), canonical in [0, q_i).

    Shapes:
        [*batch, limb, N] - broadcastable residues, rns_params [row, limb] -> [*batch, limb, N].
    """

    name = "rns.subtract_standard"
    FACTS: ClassVar = _IN_PLACE

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a, b: a - b, rns_params, lhs, rhs)


@irdl_op_definition
class NegateStandardOp(UnaryOperation):
    """Negate residues: c = -a (mod q_i), canonical in [0, q_i).

    Shapes:
        [*batch, limb, N], rns_params [row, limb] -> [*batch, limb, N].
    """

    name = "rns.negate_standard"
    FACTS: ClassVar = _IN_PLACE

    @staticmethod
    def reference(input: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a: -a, rns_params, input)


@irdl_op_definition
class MultiplyMontgomeryOp(BinaryOperation):
    """Multiply residues with one Montgomery reduction: c = a b R^-1 (mod q_i).

    A standard operand times a Montgomery one gives a standard result.

    Shapes:
        [*batch, limb, N] x broadcastable residues, rns_params [row, limb] -> [*batch, limb, N].

    Source:
        Montgomery (Mathematics of Computation 44, 1985).
    """

    name = "rns.multiply_montgomery"
    FACTS: ClassVar = _IN_PLACE

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        remedy = "Convert the factor with rns.to_montgomery"
        require(cls.name, rhs, "residue_representation", "montgomery", remedy, "second factor")
        return joined(cls.name, lhs, rhs)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a, b: a * b * pow(radix, -1, q), rns_params, lhs, rhs)


@irdl_op_definition
class ToMontgomeryOp(UnaryOperation):
    """Write residues in Montgomery form: c = a R (mod q_i).

    Shapes:
        [*batch, limb, N], rns_params [row, limb] -> [*batch, limb, N].
    """

    name = "rns.to_montgomery"
    FACTS: ClassVar = _IN_PLACE

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        require(cls.name, input, "residue_representation", "standard", "It is in that form already")
        return input.replace(residue_representation="montgomery")

    @staticmethod
    def reference(input: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a: a * radix, rns_params, input)


@irdl_op_definition
class FromMontgomeryOp(UnaryOperation):
    """Write Montgomery residues in standard form: c = a R^-1 (mod q_i).

    Shapes:
        [*batch, limb, N], rns_params [row, limb] -> [*batch, limb, N].
    """

    name = "rns.from_montgomery"
    FACTS: ClassVar = _IN_PLACE

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        remedy = "It is in that form already"
        require(cls.name, input, "residue_representation", "montgomery", remedy)
        return input.replace(residue_representation="standard")

    @staticmethod
    def reference(input: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return limb_wise(lambda q, radix, a: a * pow(radix, -1, q), rns_params, input)
