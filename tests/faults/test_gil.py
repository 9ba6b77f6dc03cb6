"""Native calls let go of the interpreter's lock, so other Python threads run meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
import torch

from fhelium.native.wrapper import ckks_ops, ntt_ops, random_ops, rns_ops

LONG = 0.2  # seconds; against the 5 ms after which Python asks a thread for the lock


def progress_during(call: Callable[[], object]) -> tuple[int, float]:
    """Count how often a spinning Python thread gets round during a call, and time the call."""
    rounds, stop, running = 0, False, threading.Event()

    def spin() -> None:
        nonlocal rounds
        running.set()
        while not stop:
            rounds += 1

    thread = threading.Thread(target=spin)
    thread.start()
    running.wait(30)
    before, start = rounds, time.perf_counter()
    call()
    made, elapsed = rounds - before, time.perf_counter() - start
    stop = True
    thread.join(30)
    return made, elapsed


@pytest.fixture(scope="module")
def blocked() -> float:
    """Rounds that fit into one call of Python itself that keeps the lock all the time.

    On a busy machine the caller may wait for a processor before it has taken the lock: the fewest
    rounds of several calls count.
    """
    size = 400_000
    while progress_during(lambda size=size: 3**size)[1] < LONG:
        size *= 2
    return min(progress_during(lambda: 3**size)[0] for _ in range(5))


def calls(small) -> dict[str, Callable[[torch.Tensor], object]]:
    resources = small.engine.dispatcher(torch.device("cpu")).resources
    params = resources.material("rns_parameters/Q/0")
    tables = resources.material("ntt_tables/packed/Q/0")
    key = torch.zeros(32, dtype=torch.uint8)
    return {
        "rns": lambda rows: rns_ops.multiply_montgomery(rows, rows, params),
        "ntt": lambda rows: ntt_ops.ntt_packed(rows, tables, params),
        "ckks": lambda rows: ckks_ops.ciphertext_square(torch.stack((rows, rows)), params),
        "random": lambda rows: random_ops.sample_gaussian(key, 0, len(rows), 1024),
    }


@pytest.mark.parametrize("family", ["rns", "ntt", "ckks", "random"])
def test_a_python_thread_runs_during_a_native_call(small, blocked, family):
    call = calls(small)[family]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        batch, elapsed, made = 256, 0.0, 0
        while elapsed < LONG:
            batch *= 2
            rows = torch.zeros(batch, 4, 1024, dtype=torch.int64)
            made, elapsed = progress_during(lambda rows=rows: call(rows))
    finally:
        torch.set_num_threads(threads)
    # A call that keeps the lock leaves the other thread a few milliseconds where it begins and
    # ends, however long it is. Half a core for a fifth of a second is ten times that and more.
    assert made > 4 * max(blocked, 1000)
