"""CKKS homomorphic encryption for PyTorch: encrypted values are tensors with honest state.

Names are loaded on first use, so that ``import fhelium`` costs little more than nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fhelium import errors
from fhelium.version import __version__

if TYPE_CHECKING:
    from fhelium.config import CkksConfig, Preset
    from fhelium.eager import DecryptPolicy, Engine
    from fhelium.serialization import inspect_value, load_value, save_value
    from fhelium.values import (
        Ciphertext,
        ConjugationKey,
        EvaluationKeys,
        Plaintext,
        PublicKey,
        RelinearizationKey,
        RotationKey,
        SecretKey,
        SwitchingKey,
    )

__all__ = [
    "Ciphertext",
    "CkksConfig",
    "ConjugationKey",
    "DecryptPolicy",
    "Engine",
    "EvaluationKeys",
    "Plaintext",
    "Preset",
    "PublicKey",
    "RelinearizationKey",
    "RotationKey",
    "SecretKey",
    "SwitchingKey",
    "__version__",
    "errors",
    "inspect_value",
    "load_value",
    "save_value",
]

_HOMES = {
    "fhelium.config": ("CkksConfig", "Preset"),
    "fhelium.eager": ("DecryptPolicy", "Engine"),
    "fhelium.serialization": ("inspect_value", "load_value", "save_value"),
    "fhelium.values": (
        "Ciphertext",
        "ConjugationKey",
        "EvaluationKeys",
        "Plaintext",
        "PublicKey",
        "RelinearizationKey",
        "RotationKey",
        "SecretKey",
        "SwitchingKey",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'fhelium' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
