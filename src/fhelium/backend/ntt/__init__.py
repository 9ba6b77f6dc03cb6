"""Number theoretic transforms."""

from fhelium.backend.ntt.transforms import (
    DEFAULT_NTT_BACKEND,
    NTT_BACKENDS,
    IndexedNttImplementation,
    PackedNttImplementation,
    Transform,
    ntt_backend_of,
    require_ntt_backend,
    transform_symbols,
)

__all__ = [
    "DEFAULT_NTT_BACKEND",
    "IMPLEMENTATIONS",
    "NTT_BACKENDS",
    "IndexedNttImplementation",
    "PackedNttImplementation",
    "Transform",
    "ntt_backend_of",
    "require_ntt_backend",
    "transform_symbols",
]

IMPLEMENTATIONS = (PackedNttImplementation, IndexedNttImplementation)
