"""Chains of primes cut into digits: constants of a basis conversion, and what it must give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain as concatenated

import torch

from tests.native.rns_oracle import (
    INT32,
    INT64,
    Word,
    centred,
    from_residues,
    parameters,
    primes,
    radix,
    residues,
)

THRESHOLD = 2.0**-40
"""Nearer to one half than this, the exact comparison decides."""


def words(values, word: Word = INT64) -> torch.Tensor:
    """Return constants of a residue type."""
    return torch.tensor(values, dtype=word.dtype)


@dataclass
class Chain:
    """Q primes cut into digits, special primes, and the constants that the operators take."""

    digits: list[list[int]]
    special: list[int]
    word: Word = INT64

    @property
    def q(self) -> list[int]:
        return [d for digit in self.digits for d in digit]

    @property
    def whole(self) -> list[int]:
        return self.q + self.special

    def words(self, values) -> torch.Tensor:
        return words(values, self.word)

    def residues(self, shape, moduli, *args) -> torch.Tensor:
        return residues(shape, moduli, *args, word=self.word)

    def montgomery(self, value: int, q: int) -> int:
        return value * radix(q, self.word) % q

    def up(self) -> list[torch.Tensor]:
        bounds = [sum(map(len, self.digits[:j])) for j in range(len(self.digits) + 1)]
        products = [math.prod(digit) for digit in self.digits]
        cofactors = [
            (D // d, d) for D, digit in zip(products, self.digits, strict=True) for d in digit
        ]
        return [
            words(bounds),
            self.words([self.montgomery(pow(c, -1, d), d) for c, d in cofactors]),
            self.words([[self.montgomery(c, q) for q in self.whole] for c, _ in cofactors]),
            self.words([[self.montgomery(D, q) for q in self.whole] for D in products]),
            parameters(self.whole, word=self.word),
        ]

    def down(self) -> list[torch.Tensor]:
        P = math.prod(self.special)
        cofactors = [P // p for p in self.special]
        return [
            self.words(
                [
                    self.montgomery(pow(c, -1, p), p)
                    for c, p in zip(cofactors, self.special, strict=True)
                ]
            ),
            self.words([[self.montgomery(c, q) for q in self.q] for c in cofactors]),
            self.words([self.montgomery(P, q) for q in self.q]),
            self.words([self.montgomery(pow(P, -1, q), q) for q in self.q]),
            parameters(self.whole, word=self.word),
        ]

    def raised(self, values: torch.Tensor) -> torch.Tensor:
        """Return what mod_up must give for residues [L, N]."""
        columns, out, first = values.T.tolist(), [], 0
        for digit in self.digits:
            part = slice(first, first + len(digit))
            D = math.prod(digit)
            x = [centred(from_residues(column[part], digit), D) for column in columns]
            out.append([[v % q for v in x] for q in self.whole])
            first += len(digit)
        return self.words(out).reshape(len(self.digits), len(self.whole), values.shape[1])

    def lowered(self, values: torch.Tensor) -> torch.Tensor:
        """Return what mod_down must give for residues [L + K, N]."""
        P, count = math.prod(self.special), len(self.q)
        out = []
        for column in values.T.tolist():
            x = from_residues(column, self.whole)
            r = centred(from_residues(column[count:], self.special), P)
            assert (x - r) % P == 0
            out.append([(x - r) // P % q for q in self.q])
        return self.words(out).T.reshape(count, values.shape[1])


def chain_of(bits: list[list[int]], special: list[int], word: Word = INT64) -> Chain:
    """Return a chain of distinct primes of these sizes."""
    stock = {b: list(primes(b, 40)) for b in {*concatenated.from_iterable(bits), *special}}
    return Chain(
        [[stock[b].pop() for b in digit] for digit in bits],
        [stock[b].pop() for b in special],
        word,
    )


MIXED = chain_of([[30, 61, 45], [62], [50, 58], [30, 30, 51, 50, 62]], [61, 30, 50, 45])
CHAINS = {
    "mixed sizes": MIXED,
    "one prime a digit": chain_of([[30], [50], [62]], [58]),
    "16 of the largest": chain_of([[62] * 16, [30] * 16], [62, 45, 50]),
    "largest into 50 bits": chain_of([[50] * 4, [50] * 5, [62] * 4, [62] * 5], [50, 30, 62]),
    "11 special primes": chain_of([[30, 45, 50], [58, 62]], [62] * 6 + [50, 45, 30, 58, 61]),
    "16 special primes": chain_of([[62], [30]], [62] * 16),
    "int32, mixed sizes": chain_of(
        [[25, 31, 30], [31], [27, 28], [18, 18, 30]], [31, 18, 30], INT32
    ),
    "int32, 16 of the largest": chain_of([[31] * 16, [18] * 16], [31, 25, 30], INT32),
    "int32, borders of a sum": chain_of([[31] * 3, [30] * 4, [31] * 5], [31] * 4, INT32),
    "int32, 16 special primes": chain_of([[31], [25]], [31] * 16, INT32),
}


def crafted(modulus: int) -> list[int]:
    """Values where a centred representative is hard: the ends, and both sides of the middle."""
    middle = (modulus - 1) // 2
    near = [middle + j for j in range(-8, 10)]
    powers = [middle + s * 2**e for e in range(0, modulus.bit_length(), 7) for s in (-1, 1)]
    border = modulus // round(1 / THRESHOLD)
    edge = [middle + s * border + t for s in (-1, 1) for t in (-1, 0, 1)]
    return [x % modulus for x in (0, 1, modulus - 1, *near, *powers, *edge)]


def over_batch(function, values: torch.Tensor) -> torch.Tensor:
    """Apply an oracle for [limb, N] to [*batch, limb, N]; new leading axes come first."""
    batch = values.shape[:-2]
    items = [function(v) for v in values.reshape(-1, *values.shape[-2:])]
    shape = function(values.new_zeros(values.shape[-2:])).shape
    stacked = torch.stack(items, -3) if items else values.new_zeros((*shape[:-2], 0, *shape[-2:]))
    return stacked.reshape(*shape[:-2], *batch, *shape[-2:])
