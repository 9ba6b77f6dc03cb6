"""Operators on lazy residues, [0, 2q), against Python integers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rns_oracle import (
    BATCHES,
    INT32,
    INT64,
    VIEWS,
    Word,
    at,
    filled,
    parameters,
    primes,
    radix,
    residues,
    rns,
    seen_as,
)

SMALLER = Word(torch.int32, INT32.sizes[:-1])
"""A 32-bit word holds 4q where q is below 2^30."""

BINARY = {
    "add_lazy": lambda a, b, q, r: (a + b) % (2 * q),
    "subtract_lazy": lambda a, b, q, r: (a - b) % (2 * q),
    "multiply_montgomery_lazy": lambda a, b, q, r: a * b * pow(r, -1, q) % q,
}
UNARY = {
    "negate_lazy": lambda a, q: -a % (2 * q),
    "reduce_lazy": lambda a, q: a % q,
}
PATTERNS = ["random", "zero", "one", "largest", "alternating"]
cases = {
    "word": st.sampled_from([INT64, SMALLER]),
    "batch": st.sampled_from(BATCHES),
    "n": st.sampled_from([1, 2, 3, 16, 17]),
    "view": st.sampled_from(VIEWS),
    "pattern": st.sampled_from(PATTERNS),
    "seed": st.integers(0, 2**20),
}


def radix_of(q: int, word: Word) -> int:
    return 2**32 if word is SMALLER else radix(q)


def lazy(shape, moduli, pattern, seed, word):
    """Residues modulo 2q: they are those of any modulus."""
    return residues(shape, [2 * q for q in moduli], pattern, seed, word)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=60, deadline=None)
@given(**cases, other=st.sampled_from(PATTERNS), constant=st.booleans())
def test_binary_operators(name, word, batch, n, view, pattern, seed, other, constant):
    moduli = word.mixed
    params, shape = parameters(moduli, word=word), (*batch, len(moduli), n)
    lhs = seen_as(lazy(shape, moduli, pattern, seed, word), view)
    rhs = lazy((len(moduli), 1 if constant else n), moduli, other, seed + 1, word)
    nested, repeated = lhs.tolist(), rhs.expand(lhs.shape).tolist()

    def element(i):
        q = moduli[i[-2]]
        return BINARY[name](at(nested, i), at(repeated, i), q, radix_of(q, word))

    expected = filled(shape, element, word)
    assert torch.equal(getattr(rns, name)(lhs, rhs, params), expected)
    getattr(rns, name + "_")(lhs, rhs, params)
    assert torch.equal(lhs, expected)


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=40, deadline=None)
@given(**cases)
def test_unary_operators(name, word, batch, n, view, pattern, seed):
    moduli = word.mixed
    params, shape = parameters(moduli, word=word), (*batch, len(moduli), n)
    values = seen_as(lazy(shape, moduli, pattern, seed, word), view)
    nested = values.tolist()
    expected = filled(shape, lambda i: UNARY[name](at(nested, i), moduli[i[-2]]), word)
    assert torch.equal(getattr(rns, name)(values, params), expected)
    getattr(rns, name + "_")(values, params)
    assert torch.equal(values, expected)


def test_a_chain_of_lazy_operators_is_the_standard_one_once_reduced():
    moduli = INT64.mixed
    params = parameters(moduli)
    x, y, z = (residues((2, len(moduli), 64), moduli, seed=seed) for seed in range(3))
    lazily = rns.subtract_lazy(rns.add_lazy(rns.add_lazy(x, y, params), y, params), z, params)
    standard = rns.subtract_standard(
        rns.add_standard(rns.add_standard(x, y, params), y, params), z, params
    )
    assert torch.equal(rns.reduce_lazy(lazily, params), standard)
    assert torch.equal(
        rns.multiply_montgomery_lazy(lazily, x, params),
        rns.multiply_montgomery(standard, x, params),
    )


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_a_prime_without_room_for_4q_is_refused(name):
    q = primes(31, 1)
    x = torch.zeros(1, 4, dtype=torch.int32)
    operands = [x, x] if name in BINARY else [x]
    for twin in (name, name + "_"):
        with pytest.raises(RuntimeError, match=rf"^{twin}: a limb has q = \d+, .* fits int32"):
            getattr(rns, twin)(*operands, parameters(q, word=INT32))
