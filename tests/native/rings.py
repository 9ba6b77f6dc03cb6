"""A ring of any degree with residues, constants and tables, for samples of native operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

from fhelium.config.primes import largest_prime_below, primitive_root
from fhelium.native.wrapper import ntt_ops, rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE
SPECIAL = (353, 449)

INT64 = torch.int64
TYPES = (INT64, torch.int32)
SIZES = {INT64: (45, 62, 50), torch.int32: (30, 28, 29)}
"""Bits of the primes of larger rings, in turn; lazy int32 residues need q < 2^30."""


@dataclass(frozen=True)
class Ring:
    """Residues and tables of a row of samples; by default small enough to read.

    Args:
        dtype: Residue type.
        degree: N.
        primes: Those of Q.
        special: Those of P.
        batch: Batch axes of operands that have any.
        seed: Two rings that differ in it alone have the same tables and other residues.
        cuda_tables: Make transform tables in the format of CUDA's kernels.
    """

    dtype: torch.dtype = INT64
    degree: int = DEGREE
    primes: tuple[int, ...] = PRIMES
    special: tuple[int, ...] = SPECIAL
    batch: tuple[int, ...] = (2,)
    seed: int = 0
    cuda_tables: bool = False

    @property
    def whole(self) -> tuple[int, ...]:
        """Return the primes of QP."""
        return (*self.primes, *self.special)

    @property
    def digits(self) -> list[tuple[int, ...]]:
        """Return the primes of Q in digits of as many as P has; the last may be shorter."""
        size = len(self.special)
        return [self.primes[k : k + size] for k in range(0, len(self.primes), size)]

    @property
    def bounds(self) -> Tensor:
        """Return where digits begin, and the end."""
        return torch.tensor([0, *map(len, self.digits)]).cumsum(0)

    def moduli(self, primes: Sequence[int] | None = None) -> Tensor:
        """Return primes, by default those of Q, as a tensor of the residues' type."""
        return torch.tensor(self.primes if primes is None else primes, dtype=self.dtype)

    def parameters(self, primes: Sequence[int] | None = None) -> Tensor:
        """Return rns_params of primes, by default those of Q."""
        return rns_ops.rns_parameters(self.moduli(primes), self.degree)

    def residues(self, *batch: int, seed: int = 0, primes: Sequence[int] | None = None) -> Tensor:
        """Uniform standard residues [*batch, limb, N]."""
        moduli = self.moduli(primes).long()[:, None]
        generator = torch.Generator().manual_seed(self.seed + seed)
        shape = (*batch, len(moduli), self.degree)
        drawn = torch.randint(0, 1 << 62, shape, generator=generator)
        return drawn.remainder_(moduli).to(self.dtype)

    def montgomery(self, values: Iterable[int], primes: Sequence[int]) -> Tensor:
        """One constant for each prime, in Montgomery form."""

        def radix(q: int) -> int:
            return 1 << (32 if self.dtype == torch.int32 else 52 if q < 1 << 50 else 64)

        numbers = [v * radix(q) % q for v, q in zip(values, primes, strict=True)]
        return torch.tensor(numbers, dtype=self.dtype)

    def in_every(self, constants: Iterable[int], primes: Sequence[int]) -> Tensor:
        """[constant, limb]: each constant modulo every prime, in Montgomery form."""
        return torch.stack([self.montgomery([c] * len(primes), primes) for c in constants])

    def inverses(self, value: int, primes: Sequence[int]) -> Tensor:
        """The inverse of a number modulo each prime, in Montgomery form."""
        return self.montgomery((pow(value, -1, q) for q in primes), primes)

    def roots(self, primes: Sequence[int] | None = None) -> Tensor:
        """Primitive 2N-th roots of unity."""
        chosen = self.primes if primes is None else primes
        return self.moduli([primitive_root(q, self.degree) for q in chosen])

    def ntt_tables(self, primes: Sequence[int] | None = None) -> Tensor:
        """Transform tables of primes; rings share them, as no operator writes to tables."""
        chosen = self.primes if primes is None else tuple(primes)
        return _ntt_tables(replace(self, primes=chosen, special=(), batch=(), seed=0))


@cache
def _ntt_tables(ring: Ring) -> Tensor:
    make = ntt_ops.compact_twiddles if ring.cuda_tables else ntt_ops.ntt_tables
    return make(ring.roots(), ring.degree, ring.parameters())


def ring_of(
    degree: int,
    dtype: torch.dtype,
    limbs: int = 3,
    specials: int = 2,
    batch: tuple[int, ...] = (),
    **fields: Any,
) -> Ring:
    """Return a ring of this degree over so many primes of Q and of P, which have several sizes."""
    found: list[int] = []
    for bits in islice(cycle(SIZES[dtype]), limbs + specials):
        found.append(largest_prime_below(1 << bits, degree, found))
    primes, special = tuple(found[:limbs]), tuple(found[limbs:])
    return Ring(dtype, degree, primes, special, batch, **fields)
