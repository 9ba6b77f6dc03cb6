"""Products of ciphertexts, of digits with keys and with constants, and rescaling."""

from __future__ import annotations

from functools import partial, reduce
from typing import ClassVar

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def

from fhelium.ir.dialects.rns.arithmetic import MultiplyMontgomeryOp
from fhelium.ir.dialects.rns.exact import centred, integers, limb_wise, moduli_of, residues
from fhelium.ir.dialects.rns.shapes import (
    BinaryOperation,
    UnaryOperation,
    require_coefficients,
    require_standard,
)
from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation, OperationFacts
from fhelium.ir.rules import Rounding, require, require_depth_left, require_rounding
from fhelium.ir.types import TableType
from fhelium.values import CkksState

_FORWARD = "Transform it with ntt.forward"


def _multiply(rns_params: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return limb_wise(lambda q, radix, x, y: x * y, rns_params, a, b)


def _add(rns_params: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return limb_wise(lambda q, radix, x, y: x + y, rns_params, a, b)


@irdl_op_definition
class CiphertextProductOp(BinaryOperation):
    """Multiply two ciphertexts: (a0 b0, a0 b1 + a1 b0, a1 b1) (mod q_i).

    Shapes:
        [2, *batch, limb, N] x the same, rns_params [row, limb] -> [3, *batch, limb, N], NTT domain.
    """

    name = "rns.ciphertext_product"

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        for state in (lhs, rhs):
            require(cls.name, state, "polynomial_domain", "ntt", _FORWARD)
            require(cls.name, state, "components", 2, "Relinearize it first")
            require_standard(cls.name, state)
        return super().transfer(lhs, rhs).replace(components=3)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        cross = [_multiply(rns_params, lhs[i], rhs[1 - i]) for i in range(2)]
        first, last = (_multiply(rns_params, lhs[i], rhs[i]) for i in range(2))
        return torch.stack([first, _add(rns_params, *cross), last])


@irdl_op_definition
class CiphertextSquareOp(UnaryOperation):
    """Square a ciphertext: (a0^2, 2 a0 a1, a1^2) (mod q_i).

    Shapes:
        [2, *batch, limb, N], rns_params [row, limb] -> [3, *batch, limb, N], NTT domain.
    """

    name = "rns.ciphertext_square"

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        return CiphertextProductOp.transfer(input, input)

    @staticmethod
    def reference(input: torch.Tensor, rns_params: torch.Tensor) -> torch.Tensor:
        return CiphertextProductOp.reference(input, input, rns_params)


@irdl_op_definition
class MultiplyConstantOp(DeclaredOperation):
    """Multiply by one number a limb, given in Montgomery form: c = a b R^-1 (mod q_i).

    Shapes:
        [*batch, limb, N] x [limb, 1], rns_params [row, limb] -> [*batch, limb, N], either domain.
    """

    name = "rns.multiply_constant"
    input = operand_def(ResiduesType)
    constant = operand_def(TableType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        return input

    @staticmethod
    def reference(
        input: torch.Tensor, constant: torch.Tensor, rns_params: torch.Tensor
    ) -> torch.Tensor:
        return MultiplyMontgomeryOp.reference(input, constant, rns_params)


@irdl_op_definition
class KeySwitchInnerProductOp(DeclaredOperation):
    """Multiply digits with those of a switching key and add up: sum_d x_d (k_d0, k_d1) R^-1.

    The key covers the full chain; the limbs and digits that are in use at the depth are its last.

    Shapes:
        [digit, *batch, limb + K, N], key [all digits, 2, all limbs, N] -> [2, *batch, limb + K, N],
        NTT domain on QP.

    Source:
        Han, Ki (CT-RSA 2020), hybrid key switching.
    """

    name = "rns.key_switch_inner_product"
    digits = operand_def(ResiduesType)
    key = operand_def(ResiduesType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, digits: CkksState, key: CkksState) -> CkksState:
        for state in (digits, key):
            require(cls.name, state, "modulus_basis", "QP", "Raise it with rns.mod_up")
            require(cls.name, state, "polynomial_domain", "ntt", _FORWARD)
        require(cls.name, digits, "components", 1, "Take one with rns.component")
        require(cls.name, key, "residue_representation", "montgomery", "Keys are kept in that form")
        return digits.replace(components=2)

    @staticmethod
    def reference(
        digits: torch.Tensor, key: torch.Tensor, rns_params: torch.Tensor
    ) -> torch.Tensor:
        active = key[key.shape[0] - digits.shape[0] :, :, key.shape[2] - rns_params.shape[1] :]
        pairs = list(zip(digits, active, strict=True))
        sums = []
        for part in range(2):
            terms = (MultiplyConstantOp.reference(x, k[part], rns_params) for x, k in pairs)
            sums.append(reduce(partial(_add, rns_params), terms))
        return torch.stack(sums)


@irdl_op_definition
class RescaleOp(DeclaredOperation):
    """Divide by the first prime with rounding: y = (x - r) / q_d, r the centred x mod q_d.

    With ``rounding = "truncate"`` r is the representative in [0, q_d).

    Shapes:
        [*batch, limb, N], rns_params of all limbs -> [*batch, limb - 1, N], coefficient domain.

    Source:
        Cheon, Han, Kim, Kim, Song (SAC 2018).
    """

    name = "rns.rescale"
    input = operand_def(ResiduesType)
    inverse = operand_def(TableType)
    rns_params = operand_def(TableType)
    rounding = opt_prop_def(StringAttr)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(consumes_depth=True)

    @classmethod
    def transfer(cls, input: CkksState, *, rounding: Rounding = "nearest") -> CkksState:
        require_coefficients(cls.name, input)
        require_depth_left(cls.name, input)
        require_rounding(cls.name, rounding)
        return input.replace(depth=None if input.depth is None else input.depth + 1)

    @staticmethod
    def reference(
        input: torch.Tensor,
        inverse: torch.Tensor,
        rns_params: torch.Tensor,
        *,
        rounding: Rounding = "nearest",
    ) -> torch.Tensor:
        moduli = moduli_of(rns_params)
        values = integers(input)
        remainder = centred(values[..., :1, :], moduli[:1])
        if rounding == "truncate":
            remainder = remainder % moduli[0]
        whole = centred(values, moduli)
        return residues((whole - remainder) // moduli[0], moduli[1:], input.dtype)
