"""The native operators, one call each, at N = 2^14 with eight limbs of 40 bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from benchmarks.kernels.operators import operators

LOG_DEGREE = 14


@cache
def calls() -> dict[str, Callable[[], object]]:
    return {operator.name: operator.call for operator in operators(LOG_DEGREE)}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("operator", list(calls()))


def bench_kernel(benchmark: Callable[..., object], operator: str) -> None:
    benchmark(calls()[operator])
