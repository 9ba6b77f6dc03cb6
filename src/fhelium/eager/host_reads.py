"""Calls that read values on the host cannot be part of recorded work."""

from __future__ import annotations

from fhelium.errors import RecordingError
from fhelium.rng import is_recorded


def require_host(operation: str, reads: str) -> None:
    """Refuse a call while work is recorded for replay: no replay would read on the host again.

    Example:
        >>> require_host("decrypt", "the result")
    """
    if is_recorded():
        raise RecordingError(
            operation,
            f"it reads {reads} on the host, while work is recorded for replay",
            "A replay repeats the device's work alone",
            "Make this call outside the captured callable",
        )
