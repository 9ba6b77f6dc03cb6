"""Implementations of whole CKKS operations, key generation, encryption, and their tables."""

from fhelium.backend.ckks.device_resources import CkksDeviceResources
from fhelium.backend.ckks.key_switching import NativeKeySwitchImplementation
from fhelium.backend.ckks.levels import (
    NativeAlignImplementation,
    NativeModSwitchImplementation,
    NativeRescaleImplementation,
)
from fhelium.backend.ckks.products import (
    NativePlaintextImplementation,
    NativeProductImplementation,
    NativeScalarImplementation,
)

__all__ = ["IMPLEMENTATIONS", "CkksDeviceResources"]

IMPLEMENTATIONS = (
    NativeProductImplementation,
    NativePlaintextImplementation,
    NativeScalarImplementation,
    NativeKeySwitchImplementation,
    NativeRescaleImplementation,
    NativeModSwitchImplementation,
    NativeAlignImplementation,
)
