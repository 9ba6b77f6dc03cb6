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
from fhelium.ir.dialects.ckks.bounds import AssumeMessageBoundOp
from fhelium.ir.dialects.ckks.levels import (
    AlignOp,
    ModSwitchOp,
    ReinterpretScaleOp,
    RescaleOp,
)
from fhelium.ir.dialects.ckks.plain import (
    AddPlaintextOp,
    AddScalarOp,
    MultiplyPlaintextOp,
    MultiplyScalarOp,
)
from fhelium.ir.dialects.ckks.products import MultiplyPlaintextRescaleOp, MultiplyRescaleOp
from fhelium.ir.dialects.ckks.representation import (
    CoefficientToNttOp,
    FromMontgomeryOp,
    NttToCoefficientOp,
)
from fhelium.ir.dialects.ckks.rotation import ConjugateOp, RotateOp
from fhelium.ir.dialects.ckks.sums import AddManyOp, SumPlaintextProductsOp
from fhelium.ir.dialects.ckks.switching import RotateManyOp, SwitchKeyOp
from fhelium.ir.dialects.ckks.types import (
    CiphertextType,
    ConjugationKeyType,
    PlaintextType,
    RelinearizationKeyType,
    RotationKeyType,
    SwitchingKeyType,
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
        MultiplyRescaleOp,
        AddPlaintextOp,
        MultiplyPlaintextOp,
        MultiplyPlaintextRescaleOp,
        AddScalarOp,
        MultiplyScalarOp,
        AddManyOp,
        SumPlaintextProductsOp,
        RotateOp,
        ConjugateOp,
        RotateManyOp,
        SwitchKeyOp,
        RescaleOp,
        ModSwitchOp,
        AlignOp,
        ReinterpretScaleOp,
        AssumeMessageBoundOp,
        CoefficientToNttOp,
        NttToCoefficientOp,
        FromMontgomeryOp,
    ],
    [
        CiphertextType,
        PlaintextType,
        RelinearizationKeyType,
        RotationKeyType,
        ConjugationKeyType,
        SwitchingKeyType,
    ],
)
