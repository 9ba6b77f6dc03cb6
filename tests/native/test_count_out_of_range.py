"""The check that every residue of a stored value stands below its prime."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rns_oracle import (
    BATCHES,
    VIEWS,
    assert_unchanged_and_equal_for_threads,
    parameters,
    primes,
    residues,
    rns,
    rows,
    seen_as,
)

MIXED = tuple(primes(bits, 1)[0] for bits in (30, 45, 50, 51, 58, 61, 62))


def edges(q: int) -> list[int]:
    """Words around every border: of the residues, of the signed words and of the shifts."""
    return [0, 1, q - 1, q, q + 1, 2 * q, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, -q, -1]


def counted(values: torch.Tensor) -> list[int]:
    """Count in Python integers."""
    found = [0] * len(MIXED)
    for index, value in rows(values):
        found[index[-2]] += not 0 <= value < MIXED[index[-2]]
    return found


@settings(max_examples=80, deadline=None)
@given(
    batch=st.sampled_from(BATCHES),
    n=st.sampled_from([1, 2, 3, 16, 33]),
    view=st.sampled_from(VIEWS),
    pattern=st.sampled_from(["random", "zero", "largest"]),
    places=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 11)), max_size=12),
)
def test_counts_what_is_no_residue(batch, n, view, pattern, places):
    values = residues((*batch, len(MIXED), n), MIXED, pattern)
    flat = values.view(-1)
    for place, edge in places if flat.numel() else []:
        limb = place % flat.numel() // n % len(MIXED)
        flat[place % flat.numel()] = edges(MIXED[limb])[edge]
    values = seen_as(values, view)
    found = rns.count_out_of_range(values, parameters(MIXED))
    assert found.dtype == torch.int64
    assert found.tolist() == counted(values)


@pytest.mark.parametrize("limb", range(len(MIXED)))
def test_every_border_counts_alone(limb):
    params = parameters(MIXED)
    for word in edges(MIXED[limb]):
        values = torch.zeros(len(MIXED), 5, dtype=torch.int64)
        values[limb, 3] = word
        expected = [0] * len(MIXED)
        expected[limb] = int(not 0 <= word < MIXED[limb])
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
