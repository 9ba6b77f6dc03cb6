"""Programs of coefficient-wise steps against the single operators, and what is refused."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.rns_oracle import (
    INT64,
    VIEWS,
    WORDS,
    Word,
    assert_unchanged_and_equal_for_threads,
    ckks,
    each_word,
    parameters,
    primes,
    residues,
    seen_as,
)

rns = torch.ops.fhelium_rns_ops
BINARY = {0: rns.add_standard, 1: rns.subtract_standard, 3: rns.multiply_montgomery}
UNARY = {2: rns.negate_standard, 4: rns.to_montgomery}
SUMS, RESULTS, SCRATCH = 5, 3, 6


def random_program(draw: random.Random, whole: list[int], constants: list[int]) -> list[int]:
    """Return steps that write every result, over operands and places that are used again."""
    inputs, known, words = len(whole) + len(constants), list(whole), []
    targets = [draw.randrange(RESULTS + SCRATCH) for _ in range(12)]
    for target in [*targets, *range(RESULTS)]:
        code = draw.randrange(6)
        if code in UNARY:
            words += [code, target, draw.choice(known)]
        elif code in BINARY:
            words += [code, target, draw.choice(known), draw.choice(known + constants)]
        else:
            other = draw.choice([k for k in range(RESULTS, RESULTS + SCRATCH) if k != target])
            read = [row for row in known if row - inputs not in (target, other)]
            terms = draw.randrange(1, 20)
            words += [code, target, other, terms, *draw.choices(read, k=3 * terms)]
            known.append(inputs + other)
        known.append(inputs + target)
    return words


def one_by_one(words: list[int], rows: list[torch.Tensor], params: torch.Tensor) -> torch.Tensor:
    """Compute the same with the single operators."""
    found, queue, inputs = dict(enumerate(rows)), list(words), len(rows)

    def take(count: int) -> list[int]:
        taken, queue[:count] = queue[:count], []
        return taken

    while queue:
        (code,) = take(1)
        if code == SUMS:
            *targets, terms = take(3)
            read = [found[row] for row in take(3 * terms)]
            for target, part in zip(targets, (1, 2), strict=True):
                products = [
                    rns.multiply_montgomery(read[k + part], read[k], params)
                    for k in range(0, len(read), 3)
                ]
                total = products[0]
                for product in products[1:]:
                    total = rns.add_standard(total, product, params)
                found[inputs + target] = total
        else:
            target, *operands = take(2 + (code in BINARY))
            operator = (BINARY | UNARY)[code]
            found[inputs + target] = operator(*(found[row] for row in operands), params)
    return torch.stack([found[inputs + index] for index in range(RESULTS)])


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    word=st.sampled_from(WORDS),
    batch=st.sampled_from([(), (3,), (2, 2)]),
    n=st.sampled_from([1, 5, 64, 600]),
    view=st.sampled_from(VIEWS),
    pattern=st.sampled_from(["random", "largest"]),
)
def test_steps_are_the_single_operators(seed, word, batch, n, view, pattern):
    moduli = [primes(bits, 1, 64)[0] for bits in word.sizes[::3]]
    limbs, params = len(moduli), parameters(moduli, word=word)
    first = seen_as(residues((2, *batch, limbs, n), moduli, pattern, seed % 97, word), view)
    second = residues((3, *batch, limbs, n), moduli, "random", 1, word)
    plain = seen_as(residues((limbs, n), moduli, pattern, 2, word), view)
    constant = residues((limbs, 1), moduli, "random", 3, word)
    rows = [*first, *second, plain.expand(first.shape[1:]), constant]
    constants = [6] if n > 1 else [5, 6]
    whole = [row for row in range(7) if row not in constants]
    words = random_program(random.Random(seed), whole, constants)
    found = ckks.coefficient_program([first, second], [plain, constant], words, RESULTS, params)
    assert torch.equal(found, one_by_one(words, [row.contiguous() for row in rows], params))
    assert found.is_contiguous()


@each_word
def test_several_tiles_and_threads(word: Word):
    moduli = [primes(bits, 1, 64)[0] for bits in word.sizes[2:5]]
    x = residues((2, 9, 3, 4096), moduli, word=word)
    constant, params = residues((3, 1), moduli, word=word), parameters(moduli, word=word)
    words = random_program(random.Random(1), [0, 1], [2])

    def run(a, k, params):
        return ckks.coefficient_program([a], [k], words, RESULTS, params)

    assert_unchanged_and_equal_for_threads(run, x, constant, params)
    assert torch.equal(run(x, constant, params), one_by_one(words, [*x, constant], params))


MODULI = primes(45, 3, 64)
PARAMS = parameters(MODULI)
X, K = residues((2, 3, 16), MODULI), residues((3, 1), MODULI)
COPY = [0, 0, 0, 1]  # row 2 = row 0 + row 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], COPY, 1, PARAMS), "there is no ciphertext"),
        (([X[0, 0]], [], COPY, 1, PARAMS), r"shape \[16\]"),
        (([X, X[..., :8]], [], COPY, 1, PARAMS), r"shape \[2, 3, 8\]"),
        (([X, X.int()], [], COPY, 1, PARAMS), "holds int32"),
        (([X], [X], COPY, 1, PARAMS), "plaintext has shape"),
        (([X], [K], COPY, 1, PARAMS[:, :2]), "rns_params has shape"),
        (([X], [], COPY, 0, PARAMS), "it has 0 results"),
        (([X], [], COPY, 65, PARAMS), "it has 65 results"),
        (([X], [], COPY, 2, PARAMS), "result 1 is not written"),
        (([X], [], [], 1, PARAMS), "result 0 is not written"),
        (([X], [], [6, 0, 0, 1], 1, PARAMS), "the code 6"),
        (([X], [], [-1, 0, 0, 1], 1, PARAMS), "the code -1"),
        (([X], [], [0, 64, 0, 1], 1, PARAMS), "the result 64"),
        (([X], [], [0, 0, 0], 1, PARAMS), "the row -1"),
        (([X], [], [0, 0, 0, 2], 1, PARAMS), "reads row 2 in code 0"),
        (([X], [], [0, 0, 0, 2**40], 1, PARAMS), "the row 1099511627776"),
        (([X], [K], [0, 0, 2, 0], 1, PARAMS), "reads row 2 in code 0"),
        (([X], [K], [2, 0, 2], 1, PARAMS), "reads row 2 in code 2"),
        (([X], [K], [5, 0, 1, 1, 2, 0, 1], 1, PARAMS), "reads row 2 in code 5"),
        (([X], [], [5, 0, 0, 1, 0, 0, 1], 1, PARAMS), "a sum is written to row 2"),
        (([X], [], [5, 0, 1, 0], 1, PARAMS), "a sum is written to row 2"),
        (([X], [], [*COPY, 5, 0, 1, 1, 2, 0, 1], 1, PARAMS), "a sum is written to row 2"),
        (([X], [], [5, 0, 1, 2**40, 0, 0, 1], 1, PARAMS), "the number of terms 1099511627776"),
    ],
)
def test_wrong_programs_are_refused(arguments, message):
    with pytest.raises(RuntimeError, match=f"^coefficient_program: .*{message}"):
        ckks.coefficient_program(*arguments)


def test_the_only_word_is_that_of_the_parameters():
    narrow = residues((2, 3, 16), MODULI).int()
    with pytest.raises(RuntimeError, match=r"^coefficient_program: "):
        ckks.coefficient_program([narrow], [], COPY, 1, PARAMS)
    assert X.dtype is INT64.dtype
