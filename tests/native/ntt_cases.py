"""Transforms whose results every instruction set must give bit for bit."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from tests.native.rns_oracle import is_prime, primitive_root

LOG_DEGREES = range(4, 17)


def neighbours(limit: int, degree: int) -> list[int]:
    """Return the largest prime below a limit and the smallest above it, 1 modulo 2N, below 2^62."""
    step, found = 2 * degree, []
    start = limit // step * step + 1
    for q, stride in ((start if start < limit else start - step, -step), (start, step)):
        while q > 1 and (not is_prime(q) or (stride > 0 and q < limit)):
            q += stride
        if 1 < q < 1 << 62:
            found.append(q)
    return found


@cache
def primes(log_degree: int) -> list[int]:
    """Return primes of every size, and those around each bound at which a kernel changes.

    The bounds count how many q a word of 52 or 64 bits must hold: 4 log N + 3, 32, 16 and 4 on 52
    bits; 8 log N + 5, 64 and 8 on 64.
    """
    degree = 1 << log_degree
    limits = [1 << bits for bits in (log_degree + 4, 30, 40, 62)]
    limits += [(1 << 52) // room for room in (4 * log_degree + 3, 32, 16, 4)]
    limits += [(1 << 64) // room for room in (8 * log_degree + 5, 64, 8)]
    return sorted({q for limit in limits for q in neighbours(limit, degree)})


@cache
def ring(log_degree: int) -> tuple[list[int], Tensor, Tensor]:
    """Return roots, rns_params and packed tables."""
    degree, chain = 1 << log_degree, primes(log_degree)
    roots = [primitive_root(q, degree) for q in chain]
    params = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor(chain), degree)
    return roots, params, torch.ops.fhelium_ntt_ops.ntt_tables(torch.tensor(roots), degree, params)


def inputs(log_degree: int) -> Tensor:
    """Random rows, and rows that drive lazy values to their bounds; [row, limb, N]."""
    degree, moduli = 1 << log_degree, torch.tensor(primes(log_degree))[:, None]
    generator = torch.Generator().manual_seed(log_degree)
    count = 2 if log_degree < 13 else 1
    values = torch.randint(0, 1 << 62, (count, len(moduli), degree), generator=generator) % moduli
    odd = torch.arange(degree) % 2
    tail = torch.zeros(degree, dtype=torch.int64)
    tail[-1] = 1
    ends = torch.randint(0, 2, (degree,), generator=generator)
    patterns = [odd * 0 + 1, odd, tail, ends]
    if log_degree < 13:
        patterns += [1 - odd, tail.flip(0), tail * 0]
    extremes = [(moduli - 1) * pattern for pattern in patterns]
    extremes.append((moduli - 1) // 2 + (odd + moduli * 0))  # either side of q / 2
    return torch.cat([values, torch.stack(extremes)])


@cache
def results(log_degree: int) -> dict[str, Tensor]:
    """Return forward and inverse, out of place, in place and from strided rows."""
    ops = torch.ops.fhelium_ntt_ops
    _, params, tables = ring(log_degree)
    x = inputs(log_degree)
    found = {}
    for name, call, call_ in (
        ("forward", ops.ntt_packed, ops.ntt_packed_),
        ("inverse", ops.intt_packed, ops.intt_packed_),
    ):
        found[name] = call(x, tables, params)
        in_place = x.clone()
        call_(in_place, tables, params)
        found[f"{name} in place"] = in_place
        strided = torch.stack([x[:1], x[:1]], -1)[..., 0]
        found[f"{name} strided"] = call(strided, tables, params)
    found["round trip"] = ops.intt_packed(found["forward"], tables, params)
    return found
