"""Compiled functions beside the same Eager calls: one benchmark each, and their ratio by turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.circuits.compiled import CIRCUITS, candidates
from benchmarks.rings import Ring
from benchmarks.timing import interleaved, ratio

ROUNDS = 11


@pytest.mark.parametrize("name", CIRCUITS)
def bench_compiled(benchmark: Any, ring: Ring, name: str, note: Callable[[str], None]) -> None:
    calls = candidates(ring, name)
    benchmark(calls["compiled"])
    times = interleaved({kind: calls[kind] for kind in ("same", "compiled")}, ROUNDS)
    found = ratio(times, "compiled", "same")
    benchmark.extra_info["ratio to the same Eager calls"] = found
    note(f"{found:6.2f}  {name}, {ring.name}: compiled, to the same calls of the Engine")
