"""Randomness: fresh entropy, named streams and the fork guard. Samplers are native operators."""

from fhelium.rng.entropy import (
    fresh_bytes,
    is_recorded,
    mark_native_threads_used,
    no_randomness,
    require_unforked,
    require_unrecorded,
)
from fhelium.rng.streams import STREAM_VERSION, Domain, RandomSource, derive, key_tensor

__all__ = [
    "STREAM_VERSION",
    "Domain",
    "RandomSource",
    "derive",
    "fresh_bytes",
    "is_recorded",
    "key_tensor",
    "mark_native_threads_used",
    "no_randomness",
    "require_unforked",
    "require_unrecorded",
]
