"""Operand lists that several residue operations share."""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def

from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.types import TableType


class UnaryOperation(DeclaredOperation):
    """Base of the operations on one tensor of residues and its parameter rows."""

    input = operand_def(ResiduesType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)


class BinaryOperation(DeclaredOperation):
    """Base of the operations on two tensors of residues and their parameter rows."""

    lhs = operand_def(ResiduesType)
    rhs = operand_def(ResiduesType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
