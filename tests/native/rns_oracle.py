"""Residue tensors and their meaning in Python integers, for the tests of the native operators."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache
from itertools import product

import flint
import pytest
import torch

from fhelium.native import require_native

require_native()
rns = torch.ops.fhelium_rns_ops
ckks = torch.ops.fhelium_ckks_ops

BATCHES = [(), (1,), (3,), (2, 3), (0,), (2, 0)]
VIEWS = ["contiguous", "offset", "every second", "coefficients outermost"]


def is_prime(n: int) -> bool:
    return flint.fmpz(n).is_prime()


@cache
def primes(bits: int, count: int, degree: int = 64) -> tuple[int, ...]:
    """Return the `count` largest primes below 2^bits that are 1 modulo 2 degree."""
    found, candidate = [], (2**bits - 1) // (2 * degree) * (2 * degree) + 1
    while len(found) < count:
        if candidate < 2**bits and is_prime(candidate):
            found.append(candidate)
        candidate -= 2 * degree
    return tuple(found)


def primitive_root(q: int, degree: int) -> int:
    """Return an element of order 2 degree."""
    candidates = (pow(g, (q - 1) // (2 * degree), q) for g in range(2, q))
    return next(psi for psi in candidates if pow(psi, degree, q) == q - 1)


@dataclass(frozen=True)
class Word:
    """A residue type, and sizes of primes at every border that it has."""

    dtype: torch.dtype
    sizes: tuple[int, ...]

    @property
    def mixed(self) -> tuple[int, ...]:
        """One prime of each size."""
        return tuple(primes(bits, 1)[0] for bits in self.sizes)

    def __str__(self) -> str:
        return str(self.dtype).removeprefix("torch.")


# Largest allowed prime last; 50 bits is the border of R, 30 that of the doubled butterflies.
INT64 = Word(torch.int64, (30, 45, 50, 51, 58, 61, 62))
INT32 = Word(torch.int32, (18, 25, 27, 28, 29, 30, 31))
WORDS = (INT64, INT32)
each_word = pytest.mark.parametrize("word", WORDS, ids=str)


def radix(q: int, word: Word = INT64) -> int:
    """Return the Montgomery radix R of a modulus."""
    if word.dtype == torch.int32:
        return 2**32
    return 2**52 if q < 2**50 else 2**64


def parameters(moduli, degree: int = 64, word: Word = INT64) -> torch.Tensor:
    """Return rns_params of the moduli."""
    return rns.rns_parameters(torch.tensor(moduli, dtype=word.dtype), degree)


def residues(
    shape, moduli, pattern: str = "random", seed: int = 0, word: Word = INT64
) -> torch.Tensor:
    """Return residues [*shape[:-2], limb, N]: random, or all 0, 1, q - 1, or 0, q - 1 in turn."""
    draw = random.Random(seed)
    values = []
    for index in product(*map(range, shape)):
        q = moduli[index[-2]]
        values.append(
            {
                "random": draw.randrange(q),
                "zero": 0,
                "one": 1 % q,
                "largest": q - 1,
                "alternating": (q - 1) * (index[-1] % 2),
            }[pattern]
        )
    return torch.tensor(values, dtype=word.dtype).reshape(shape)


def seen_as(tensor: torch.Tensor, view: str) -> torch.Tensor:
    """Return the same values in another memory layout."""
    if view == "contiguous":
        return tensor.clone()
    if view == "offset":
        room = torch.full((tensor.numel() + 5,), -7, dtype=tensor.dtype)
        return room[3 : 3 + tensor.numel()].view(tensor.shape).copy_(tensor)
    if view == "every second":
        room = torch.full((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1), -7, dtype=tensor.dtype)
        return room[..., 1::2].copy_(tensor)
    axes = range(tensor.dim() - 1, -1, -1)
    room = torch.full([tensor.shape[a] for a in axes], -7, dtype=tensor.dtype)
    return room.permute(*axes).copy_(tensor)


def rows(tensor: torch.Tensor):
    """Yield (index, value) of every element, as Python integers."""
    flat = tensor.tolist()
    for index in product(*map(range, tensor.shape)):
        value = flat
        for i in index:
            value = value[i]
        yield index, value


def filled(shape, function, word: Word = INT64) -> torch.Tensor:
    """Return a tensor with function(index) at every index."""
    values = [function(index) for index in product(*map(range, shape))]
    return torch.tensor(values, dtype=word.dtype).reshape(tuple(shape))


def at(nested, index):
    """Return the element of a nested list at an index, axes of length 1 repeating."""
    for i in index:
        nested = nested[i if len(nested) > 1 else 0]
    return nested


def from_residues(values, moduli) -> int:
    """Return the x in [0, product of the moduli) with these residues."""
    whole = math.prod(moduli)
    return (
        sum(v * (whole // q) * pow(whole // q, -1, q) for v, q in zip(values, moduli, strict=True))
        % whole
    )


def centred(x: int, modulus: int) -> int:
    """Return the representative of x modulo an odd modulus that is nearest to 0."""
    x %= modulus
    return x - modulus if x > modulus // 2 else x


def assert_unchanged_and_equal_for_threads(call, *inputs):
    """Check that a call leaves its inputs alone and does not depend on the thread count."""
    before = [x.clone() for x in inputs]
    results = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(call(*inputs))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(results[0], results[1])
    for x, y in zip(inputs, before, strict=True):
        assert torch.equal(x, y)
    return results[0]
