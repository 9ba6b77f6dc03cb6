"""Mixed-radix digits against Python integers, and against the other basis conversion."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.basis_chains import CHAINS, Chain, chain_of, crafted, over_batch
from tests.native.rns_oracle import (
    BATCHES,
    VIEWS,
    WORDS,
    assert_unchanged_and_equal_for_threads,
    centred,
    from_residues,
    parameters,
    rns,
    seen_as,
)


def inverses(chain: Chain) -> torch.Tensor:
    """Row j: the inverse of prime j modulo those behind it."""
    q = chain.q
    return chain.words(
        [
            [chain.montgomery(pow(d, -1, m), m) if i > j else 0 for i, m in enumerate(q)]
            for j, d in enumerate(q)
        ]
    )


def radices(chain: Chain) -> torch.Tensor:
    """What each digit counts for, and what all of them do, modulo the special primes."""
    products = [math.prod(chain.q[:i]) for i in range(len(chain.q) + 1)]
    return chain.words([[chain.montgomery(p, m) for m in chain.special] for p in products])


def digits_of(chain: Chain, values: torch.Tensor) -> torch.Tensor:
    """Return what mixed_radix_digits must give for residues [L, N]."""
    out = []
    for column in values.T.tolist():
        x, digits = from_residues(column, chain.q), []
        for d in chain.q:
            x, digit = divmod(x, d)
            digits.append(digit)
        out.append(digits)
    return chain.words(out).T.reshape(values.shape)


def extended(chain: Chain, values: torch.Tensor) -> torch.Tensor:
    """Return the centred numbers of residues [L, N] modulo the special primes."""
    D = math.prod(chain.q)
    numbers = [centred(from_residues(column, chain.q), D) for column in values.T.tolist()]
    return chain.words([[x % m for x in numbers] for m in chain.special]).reshape(
        len(chain.special), values.shape[1]
    )


def run(chain: Chain, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    own, special = (parameters(primes, word=chain.word) for primes in (chain.q, chain.special))
    digits = rns.mixed_radix_digits(values, inverses(chain), own)
    return digits, rns.mixed_radix_extend(digits, radices(chain), own, special)


@settings(max_examples=60, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    special=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    batch=st.sampled_from(BATCHES),
    n=st.sampled_from([1, 2, 5, 300]),
    view=st.sampled_from(VIEWS),
    pattern=st.sampled_from(["random", "zero", "one", "largest", "alternating"]),
)
def test_any_chain(word, sizes, special, batch, n, view, pattern):
    chain = chain_of([[word.sizes[i] for i in sizes]], [word.sizes[i] for i in special], word)
    values = seen_as(chain.residues((*batch, len(chain.q), n), chain.q, pattern), view)
    before = values.clone()
    digits, beyond = run(chain, values)
    assert torch.equal(digits, over_batch(lambda v: digits_of(chain, v), values))
    assert torch.equal(beyond, over_batch(lambda v: extended(chain, v), values))
    assert torch.equal(values, before)
    own, target = (parameters(p, word=word) for p in (chain.q, chain.special))
    strided = rns.mixed_radix_extend(seen_as(digits, view), radices(chain), own, target)
    assert torch.equal(strided, beyond)


@pytest.mark.parametrize("name", CHAINS)
def test_both_conversions_agree_near_one_half(name):
    chain = Chain([CHAINS[name].q], CHAINS[name].special, CHAINS[name].word)
    hard = crafted(math.prod(chain.q))
    values = chain.words([[x % q for x in hard] for q in chain.q])
    _, beyond = run(chain, values)
    assert torch.equal(beyond, extended(chain, values))
    if len(chain.q) <= 16:  # as many as one digit of a key switch may have
        assert torch.equal(beyond, rns.mod_up(values, *chain.up())[0, len(chain.q) :])


def test_threads_and_inputs():
    chain = chain_of([[50, 45, 62, 30]], [61, 45])
    values = chain.residues((3, 4, 1000), chain.q)
    own, special = parameters(chain.q), parameters(chain.special)
    digits = assert_unchanged_and_equal_for_threads(
        rns.mixed_radix_digits, values, inverses(chain), own
    )
    assert_unchanged_and_equal_for_threads(
        rns.mixed_radix_extend, digits, radices(chain), own, special
    )


def test_constants_of_another_shape_are_refused():
    chain = chain_of([[50, 45]], [61])
    values, own = chain.residues((2, 16), chain.q), parameters(chain.q)
    with pytest.raises(RuntimeError, match=r"^mixed_radix_digits: inverses has shape \[1, 2\]"):
        rns.mixed_radix_digits(values, inverses(chain)[:1], own)
    with pytest.raises(RuntimeError, match=r"^mixed_radix_extend: radices has shape \[2, 1\]"):
        rns.mixed_radix_extend(values, radices(chain)[:2], own, parameters(chain.special))
