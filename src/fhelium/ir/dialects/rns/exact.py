"""Exact integer helpers for the clear meaning of residue operations (slow, obviously right)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

Integers = np.ndarray  # dtype object: Python integers, so no product overflows


def integers(tensor: torch.Tensor) -> Integers:
    """Return the tensor's values as Python integers."""
    return tensor.detach().cpu().numpy().astype(object)


def moduli_of(rns_params: torch.Tensor) -> list[int]:
    """Return the prime of each limb (row 0 of the parameter tensor)."""
    return [int(q) for q in rns_params[0].tolist()]


def radix_of(rns_params: torch.Tensor) -> list[int]:
    """Return Montgomery's R of each limb (row 2 holds its logarithm)."""
    return [1 << int(bits) for bits in rns_params[2].tolist()]


def odd_powers(degree: int) -> list[int]:
    """Return the exponent of psi that each NTT value belongs to: 2 bitrev(k) + 1."""
    bits = degree.bit_length() - 1
    return [2 * int(format(k, f"0{bits}b")[::-1], 2) + 1 for k in range(degree)]


def limb_wise(
    function: Callable[..., Integers], rns_params: torch.Tensor, *operands: torch.Tensor
) -> torch.Tensor:
    """Apply ``function(q, R, *rows) mod q`` to each limb of the operands."""
    arrays = [integers(operand) for operand in operands]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    arrays = [np.broadcast_to(array, shape) for array in arrays]
    result = np.empty(shape, dtype=object)
    for limb, (q, radix) in enumerate(
        zip(moduli_of(rns_params), radix_of(rns_params), strict=True)
    ):
        rows = [array[..., limb, :] for array in arrays]
        result[..., limb, :] = function(q, radix, *rows) % q
    return torch.from_numpy(result.astype(np.int64)).to(operands[0].dtype)


def centred(residues: Integers, moduli: list[int]) -> Integers:
    """Return the integer of least size for each column of residues [*batch, limb, N]."""
    product = math.prod(moduli)
    total = np.zeros(residues.shape[:-2] + residues.shape[-1:], dtype=object)
    for limb, q in enumerate(moduli):
        rest = product // q
        total = total + residues[..., limb, :] * (rest * pow(rest, -1, q))
    total = total % product
    return np.where(total > product // 2, total - product, total)


def residues(values: Integers, moduli: list[int], dtype: torch.dtype) -> torch.Tensor:
    """Return the residues [*batch, limb, N] of integers [*batch, N]."""
    rows = [values % q for q in moduli]
    return torch.from_numpy(np.stack(rows, axis=-2).astype(np.int64)).to(dtype)
