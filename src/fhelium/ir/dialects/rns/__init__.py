"""The rns dialect: operations on residue tensors, with parameter rows as operands."""

from xdsl.ir import Dialect

from fhelium.ir.dialects.rns.arithmetic import (
    AddStandardOp,
    FromMontgomeryOp,
    MultiplyMontgomeryOp,
    NegateStandardOp,
    SubtractStandardOp,
    ToMontgomeryOp,
)
from fhelium.ir.dialects.rns.automorphism import AutomorphismOp
from fhelium.ir.dialects.rns.basis import ModDownOp, ModUpOp
from fhelium.ir.dialects.rns.components import (
    AddConstantOp,
    AddToFirstComponentOp,
    ComponentOp,
    DropLimbsOp,
    FirstComponentsOp,
)
from fhelium.ir.dialects.rns.products import (
    CiphertextProductOp,
    CiphertextSquareOp,
    KeySwitchInnerProductOp,
    MultiplyConstantOp,
    RescaleOp,
)
from fhelium.ir.dialects.rns.types import ResiduesType
from fhelium.ir.types import TableType

RNS = Dialect(
    "rns",
    [
        AddStandardOp,
        SubtractStandardOp,
        NegateStandardOp,
        MultiplyMontgomeryOp,
        ToMontgomeryOp,
        FromMontgomeryOp,
        ModUpOp,
        ModDownOp,
        ComponentOp,
        FirstComponentsOp,
        DropLimbsOp,
        AddToFirstComponentOp,
        AddConstantOp,
        CiphertextProductOp,
        CiphertextSquareOp,
        MultiplyConstantOp,
        KeySwitchInnerProductOp,
        RescaleOp,
        AutomorphismOp,
    ],
    [ResiduesType, TableType],
)
