"""The security table, number by number."""

from __future__ import annotations

import pytest

from fhelium.config import SECURITY_LEVELS, SECURITY_MODELS, max_log2_qp
from fhelium.config.security import MAX_LOG2_QP, is_within_security_row
from fhelium.errors import ParameterError

LIMITS = {
    1024: (26, None, None, 20),
    2048: (53, 36, 27, 40),
    4096: (106, 73, 56, 80),
    8192: (214, 147, 114, 161),
    16384: (430, 297, 230, 322),
    32768: (868, 597, 462, 644),
    65536: (1747, 1199, 929, 1289),
    131072: (3523, 2411, 1866, 2578),
}


def test_every_number_of_the_table():
    assert SECURITY_LEVELS == ("128", "192", "256", "pq128")
    for N, limits in LIMITS.items():
        assert tuple(max_log2_qp(N, level) for level in SECURITY_LEVELS) == limits
    rows = sum(limit is not None for limits in LIMITS.values() for limit in limits)
    assert sum(len(column) for column in MAX_LOG2_QP.values()) == rows == 30


@pytest.mark.parametrize("N", [16, 512, 3000, 12288, 2**18])
def test_nothing_is_interpolated_or_extrapolated(N):
    assert [max_log2_qp(N, level) for level in SECURITY_LEVELS] == [None] * 4


def test_the_comparison_with_a_row_is_exact():
    assert is_within_security_row(2**430 - 1, 16384)
    assert is_within_security_row(2**430, 16384)
    assert not is_within_security_row(2**430 + 1, 16384)
    assert not is_within_security_row(3, 512)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        MAX_LOG2_QP["128"][16384] = 438  # type: ignore[index]
    with pytest.raises(TypeError):
        MAX_LOG2_QP["128"] = {}  # type: ignore[index]


def test_quantum_is_never_said_without_its_model():
    assert "ChaLoy21" in SECURITY_MODELS["pq128"]
    for level in ("128", "192", "256"):
        assert "MATZOV" in SECURITY_MODELS[level]
        assert "quantum" not in SECURITY_MODELS[level]


@pytest.mark.parametrize("level", [128, "127", None, "", "quantum"])
def test_an_unknown_level_lists_the_known_ones(level):
    with pytest.raises(ParameterError) as caught:
        max_log2_qp(16384, level)
    text = str(caught.value)
    assert repr(level) in text
    assert all(repr(known) in text for known in SECURITY_LEVELS)
    assert caught.value.levels == SECURITY_LEVELS


def test_a_level_given_as_a_number_is_told_its_string():
    with pytest.raises(ParameterError, match="Use security='128'"):
        max_log2_qp(16384, 128)  # type: ignore[arg-type]
