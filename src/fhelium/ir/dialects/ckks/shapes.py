"""Operand lists that several operations on ciphertexts share."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.irdl import operand_def, result_def

from fhelium.ir.dialects.ckks.types import CiphertextType, PlaintextType
from fhelium.ir.operation import DeclaredOperation


class UnaryOperation(DeclaredOperation):
    """Base of the operations on one ciphertext; most leave every slot as it is."""

    ciphertext = operand_def(CiphertextType)
    result = result_def(CiphertextType)

    @staticmethod
    def reference(ciphertext: torch.Tensor, **attributes: Any) -> torch.Tensor:
        return ciphertext


class BinaryOperation(DeclaredOperation):
    """Base of the operations on two ciphertexts."""

    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    result = result_def(CiphertextType)


class PlaintextOperation(DeclaredOperation):
    """Base of the operations on a ciphertext and an encoded vector."""

    ciphertext = operand_def(CiphertextType)
    plaintext = operand_def(PlaintextType)
    result = result_def(CiphertextType)
