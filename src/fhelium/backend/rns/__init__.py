"""Implementations on residue tensors."""

from fhelium.backend.rns.arithmetic import (
    NativeRnsLinearImplementation,
    NativeRnsMontgomeryImplementation,
)
from fhelium.backend.rns.ciphertexts import (
    NativeBasisConversionImplementation,
    NativeRnsComponentImplementation,
    NativeRnsProductImplementation,
)

IMPLEMENTATIONS = (
    NativeRnsLinearImplementation,
    NativeRnsMontgomeryImplementation,
    NativeBasisConversionImplementation,
    NativeRnsComponentImplementation,
    NativeRnsProductImplementation,
)
