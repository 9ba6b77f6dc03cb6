"""A small ring with its keys and its tables, made once for every test of Compile."""

from __future__ import annotations

import pytest

from tests.compile.support import CompileRing


@pytest.fixture(scope="session")
def ring() -> CompileRing:
    """512 slots, scale 2^30, depth 3, two digits; it protects nothing."""
    return CompileRing.make(steps=(1, 3, 511))
