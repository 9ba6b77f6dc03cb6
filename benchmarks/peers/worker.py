"""One library in a process of its own, which times an operation each time it is asked.

    python worker.py LIBRARY LOG_DEGREE THREADS

Writes one line of JSON about itself, then answers every line that names an operation with seconds
of one call, {"wall": ..., "cpu": ...}; the processor time is that of all threads. Runs in the
environment of its library: it imports nothing but numpy and that.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Protocol

import numpy as np

LEAST_SECONDS = 0.02  # of one figure
# log2 N: depth of the preset with a scale of 40 bits
DEPTHS = {13: 2, 14: 7, 15: 16, 16: 34}


class Library(Protocol):
    """What an adapter brings: a module with a function `prepare` that returns this."""

    name: str
    operations: dict[str, Callable[[], object]]
    errors: dict[str, float]  # largest absolute error of a result, by operation


def messages(slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the two vectors that every library gets."""
    generator = np.random.default_rng(20)
    return generator.uniform(-1, 1, slots), generator.uniform(-1, 1, slots)


def largest(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest absolute error over all slots."""
    return float(np.abs(np.asarray(found) - expected).max())


def figure(call: Callable[[], object]) -> dict[str, float]:
    """Return wall and processor seconds of one call out of as many as make a figure."""
    calls, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < LEAST_SECONDS or calls == 0:
        call()
        calls += 1
    return {
        "wall": (time.perf_counter() - wall) / calls,
        "cpu": (time.process_time() - cpu) / calls,
    }


def main() -> None:
    """Prepare a library and answer."""
    library_name, log_degree, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    library: Library = import_module(f"with_{library_name}").prepare(log_degree, threads)
    about = {"name": library.name, "operations": list(library.operations), "errors": library.errors}
    print(json.dumps(about), flush=True)
    for call in library.operations.values():
        call()
    for line in sys.stdin:
        print(json.dumps(figure(library.operations[line.strip()])), flush=True)


if __name__ == "__main__":
    main()
