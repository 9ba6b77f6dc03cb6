"""Implementations on residue tensors."""

from fhelium.backend.rns.arithmetic import (
    NativeRnsLinearImplementation,
    NativeRnsMontgomeryImplementation,
)
from fhelium.backend.rns.basis import NativeBasisConversionImplementation
from fhelium.backend.rns.ciphertexts import (
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
