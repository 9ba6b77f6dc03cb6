"""The IR type of residue tensors."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_attr_definition

from fhelium.ir.types import VALUE_AXES, StatefulType


@irdl_attr_definition
class ResiduesType(StatefulType):
    """Residues [*batch, limb, N] of one basis and depth."""

    name = "rns.residues"
    VALUE_CLASS: ClassVar[str] = "Tensor"
    # A scale is a matter of reading residues, not of computing with them.
    AXES: ClassVar[tuple[str, ...]] = tuple(axis for axis in VALUE_AXES if axis != "scale")
