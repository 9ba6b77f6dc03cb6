"""Basis changes of hybrid key switching: digits up to QP, and QP down to Q."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from fhelium.ir.dialects.rns.exact import centred, integers, moduli_of, residues
from fhelium.ir.dialects.rns.shapes import require_coefficients
from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.rules import require
from fhelium.ir.types import TableType
from fhelium.values import CkksState


@irdl_op_definition
class ModUpOp(DeclaredOperation):
    """Cut residues into digits and raise each to QP as its exact centred representative.

    Digit D covers some consecutive limbs; x mod D is taken as the integer |x| <= (D - 1)/2 and
    reduced modulo every limb of QP. Its own limbs are copied.

    Shapes:
        [*batch, limb, N] on Q -> [digit, *batch, limb + K, N] on QP, coefficient domain.

    Source:
        Halevi, Polyakov, Shoup (CT-RSA 2019), "An improved RNS variant of the BFV homomorphic
        encryption scheme", section 2 (exact conversion); Han, Ki (CT-RSA 2020).
    """

    name = "rns.mod_up"
    input = operand_def(ResiduesType)
    digit_bounds = operand_def(TableType)
    digit_scale = operand_def(TableType)
    matrix = operand_def(TableType)
    correction = operand_def(TableType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        require_coefficients(cls.name, input)
        require(cls.name, input, "modulus_basis", "Q", "It is on QP already")
        return input.replace(modulus_basis="QP")

    @staticmethod
    def reference(
        input: torch.Tensor,
        digit_bounds: torch.Tensor,
        digit_scale: torch.Tensor,
        matrix: torch.Tensor,
        correction: torch.Tensor,
        rns_params: torch.Tensor,
    ) -> torch.Tensor:
        moduli = moduli_of(rns_params)
        digits = []
        for start, end in pairwise(digit_bounds.tolist()):
            values = centred(integers(input[..., start:end, :]), moduli[start:end])
            digits.append(residues(values, moduli, input.dtype))
        return torch.stack(digits)


@irdl_op_definition
class ModDownOp(DeclaredOperation):
    """Divide by P with rounding: y = (x - r) / P, r the exact centred representative of x mod P.

    Shapes:
        [*batch, limb + K, N] on QP -> [*batch, limb, N] on Q, coefficient domain.

    Source:
        Bajard, Eynard, Hasan, Zucca (SAC 2016), "A full RNS variant of FV like somewhat
        homomorphic encryption schemes"; Han, Ki (CT-RSA 2020).
    """

    name = "rns.mod_down"
    input = operand_def(ResiduesType)
    special_scale = operand_def(TableType)
    matrix = operand_def(TableType)
    correction = operand_def(TableType)
    special_inverse = operand_def(TableType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        require_coefficients(cls.name, input)
        require(cls.name, input, "modulus_basis", "QP", "It is on Q already")
        return input.replace(modulus_basis="Q")

    @staticmethod
    def reference(
        input: torch.Tensor,
        special_scale: torch.Tensor,
        matrix: torch.Tensor,
        correction: torch.Tensor,
        special_inverse: torch.Tensor,
        rns_params: torch.Tensor,
    ) -> torch.Tensor:
        moduli = moduli_of(rns_params)
        kept = len(moduli) - special_scale.shape[0]
        values = integers(input)
        remainder = centred(values[..., kept:, :], moduli[kept:])
        whole = centred(values, moduli)
        quotient = (whole - remainder) // math.prod(moduli[kept:])
        return residues(quotient, moduli[:kept], input.dtype)
