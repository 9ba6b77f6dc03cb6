"""Rescalings and sums in the NTT domain against their steps and against Python integers."""

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
    WORDS,
    Word,
    assert_unchanged_and_equal_for_threads,
    at,
    ckks,
    each_word,
    filled,
    parameters,
    primes,
    primitive_root,
    radix,
    residues,
    seen_as,
)

ntt = torch.ops.fhelium_ntt_ops
PATTERNS = ["random", "zero", "one", "largest", "alternating"]


class Chain:
    """The constants of a rescaling by the first of some primes."""

    def __init__(self, moduli, degree: int, word: Word) -> None:
        self.moduli, self.word = tuple(moduli), word
        self.params = parameters(self.moduli, degree, word)
        roots = torch.tensor([primitive_root(q, degree) for q in self.moduli], dtype=word.dtype)
        self.tables = ntt.ntt_tables(roots, degree, self.params)
        inverse = [pow(moduli[0], -1, q) * radix(q, word) % q for q in moduli[1:]]
        self.inverse = torch.tensor(inverse, dtype=word.dtype)
        self.constants = (self.inverse, self.tables, self.params)

    def divided(self, values: torch.Tensor) -> torch.Tensor:
        """Rescale by way of the coefficients of every limb."""
        coefficients = ntt.intt_packed(values, self.tables, self.params)
        quotient = ckks.rescale_nearest(coefficients, self.inverse, self.params)
        return ntt.ntt_packed(quotient, self.tables[1:], self.params[:, 1:])


def chain_starting_at(first: int, limbs: int, degree: int, word: Word) -> Chain:
    """Any size of prime may be the one that goes."""
    mixed = [primes(bits, 1, degree)[0] for bits in word.sizes]
    order = mixed[first:] + mixed[:first]
    return Chain(order[:limbs], degree, word)


cases = {
    "word": st.sampled_from(WORDS),
    "batch": st.sampled_from(BATCHES),
    "limbs": st.integers(2, 7),
    "log_degree": st.integers(4, 6),
    "view": st.sampled_from(VIEWS),
    "pattern": st.sampled_from(PATTERNS),
    "seed": st.integers(0, 2**20),
}


@settings(max_examples=60, deadline=None)
@given(**cases, repeat=st.sampled_from(["", "batch", "constant"]))
def test_one_call_gives_the_bits_of_the_steps(
    word, batch, limbs, log_degree, view, pattern, seed, repeat
):
    n = 2**log_degree
    chain = chain_starting_at(seed % 7, limbs, n, word)
    values = seen_as(residues((2, *batch, limbs, n), chain.moduli, pattern, seed, word), view)
    before = values.clone()
    assert torch.equal(ckks.rescale_ntt(values, *chain.constants), chain.divided(values))
    plain_shape = (*(() if repeat == "batch" else batch), limbs, 1 if repeat == "constant" else n)
    plaintext = seen_as(residues(plain_shape, chain.moduli, seed=seed, word=word), view)
    product = ckks.multiply_plaintext(values, plaintext, chain.params)
    found = ckks.multiply_plaintext_rescale(values, plaintext, *chain.constants)
    assert torch.equal(found, chain.divided(product))
    assert found.is_contiguous()
    assert torch.equal(values, before)


