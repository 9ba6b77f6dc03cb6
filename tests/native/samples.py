"""One row of arguments for each native operator, small and legal, made anew on every call.

The checks of wrappers, shapes and tracing run over these rows; a new operator needs one.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fhelium.native.wrapper import ntt_ops, rns_ops

DEGREE = 16
PRIMES = (97, 193, 257)  # each is 1 modulo 2 DEGREE


def moduli() -> Tensor:
    return torch.tensor(PRIMES)


def parameters() -> Tensor:
    return rns_ops.rns_parameters(moduli(), DEGREE)


def residues(*batch: int, seed: int = 0) -> Tensor:
    """Uniform standard residues [*batch, limb, N]."""
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch, len(PRIMES), DEGREE)
    return torch.randint(0, min(PRIMES), shape, generator=generator)


def pair() -> tuple[Tensor, Tensor, Tensor]:
    """A batch, one without batch axes that repeats over it, and the parameters."""
    return residues(2, seed=1), residues(seed=2), parameters()


def roots() -> Tensor:
    """Primitive 32nd roots of unity: the smallest power residues of order 2 DEGREE."""
    found = [next(x for x in range(2, q) if pow(x, DEGREE, q) == q - 1) for q in PRIMES]
    return torch.tensor(found)


def packed() -> tuple[Tensor, Tensor, Tensor]:
    return residues(2), ntt_ops.ntt_tables(roots(), DEGREE, parameters()), parameters()


def butterflies(degree: int, inverse: bool = False) -> tuple[Tensor, ...]:
    """Even and odd positions and twiddle numbers of a radix-2 transform, as its three loops."""
    stages, blocks = [], 1
    while blocks < degree:
        half = degree // (2 * blocks)
        evens = [(2 * half * i + j, i) for i in range(blocks) for j in range(half)]
        stages.append([(even, even + half, blocks + i) for even, i in evens])
        blocks *= 2
    return torch.tensor(stages[::-1] if inverse else stages).unbind(-1)


def indexed(inverse: bool) -> tuple[Tensor, ...]:
    twiddles = ntt_ops.radix2_twiddles(roots(), DEGREE, parameters())[int(inverse)]
    return residues(2), *butterflies(DEGREE, inverse), twiddles, parameters()


def stream_key() -> Tensor:
    return torch.arange(32, dtype=torch.uint8)


SAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "fhelium_rns_ops::rns_parameters": lambda: (moduli(), DEGREE),
    "fhelium_rns_ops::parameter_row_names": lambda: (),
    "fhelium_rns_ops::cpu_isa": lambda: (),
    "fhelium_rns_ops::add_standard": pair,
    "fhelium_rns_ops::add_standard_": pair,
    "fhelium_ntt_ops::ntt_tables": lambda: (roots(), DEGREE, parameters()),
    "fhelium_ntt_ops::ntt_packed": packed,
    "fhelium_ntt_ops::ntt_packed_": packed,
    "fhelium_ntt_ops::intt_packed": packed,
    "fhelium_ntt_ops::intt_packed_": packed,
    "fhelium_ntt_ops::radix2_twiddles": lambda: (roots(), DEGREE, parameters()),
    "fhelium_ntt_ops::ntt_radix2_indexed": lambda: indexed(False),
    "fhelium_ntt_ops::ntt_radix2_indexed_": lambda: indexed(False),
    "fhelium_ntt_ops::intt_radix2_indexed": lambda: indexed(True),
    "fhelium_ntt_ops::intt_radix2_indexed_": lambda: indexed(True),
    "fhelium_random_ops::chacha20_blocks": lambda: (stream_key(), stream_key()[:12], 3, 5),
    "fhelium_random_ops::sample_uniform": lambda: (
        stream_key(),
        torch.arange(len(PRIMES)),
        1,
        2,
        3,
        DEGREE,
        parameters(),
    ),
    "fhelium_random_ops::sample_ternary": lambda: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_gaussian": lambda: (stream_key(), 1, 2, DEGREE),
    "fhelium_random_ops::sample_rounded_gaussian": lambda: (stream_key(), 36.1, 2, DEGREE),
}
