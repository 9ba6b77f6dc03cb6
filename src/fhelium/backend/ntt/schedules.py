"""Schedules of the CUDA transforms: how many levels each pass over memory takes."""

from __future__ import annotations

import torch

from fhelium.errors import ParameterError

_TILE_LEVELS = 8
_LARGEST_TILE_LEVELS = 9


def compact_schedule(degree: int) -> torch.Tensor:
    """Group the levels of a transform into as few passes over memory as the kernels allow.

    The last pass works on neighbours and takes 8 levels; passes in front of it take 9 at most. So
    up to N = 2^8 one pass serves, up to N = 2^17 two.

    Shapes: int64 [passes] on the CPU, where a call reads it without waiting for a device.

    Cost: none.

    Args:
        degree: Ring degree N, a power of two, at least 16.

    Returns:
        The levels of each pass of the forward transform, in order.

    Raises:
        ParameterError: The degree is no power of two from 16 on. Pass the ring degree N.

    Example:
        >>> compact_schedule(2**16).tolist()
        [8, 8]

    Source: D. H. Bailey, "FFTs in External or Hierarchical Memory", 1990.
    """
    levels = _levels("compact_schedule", degree)
    passes: list[int] = []
    while levels > 0:
        most = _LARGEST_TILE_LEVELS if passes and levels == _LARGEST_TILE_LEVELS else _TILE_LEVELS
        passes.insert(0, min(levels, most))
        levels -= passes[0]
    return torch.tensor(passes, dtype=torch.int64)


def fixed_radix_schedule(degree: int, radix: int) -> torch.Tensor:
    """Take passes of one radix; the first takes what is left over.

    Shapes: int64 [passes] on the CPU.

    Cost: none.

    Args:
        degree: Ring degree N, a power of two, at least 16.
        radix: Words of one butterfly of a pass, a power of two from 2 to 256.

    Returns:
        The levels of each pass of the forward transform, in order.

    Raises:
        ParameterError: The degree or the radix is outside its range. Pass a power of two in it.

    Example:
        >>> fixed_radix_schedule(2**10, 16).tolist()
        [2, 4, 4]

    Source: E. Chu, A. George, "Inside the FFT Black Box", 2000.
    """
    levels = _levels("fixed_radix_schedule", degree)
    if radix < 2 or radix & (radix - 1) or radix > 1 << _TILE_LEVELS:
        raise ParameterError(
            "fixed_radix_schedule",
            f"radix is {radix}",
            f"A pass takes a power of two from 2 to {1 << _TILE_LEVELS}",
            "Pass a radix in that range",
        )
    each = radix.bit_length() - 1
    rest = [levels % each] if levels % each else []
    return torch.tensor(rest + [each] * (levels // each), dtype=torch.int64)


def _levels(operation: str, degree: int) -> int:
    if degree < 16 or degree & (degree - 1):
        raise ParameterError(
            operation,
            f"degree is {degree}",
            "The ring degree is a power of two from 16 on",
            "Pass the ring degree N",
        )
    return degree.bit_length() - 1
