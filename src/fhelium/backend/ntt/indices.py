"""Index tensors of the plain radix-2 transform, the one that validates the others."""

from __future__ import annotations

import torch

from fhelium.errors import ParameterError


def radix2_indices(
    degree: int, *, inverse: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Name the operands and the twiddle of every butterfly of a negacyclic radix-2 NTT.

    Stage s of the forward transform (Cooley-Tukey) works on 2^s blocks. In block i, butterfly j
    joins positions ``e = 2 i t + j`` and ``o = e + t`` with ``t = N / 2^(s+1)``:
    ``x[e], x[o] = x[e] + w x[o], x[e] - w x[o]`` where ``w`` is twiddle number ``2^s + i``, that is
    psi^bitrev(2^s + i). The inverse (Gentleman-Sande) visits the same butterflies, last stage
    first, as ``x[e], x[o] = x[e] + x[o], (x[e] - x[o]) / w``.

    Shapes: three int64 tensors [log2 N, N / 2] on the CPU.

    Cost: memory 12 N log2 N bytes; no arithmetic on residues.

    Args:
        degree: Ring degree N, a power of two, at least 2.
        inverse: Give the stages in the order of the inverse transform.

    Returns:
        ``(even, odd, schedule)``: the two operand positions and the twiddle's position in one row
        of ``radix2_twiddles``.

    Raises:
        ParameterError: The degree is no power of two. Pass the ring degree N.

    Example:
        >>> even, odd, schedule = radix2_indices(4)
        >>> even.tolist(), odd.tolist(), schedule.tolist()
        ([[0, 1], [0, 2]], [[2, 3], [1, 3]], [[1, 1], [2, 3]])

    Source: P. Longa, M. Naehrig, "Speeding up the Number Theoretic Transform for Faster Ideal
    Lattice-Based Cryptography", 2016, algorithms 1 and 2.
    """
    if degree < 2 or degree & (degree - 1):
        raise ParameterError(
            "radix2_indices",
            f"degree is {degree}",
            "The ring degree is a power of two, at least 2",
            "Pass the ring degree N",
        )
    stages = degree.bit_length() - 1
    butterfly = torch.arange(degree // 2)
    even = torch.empty(stages, degree // 2, dtype=torch.int64)
    odd = torch.empty_like(even)
    schedule = torch.empty_like(even)
    for stage in range(stages):
        half = degree >> (stage + 1)
        block = butterfly // half
        even[stage] = 2 * half * block + butterfly % half
        odd[stage] = even[stage] + half
        schedule[stage] = (1 << stage) + block
    if inverse:
        return even.flip(0), odd.flip(0), schedule.flip(0)
    return even, odd, schedule
