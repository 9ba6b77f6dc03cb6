"""mod_up and mod_down against the exact centred representative in Python integers."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.basis_chains import CHAINS, MIXED, THRESHOLD, chain_of, crafted, over_batch, words
from tests.native.rns_oracle import (
    BATCHES,
    INT32,
    INT64,
    VIEWS,
    WORDS,
    assert_unchanged_and_equal_for_threads,
    centred,
    parameters,
    primes,
    radix,
    residues,
    rns,
    seen_as,
)


def float_sum(x: int, digit: list[int]) -> float:
    """Return sum of y_i / d_i, in index order and plain doubles, as the operators form it."""
    D, total = math.prod(digit), 0.0
    for d in digit:
        y = x * pow(D // d, -1, d) % d
        total += float(y) * (1.0 / float(d))
    return total


sizes = st.lists(st.integers(0, 6), min_size=1, max_size=5)  # positions in Word.sizes


@settings(max_examples=60, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    digits=st.lists(sizes, min_size=1, max_size=4),
    special=sizes,
    batch=st.sampled_from(BATCHES),
    n=st.integers(1, 5),
    view=st.sampled_from(VIEWS),
    pattern=st.sampled_from(["random", "zero", "one", "largest", "alternating"]),
    seed=st.integers(0, 2**20),
)
def test_any_chain(word, digits, special, batch, n, view, pattern, seed):
    bits = [[word.sizes[i] for i in digit] for digit in digits]
    chain = chain_of(bits, [word.sizes[i] for i in special], word)
    values = seen_as(chain.residues((*batch, len(chain.q), n), chain.q, pattern, seed), view)
    before = values.clone()
    result = rns.mod_up(values, *chain.up())
    assert result.is_contiguous()
    assert torch.equal(result, over_batch(chain.raised, values))
    assert torch.equal(values, before)
    values = seen_as(
        chain.residues((*batch, len(chain.whole), n), chain.whole, pattern, seed), view
    )
    before = values.clone()
    result = rns.mod_down(values, *chain.down())
    assert result.is_contiguous()
    assert torch.equal(result, over_batch(chain.lowered, values))
    assert torch.equal(values, before)


@pytest.mark.parametrize("name", CHAINS)
def test_crafted_values_near_one_half(name):
    chain = CHAINS[name]
    hard = [crafted(math.prod(digit)) for digit in chain.digits]
    width = max(map(len, hard))
    columns = [
        [
            x % d
            for xs, digit in zip(hard, chain.digits, strict=True)
            for x in [xs[k % len(xs)]]
            for d in digit
        ]
        for k in range(width)
    ]
    values = chain.words(columns).T.contiguous()
    assert torch.equal(rns.mod_up(values, *chain.up()), chain.raised(values))
    special = [[x % p for p in chain.special] for x in crafted(math.prod(chain.special))]
    rest = chain.residues((len(chain.q), len(special)), chain.q)
    values = torch.cat([rest, chain.words(special).T])
    assert torch.equal(rns.mod_down(values, *chain.down()), chain.lowered(values))


@pytest.mark.parametrize("count", [2, 3, 7, 16])
@pytest.mark.parametrize(("bits", "word"), [(45, INT64), (62, INT64), (31, INT32)])
def test_the_exact_comparison_decides(bits, word, count):
    """Values whose floating-point sum rounds to the wrong side come out right all the same."""
    chain = chain_of([[bits] * count], [bits] * count, word)
    D, P = math.prod(chain.q), math.prod(chain.special)
    for digit, modulus in ((chain.q, D), (chain.special, P)):
        xs = [modulus // 2 + j for j in range(-150, 152)]
        sums = [float_sum(x, digit) for x in xs]
        assert all(abs(s - math.floor(s) - 0.5) < THRESHOLD for s in sums)
        wrong = 0
        for x, s in zip(xs, sums, strict=True):
            true_sum = sum(x * pow(modulus // d, -1, d) % d * (modulus // d) for d in digit)
            u = (true_sum - centred(x, modulus)) // modulus
            wrong += round(s) != u
        assert wrong > 20
        values = chain.words([[x % d for x in xs] for d in digit])
        if digit is chain.q:
            assert torch.equal(rns.mod_up(values, *chain.up()), chain.raised(values))
        else:
            values = torch.cat([chain.residues((count, len(xs)), chain.q), values])
            assert torch.equal(rns.mod_down(values, *chain.down()), chain.lowered(values))


@pytest.mark.parametrize(
    ("word", "source_bits", "target_bits"),
    [
        *((INT64, source, target) for source in (30, 50, 62) for target in (30, 50, 51, 62)),
        *((INT32, source, target) for source in (18, 30, 31) for target in (18, 28, 30, 31)),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 15, 16])
def test_sums_hold_the_largest_terms(word, source_bits, count, target_bits):
    """Every digit d_i - 1 and every factor q - 1: nothing overflows and the sum is right."""
    sources = primes(source_bits, 20)[:count]
    q = primes(target_bits, 21)[20]
    as_they_are = words([radix(d, word) % d for d in sources], word)  # a scale of 1: y_i = x_i
    values = words([[d - 1] for d in sources], word)
    u = math.floor(sum(float(d - 1) / float(d) for d in sources) + 0.5)
    for correction in (1, q - 1):
        expected = (sum(d - 1 for d in sources) * (q - 1) - u * correction) * pow(
            radix(q, word), -1, q
        )
        matrix = words([[*(0 for _ in sources), q - 1] for _ in sources], word)
        corrections = words([[*(0 for _ in sources), correction]], word)
        params = parameters([*sources, q], word=word)
        up = rns.mod_up(values, words([0, count]), as_they_are, matrix, corrections, params)
        assert up[0, :, 0].tolist() == [*(d - 1 for d in sources), expected % q]
        down = rns.mod_down(
            torch.cat([words([[q - 1]], word), values]),
            as_they_are,
            words([[q - 1] for _ in sources], word),
            words([correction], word),
            words([q - 1], word),
            parameters([q, *sources], word=word),
        )
        lowered = (q - 1 - expected) * (q - 1) * pow(radix(q, word), -1, q) % q
        assert down.tolist() == [[lowered]]


def test_digits_are_kept_and_small_values_survive():
    x = [random.Random(1).randrange(-(2**20), 2**20) for _ in range(9)]
    raised = rns.mod_up(words([[v % q for v in x] for q in MIXED.q]), *MIXED.up())
    for digit in raised:
        assert digit.tolist() == [[v % q for v in x] for q in MIXED.whole]
    P = math.prod(MIXED.special)
    multiple = words([[v * P % q for v in x] for q in MIXED.whole])
    assert rns.mod_down(multiple, *MIXED.down()).tolist() == [[v % q for v in x] for q in MIXED.q]


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700])
@pytest.mark.parametrize("name", ["one prime a digit", "int32, mixed sizes"])
def test_lengths_that_do_not_fill_the_tiles(name, n):
    chain = CHAINS[name]
    values = chain.residues((len(chain.q), n), chain.q)
    assert torch.equal(rns.mod_up(values, *chain.up()), chain.raised(values))
    values = chain.residues((len(chain.whole), n), chain.whole)
    assert torch.equal(rns.mod_down(values, *chain.down()), chain.lowered(values))


@pytest.mark.parametrize("name", ["mixed sizes", "int32, mixed sizes"])
def test_thread_count_does_not_matter(name):
    chain = CHAINS[name]
    up, down = (chain.residues((2, 2, len(p), 2048), p) for p in (chain.q, chain.whole))
    assert_unchanged_and_equal_for_threads(rns.mod_up, up, *chain.up())
    assert_unchanged_and_equal_for_threads(rns.mod_down, down, *chain.down())


def test_constants_may_be_strided():
    values = residues((len(MIXED.q), 3), MIXED.q)
    constants = [seen_as(c, "every second") for c in MIXED.up()]
    assert torch.equal(rns.mod_up(values, *constants), rns.mod_up(values, *MIXED.up()))
    values = residues((len(MIXED.whole), 3), MIXED.whole)
    constants = [seen_as(c, "coefficients outermost") for c in MIXED.down()]
    assert torch.equal(rns.mod_down(values, *constants), rns.mod_down(values, *MIXED.down()))


L, LK = len(MIXED.q), len(MIXED.whole)


@pytest.mark.parametrize(
    ("position", "change", "message"),
    [
        (0, lambda t: t[0], r"input has shape \[4\]"),
        (0, lambda t: t.double(), "input holds float64, needed is int32 or int64"),
        (0, lambda t: t.int(), "rns_params is for int64 residues, this call is on int32"),
        (0, lambda t: t[:-1], rf"the input has {L - 1} rows"),
        (1, lambda t: t[:-1], rf"digit_bounds is \[0, 3, 4, 6\], the input has {L} rows"),
        (1, lambda t: t + 1, rf"digit_bounds is \[1, 4, 5, 7, 12\], the input has {L} rows"),
        (1, lambda t: words([0, 4, 4, 6, 11]), rf"\[0, 4, 4, 6, 11\], the input has {L} rows"),
        (1, lambda t: t[:1], r"digit_bounds is \[0\]"),
        (1, lambda t: t[None], r"digit_bounds has shape \[1, 5\], needed is \[1\]"),
        (2, lambda t: t[:-1], rf"digit_scale has shape \[{L - 1}\], needed is \[{L}\]"),
        (2, lambda t: t.float(), "digit_scale holds float32, needed is int64"),
        (2, lambda t: t.int(), "digit_scale holds int32, needed is int64"),
        (3, lambda t: t.int(), "matrix holds int32, needed is int64"),
        (4, lambda t: t.int(), "correction holds int32, needed is int64"),
        (2, lambda t: t + 2**31, r"digit_scale holds \d+ for limb 0, whose modulus is \d+"),
        (3, lambda t: t[:, 1:], rf"matrix has shape \[{L}, {LK - 1}\], needed is \[{L}, {LK}\]"),
        (3, lambda t: t - 2**62, r"matrix holds \d+ for limb 0, whose modulus is \d+"),
        (4, lambda t: t[:3], rf"correction has shape \[3, {LK}\], needed is \[4, {LK}\]"),
        (5, lambda t: t[:, :L], rf"rns_params has {L} limbs, the input has {L}"),
        (5, lambda t: t[:6], rf"rns_params has shape \[6, {LK}\].*need \[7, {LK}\]"),
    ],
)
def test_mod_up_refuses(position, change, message):
    arguments = [residues((L, 4), MIXED.q), *MIXED.up()]
    arguments[position] = change(arguments[position])
    with pytest.raises(RuntimeError, match=f"^mod_up: .*{message}"):
        rns.mod_up(*arguments)


@pytest.mark.parametrize(
    ("position", "change", "message"),
    [
        (0, lambda t: t[0], r"input has shape \[4\]"),
        (0, lambda t: t[:-1], rf"rns_params has shape \[7, {LK}\].*need \[7, {LK - 1}\]"),
        (0, lambda t: t[:4], "input has 4 limbs, 4 of them special"),
        (1, lambda t: t[1:], rf"matrix has shape \[4, {L}\], needed is \[3, {L + 1}\]"),
        (1, lambda t: t[:0], "special_scale has 0 primes, the limit is 16"),
        (1, lambda t: t.repeat(5)[:17], "special_scale has 17 primes, the limit is 16"),
        (2, lambda t: t.T, rf"matrix has shape \[{L}, 4\], needed is \[4, {L}\]"),
        (3, lambda t: t[1:], rf"correction has shape \[{L - 1}\], needed is \[{L}\]"),
        (3, lambda t: t + 2**31, r"correction holds \d+ for limb 0, whose modulus is \d+"),
        (4, lambda t: t[None], rf"special_inverse has shape \[1, {L}\], needed is \[{L}\]"),
        (5, lambda t: t.double(), "rns_params holds float64, needed is int64"),
        (1, lambda t: t.int(), "special_scale holds int32, needed is int64"),
        (4, lambda t: t.int(), "special_inverse holds int32, needed is int64"),
    ],
)
def test_mod_down_refuses(position, change, message):
    arguments = [residues((LK, 4), MIXED.whole), *MIXED.down()]
    arguments[position] = change(arguments[position])
    with pytest.raises(RuntimeError, match=f"^mod_down: .*{message}"):
        rns.mod_down(*arguments)


def test_digits_of_more_than_16_primes_are_refused():
    chain = chain_of([[30] * 17], [45])
    with pytest.raises(RuntimeError, match="mod_up: a digit has 17 primes, the limit is 16"):
        rns.mod_up(residues((17, 2), chain.q), *chain.up())
