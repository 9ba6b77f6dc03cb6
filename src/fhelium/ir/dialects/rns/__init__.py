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
from fhelium.ir.dialects.rns.basis import ModDownOp, ModUpOp
from fhelium.ir.dialects.rns.types import ResiduesType, TableType

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
    ],
    [ResiduesType, TableType],
)
