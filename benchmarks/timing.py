"""Interleaved measurements: candidates take turns, so that a busy neighbour meets them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

LEAST_SECONDS = 0.01  # of one measurement


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, list[float]]:
    """Return seconds of each call, one figure a round.

    Args:
        calls: What to time, by name; short ones are repeated within a figure.
        rounds: Figures for each.
        clock: `time.thread_time` leaves out what neighbours took of the processor and sees the
            calling thread alone; `time.perf_counter` is what a user waits.
    """
    repeats = {}
    for name, call in calls.items():
        call()
        start = clock()
        call()
        repeats[name] = max(1, min(1000, int(LEAST_SECONDS / max(clock() - start, 1e-7))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            call()  # what the others left in caches is not this one's business
            start = clock()
            for _ in range(repeats[name]):
                call()
            times[name].append((clock() - start) / repeats[name])
    return times


def ratio(times: Mapping[str, list[float]], name: str, base: str) -> float:
    """Return the median over rounds of one candidate's time divided by another's."""
    return median(x / y for x, y in zip(times[name], times[base], strict=True))
