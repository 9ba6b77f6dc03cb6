"""The ckks dialect: operations on ciphertexts, with their state rules and clear meaning."""

from xdsl.ir import Dialect

from fhelium.ir.dialects.ckks.arithmetic import (
    AddOp,
    MultiplyOp,
    NegateOp,
    RelinearizeOp,
    SquareOp,
    SubtractOp,
)
from fhelium.ir.dialects.ckks.levels import AlignOp, ModSwitchOp, RescaleOp
from fhelium.ir.dialects.ckks.plain import (
    AddPlaintextOp,
    AddScalarOp,
    MultiplyPlaintextOp,
    MultiplyScalarOp,
)
from fhelium.ir.dialects.ckks.representation import CoefficientToNttOp, NttToCoefficientOp
from fhelium.ir.dialects.ckks.rotation import ConjugateOp, RotateOp
from fhelium.ir.dialects.ckks.types import (
    CiphertextType,
    ConjugationKeyType,
    PlaintextType,
    RelinearizationKeyType,
    RotationKeyType,
)

CKKS = Dialect(
    "ckks",
    [
        AddOp,
        SubtractOp,
        NegateOp,
        MultiplyOp,
        SquareOp,
        RelinearizeOp,
        AddPlaintextOp,
        MultiplyPlaintextOp,
        AddScalarOp,
        MultiplyScalarOp,
        RotateOp,
        ConjugateOp,
        RescaleOp,
        ModSwitchOp,
        AlignOp,
        CoefficientToNttOp,
        NttToCoefficientOp,
    ],
    [CiphertextType, PlaintextType, RelinearizationKeyType, RotationKeyType, ConjugationKeyType],
)
