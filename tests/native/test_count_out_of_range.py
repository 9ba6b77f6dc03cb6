"""The check that every residue of a stored value stands below its prime."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rns_oracle import (
    BATCHES,
    INT64,
    VIEWS,
    WORDS,
    Word,
    assert_unchanged_and_equal_for_threads,
    each_word,
    parameters,
    primes,
    residues,
    rns,
    rows,
    seen_as,
)

MIXED = INT64.mixed


def edges(q: int, word: Word) -> list[int]:
    """Words around every border: of the residues, of the signed words and of the shifts."""
    top = torch.iinfo(word.dtype).max
    double = min(2 * q, top)
    return [0, 1, q - 1, q, q + 1, double, top // 2 + 1, top, -top - 1, -top, -q, -1]


def counted(values: torch.Tensor, moduli) -> list[int]:
    """Count in Python integers."""
    found = [0] * len(moduli)
    for index, value in rows(values):
        found[index[-2]] += not 0 <= value < moduli[index[-2]]
    return found


@settings(max_examples=80, deadline=None)
@given(
    word=st.sampled_from(WORDS),
    batch=st.sampled_from(BATCHES),
    n=st.sampled_from([1, 2, 3, 16, 33]),
    view=st.sampled_from(VIEWS),
    pattern=st.sampled_from(["random", "zero", "largest"]),
    places=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 11)), max_size=12),
)
def test_counts_what_is_no_residue(word, batch, n, view, pattern, places):
    moduli = word.mixed
    values = residues((*batch, len(moduli), n), moduli, pattern, word=word)
    flat = values.view(-1)
    for place, edge in places if flat.numel() else []:
        limb = place % flat.numel() // n % len(moduli)
        flat[place % flat.numel()] = edges(moduli[limb], word)[edge]
    values = seen_as(values, view)
    found = rns.count_out_of_range(values, parameters(moduli, word=word))
    assert found.dtype == torch.int64
    assert found.tolist() == counted(values, moduli)


@each_word
@pytest.mark.parametrize("limb", range(len(MIXED)))
def test_every_border_counts_alone(limb, word: Word):
    moduli = word.mixed
    params = parameters(moduli, word=word)
    for value in edges(moduli[limb], word):
        values = torch.zeros(len(moduli), 5, dtype=word.dtype)
        values[limb, 3] = value
        expected = [0] * len(moduli)
        expected[limb] = int(not 0 <= value < moduli[limb])
        assert rns.count_out_of_range(values, params).tolist() == expected


def test_thread_count_does_not_matter():
    moduli = primes(50, 3, 4096) + primes(61, 2, 4096)
    generator = torch.Generator().manual_seed(5)
    values = torch.randint(0, 2**51, (9, 5, 4096), generator=generator)
    values[:, 3:] <<= 11
    call = rns.count_out_of_range
    found = assert_unchanged_and_equal_for_threads(call, values, parameters(moduli, 4096))
    expected = [int((values[:, limb] >= q).sum()) for limb, q in enumerate(moduli)]
    assert found.tolist() == expected
    assert all(expected)


def test_other_types_and_shapes_are_refused():
    params = parameters(MIXED)
    values = torch.zeros(len(MIXED), 4, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="count_out_of_range: input holds float64"):
        rns.count_out_of_range(values.double(), params)
    with pytest.raises(RuntimeError, match=r"count_out_of_range: .*\[7, 6\].* need \[7, 7\]"):
        rns.count_out_of_range(values, params[:, :6])
    with pytest.raises(RuntimeError, match="count_out_of_range: input has"):
        rns.count_out_of_range(values[0], params)
