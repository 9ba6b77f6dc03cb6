"""The ckks dialect: operations on ciphertexts, with their state rules and clear meaning."""

from xdsl.ir import Dialect

from fhelium.ir.dialects.ckks.arithmetic import (
    AddManyOp,
    AddOp,
    MultiplyOp,
    NegateOp,
    SquareOp,
    SubtractOp,
)
from fhelium.ir.dialects.ckks.key_switching import RelinearizeOp, SwitchKeyOp
from fhelium.ir.dialects.ckks.labels import (
    AssumeMessageBoundOp,
    BoundByOp,
    ReinterpretScaleOp,
)
from fhelium.ir.dialects.ckks.levels import AlignOp, ModSwitchOp, RescaleOp
from fhelium.ir.dialects.ckks.plaintexts import (
    AddPlaintextOp,
    MultiplyPlaintextOp,
    SumPlaintextProductsOp,
)
from fhelium.ir.dialects.ckks.products import MultiplyPlaintextRescaleOp, MultiplyRescaleOp
from fhelium.ir.dialects.ckks.representation import (
    CoefficientToNttOp,
    FromMontgomeryOp,
    NttToCoefficientOp,
)
from fhelium.ir.dialects.ckks.rotation import ConjugateOp, RotateManyOp, RotateOp
from fhelium.ir.dialects.ckks.scalars import AddScalarOp, MultiplyScalarOp
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
        BoundByOp,
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
