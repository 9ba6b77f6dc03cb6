"""Implementations of whole CKKS operations, key generation, encryption, and their tables."""

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.key_switching import (
    NativeHoistedRotationImplementation,
    NativeKeySwitchImplementation,
)
from fhelium.backend.ckks.levels import (
    NativeAlignImplementation,
    NativeBoundByImplementation,
    NativeModSwitchImplementation,
    NativeRescaleImplementation,
)
from fhelium.backend.ckks.plaintexts import NativePreparePlaintextImplementation
from fhelium.backend.ckks.product_rescale import (
    NativePlaintextProductRescaleImplementation,
    NativeProductRescaleImplementation,
)
from fhelium.backend.ckks.products import (
    NativeAddManyImplementation,
    NativePlaintextProductImplementation,
    NativePlaintextSumImplementation,
    NativeProductImplementation,
    NativeScalarImplementation,
)
from fhelium.backend.ckks.whole_operations import (
    WholeKeySwitchImplementation,
    WholeProductImplementation,
    WholeRescaleImplementation,
)

__all__ = ["IMPLEMENTATIONS", "PREFERRED", "CkksDeviceResources"]

IMPLEMENTATIONS = (
    NativeProductImplementation,
    NativePlaintextSumImplementation,
    NativePlaintextProductImplementation,
    NativeAddManyImplementation,
    NativeScalarImplementation,
    NativeKeySwitchImplementation,
    NativeHoistedRotationImplementation,
    NativeRescaleImplementation,
    NativeBoundByImplementation,
    NativeModSwitchImplementation,
    NativeAlignImplementation,
    NativeProductRescaleImplementation,
    NativePlaintextProductRescaleImplementation,
    NativePreparePlaintextImplementation,
    WholeKeySwitchImplementation,
    WholeProductImplementation,
    WholeRescaleImplementation,
)

PREFERRED = (
    WholeKeySwitchImplementation.name,
    WholeProductImplementation.name,
    WholeRescaleImplementation.name,
)
"""Whole operations come before their compositions; both give the same bits."""
