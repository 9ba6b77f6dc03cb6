"""IR types of residue tensors and of the tables that their operations read."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_attr_definition

from fhelium.ir.operation import ValueType


@irdl_attr_definition
class ResiduesType(ValueType):
    """Residues [*batch, limb, N] of one basis and depth."""

    name = "rns.residues"
    VALUE_CLASS: ClassVar[str] = "Tensor"


@irdl_attr_definition
class TableType(ValueType):
    """A numerical table: parameter rows, conversion constants, twiddles. It carries no state."""

    name = "rns.table"
    VALUE_CLASS: ClassVar[str] = "Tensor"