@each_word
def test_remainders_at_the_middle_of_the_dropped_prime(word: Word):
    """The centred representative changes its sign between (q0 - 1) / 2 and (q0 + 1) / 2."""
    n = 16
    for first in range(7):
        chain = chain_starting_at(first, 7, n, word)
        values = residues((7, n), chain.moduli, seed=first, word=word)
        q0 = chain.moduli[0]
        near = [0, 1, q0 // 2 - 1, q0 // 2, q0 // 2 + 1, q0 // 2 + 2, q0 - 2, q0 - 1]
        values[0] = torch.tensor([near[i % len(near)] for i in range(n)], dtype=word.dtype)
        values = ntt.ntt_packed(values, chain.tables, chain.params)
        assert torch.equal(ckks.rescale_ntt(values, *chain.constants), chain.divided(values))


@settings(max_examples=60, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    batch=st.sampled_from(BATCHES),
    limbs=st.integers(1, 7),
    n=st.sampled_from([1, 2, 5, 16]),
    view=st.sampled_from(VIEWS),
    other_view=st.sampled_from(VIEWS),
    seed=st.integers(0, 2**20),
    count=st.sampled_from([1, 2, 3, 6, 17, 33]),
    components=st.integers(1, 4),
    repeat=st.booleans(),
)
def test_sums_of_plaintext_products(
    word, batch, limbs, n, view, other_view, seed, count, components, repeat
):
    moduli = word.mixed[-limbs:]
    shape = (components, *batch, limbs, n)
    patterns = ("largest", "random") if seed % 2 else ("random", "alternating")
    ciphertexts = [
        seen_as(residues(shape, moduli, patterns[0], seed + i, word), view) for i in range(count)
    ]
    plain_shape = shape[1:] if not repeat else (limbs, n)
    plaintexts = [
        seen_as(residues(plain_shape, moduli, patterns[0], seed - i, word), other_view)
        for i in range(count)
    ]
    c = [x.tolist() for x in ciphertexts]
    p = [x.expand(shape[1:]).tolist() for x in plaintexts]

    def coefficient(i):
        q = moduli[i[-2]]
        total = sum(at(x, i) * at(y, i[1:]) for x, y in zip(c, p, strict=True))
        return total * pow(radix(q, word), -1, q) % q

    params = parameters(moduli, word=word)
    found = ckks.sum_plaintext_products(ciphertexts, plaintexts, params)
    assert torch.equal(found, filled(shape, coefficient, word))
    assert found.is_contiguous()


@each_word
def test_thread_count_does_not_matter(word: Word):
    n, batch = 2**12, 9
    moduli = [primes(bits, 1, n)[0] for bits in word.sizes[2:5]]
    chain = Chain(moduli, n, word)
    generator = torch.Generator().manual_seed(4)
    x = torch.randint(0, min(moduli), (3, batch, 3, n), generator=generator).to(word.dtype)
    plaintext, constants = x[0, 0].clone(), chain.constants
    assert_unchanged_and_equal_for_threads(ckks.rescale_ntt, x, *constants)
    assert_unchanged_and_equal_for_threads(
        ckks.multiply_plaintext_rescale, x, plaintext, *constants
    )
    assert_unchanged_and_equal_for_threads(
        lambda a, b, params: ckks.sum_plaintext_products([a, a.flip(0)], [b, b], params),
        x, plaintext, chain.params,
    )  # fmt: skip


N = 16
SMALL = chain_starting_at(0, 3, N, INT64)
X = residues((2, 3, N), SMALL.moduli)
P = residues((3, N), SMALL.moduli)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rescale_ntt", (X[:, :1], *SMALL.constants), "the input has 1 limbs, needed are at"),
        ("rescale_ntt", (X[..., :8], *SMALL.constants), "degree"),
        ("rescale_ntt", (X, SMALL.inverse[1:], *SMALL.constants[1:]), r"inverse has shape \[1\]"),
        ("rescale_ntt", (X.int(), *SMALL.constants), "for int64 residues, this call is on int32"),
        ("multiply_plaintext_rescale", (X, X, *SMALL.constants), "plaintext has shape"),
        ("multiply_plaintext_rescale", (X, P.int(), *SMALL.constants), "plaintext holds int32"),
        ("sum_plaintext_products", ([X], [], SMALL.params), "1 ciphertexts and 0 plaintexts"),
        ("sum_plaintext_products", ([], [], SMALL.params), "0 ciphertexts and 0 plaintexts"),
        ("sum_plaintext_products", ([X, X[:1]], [P, P], SMALL.params), r"shape \[1, 3, 16\]"),
        ("sum_plaintext_products", ([X, X.int()], [P, P], SMALL.params), "holds int32"),
        ("sum_plaintext_products", ([X], [P[:, :1]], SMALL.params), "last axis has length 1"),
        ("sum_plaintext_products", ([X], [P], SMALL.params[:, :2]), "rns_params has shape"),
    ],
)
def test_wrong_operands_are_refused(name, arguments, message):
    with pytest.raises(RuntimeError, match=f"^{name}: .*{message}"):
        getattr(ckks, name)(*arguments)


def test_int32_tables_are_refused_for_int64_residues():
    narrow = chain_starting_at(0, 3, N, INT32)
    with pytest.raises(RuntimeError, match=r"^rescale_ntt: "):
        ckks.rescale_ntt(X, SMALL.inverse, narrow.tables, SMALL.params)
