"""What residue operations share: operand lists, the state they keep, and the forms they take."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import operand_def, result_def

from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.operation import DeclaredOperation, OperationFacts
from fhelium.ir.rules import agreed, require
from fhelium.ir.types import TableType
from fhelium.values import CkksState


class UnaryOperation(DeclaredOperation):
    """Base of the operations on one tensor of residues and its parameter rows."""

    input = operand_def(ResiduesType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, input: CkksState) -> CkksState:
        return input


class BinaryOperation(DeclaredOperation):
    """Base of the operations on two tensors of residues and their parameter rows."""

    lhs = operand_def(ResiduesType)
    rhs = operand_def(ResiduesType)
    rns_params = operand_def(TableType)
    result = result_def(ResiduesType)
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        return joined(cls.name, lhs, rhs, "residue_representation")


def joined(operation: str, lhs: CkksState, rhs: CkksState, *further: str) -> CkksState:
    """Return the state of a combination of residues; one component broadcasts over several."""
    axes = ["depth", "modulus_basis", "polynomial_domain", *further]
    if lhs.components == 1:
        lhs = lhs.replace(components=rhs.components)
    elif rhs.components != 1:
        axes.append("components")
    return lhs.replace(**agreed(operation, (lhs, rhs), *axes))


def require_standard(operation: str, state: CkksState) -> None:
    """Refuse residues times R, whose products and exact representatives are not the value's."""
    remedy = "Convert it with rns.from_montgomery"
    require(operation, state, "residue_representation", "standard", remedy)


def require_coefficients(operation: str, state: CkksState) -> None:
    """Refuse residues that exact representatives cannot be taken of."""
    require(operation, state, "polynomial_domain", "coefficient", "Transform it with ntt.inverse")
    require_standard(operation, state)
