"""Implementations on residue tensors."""

from fhelium.backend.rns.arithmetic import (
    NativeRnsLinearImplementation,
    NativeRnsMontgomeryImplementation,
)
from fhelium.backend.rns.basis import NativeBasisConversionImplementation

IMPLEMENTATIONS = (
    NativeRnsLinearImplementation,
    NativeRnsMontgomeryImplementation,
    NativeBasisConversionImplementation,
)
