"""Short texts for reprs and refusals: scales, sizes, bits, lists."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fhelium.errors import FHEliumError


def scale_text(scale: float | None) -> str:
    """Return a scale as a power of two; a rounded exponent always shows its decimals.

    Example:
        >>> scale_text(2.0**40), scale_text(3.0 * 2**40), scale_text(None)
        ('2^40', '2^41.5850', 'unknown')
    """
    if scale is None:
        return "unknown"
    if not (math.isfinite(scale) and scale > 0):
        return repr(scale)
    mantissa, exponent = math.frexp(scale)
    return f"2^{exponent - 1}" if mantissa == 0.5 else f"2^{math.log2(scale):.4f}"


def size_text(nbytes: int) -> str:
    """Return a number of bytes in the unit a reader would choose.

    Example:
        >>> size_text(512), size_text(49152), size_text(3 << 30)
        ('512 B', '48.0 KiB', '3.0 GiB')
    """
    size, units = float(nbytes), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{nbytes} B" if units[0] == "B" else f"{size:.1f} {units[0]}"


def bits_text(bits: float | None) -> str:
    """Return how many bits of precision are left, as a repr says it.

    Example:
        >>> bits_text(21.27), bits_text(None)
        ('21.3 bits left', 'bits left unknown')
    """
    return "bits left unknown" if bits is None else f"{bits:.1f} bits left"


def count_text(count: int, noun: str) -> str:
    """Return a count with its noun in the right number.

    Example:
        >>> count_text(1, "limb"), count_text(4, "limb")
        ('1 limb', '4 limbs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def list_text(items: Sequence[object], limit: int = 16) -> str:
    """Return the items in brackets; a long list is cut and says how long it is.

    Example:
        >>> list_text([1, 2, 4]), list_text(range(100), limit=2)
        ('[1, 2, 4]', '[0, 1, ...] (100 in all)')
    """
    shown = ", ".join(str(item) for item in items[:limit])
    return f"[{shown}]" if len(items) <= limit else f"[{shown}, ...] ({len(items)} in all)"


def index_error(operation: str, fact: str, rule: str = "", remedy: str = "") -> IndexError:
    """Return an IndexError, which Python's protocols expect, with the text of an FHEliumError.

    Example:
        >>> str(index_error("index", "index 5 is past 3 values", "", "Use 0 to 2"))
        'index: index 5 is past 3 values. Use 0 to 2.'
    """
    return IndexError(str(FHEliumError(operation, fact, rule, remedy)))
