"""The residue types: how large a prime each holds, and which primes suit it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple


class Word(NamedTuple):
    """What the type of the residues decides about a chain.

    Args:
        nbytes: Bytes of a residue.
        prime_bits: Every prime lies below 2^prime_bits.
        base_primes: How many primes are never dropped: one, or two where one has no headroom.
        fast_bits: Primes below 2^fast_bits have the faster transforms.
        wide_bits: Largest size of special primes where Q has slow primes anyway.
    """

    nbytes: int
    prime_bits: int
    base_primes: int
    fast_bits: int
    wide_bits: int


WORDS: Final = MappingProxyType(
    {
        "int64": Word(nbytes=8, prime_bits=62, base_primes=1, fast_bits=50, wide_bits=60),
        "int32": Word(nbytes=4, prime_bits=31, base_primes=2, fast_bits=30, wide_bits=30),
    }
)
