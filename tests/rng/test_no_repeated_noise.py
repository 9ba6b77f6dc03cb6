"""No two draws of noise are equal: over threads, spawned workers, ranks and engines."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch

from fhelium import CkksConfig, Engine
from fhelium.errors import InsecureWarning
from fhelium.native.wrapper import random_ops
from fhelium.rng import Domain, RandomSource, derive, key_tensor

DEGREE = 64  # two draws of 64 errors agree by chance with probability below 2^-200
ROWS = 16
THREADS = 4


def noise(source: RandomSource, roots: int) -> list[bytes]:
    """Draw as encryptions do, ROWS errors of each root, and name each by a digest."""
    found = []
    for _ in range(roots):
        stream = key_tensor(derive(source.root(Domain.ENCRYPTION_MASK), Domain.ENCRYPTION_ERROR))
        rows = random_ops.sample_gaussian(stream, 0, ROWS, DEGREE).numpy()
        found += [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]
    return found


def over_threads(source: RandomSource, roots: int) -> list[bytes]:
    """Let several threads draw from one source at a time."""
    torch.set_num_threads(1)  # the threads here are enough
    found: list[bytes] = []
    start = threading.Barrier(THREADS)

    def work() -> None:
        start.wait()
        mine = noise(source, roots)
        found.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def worker(task: tuple[int | None, int, int]) -> list[bytes]:
    """Draw in a spawned process, as a rank of its own; with a seed or with real randomness."""
    seed, rank, roots = task
    os.environ["RANK"] = str(rank)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        source = RandomSource(seed)
    return over_threads(source, roots)


def all_different(roots: int) -> int:
    """Draw in this process and in four workers, two of them ranks of one seed; count the draws."""
    tasks = [(None, 0, roots), (None, 0, roots), (5, 0, roots), (5, 1, roots)]
    threads = torch.get_num_threads()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        results = pool.map(worker, tasks)
        draws = over_threads(RandomSource(), roots)
        for found in results:
            draws += found
    torch.set_num_threads(threads)
    assert len(set(draws)) == len(draws)
    return len(draws)


def test_no_noise_repeats() -> None:
    assert all_different(10) == 5 * THREADS * 10 * ROWS


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_noise_repeats_in_a_million_draws() -> None:
    assert all_different(3200) > 1_000_000


def test_no_encryption_repeats() -> None:
    """The public path: equal messages under one key, from two engines and several threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(depth=1, scale_bits=30, N=256, allow_insecure=True)
    engines = [Engine(config), Engine(config)]
    secret_key = engines[0].create_secret_key()
    public_key = engines[0].create_public_key(secret_key)
    message = torch.zeros(32, config.num_slots)
    found: list[bytes] = []

    def work(engine: Engine) -> None:
        for _ in range(4):
            data = engine.encrypt_message(message, public_key).data
            found.extend(data[1, row].numpy().tobytes() for row in range(32))

    threads = [threading.Thread(target=work, args=(engine,)) for engine in engines * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 * 4 * 32
    assert len(set(found)) == len(found)


def test_a_seed_repeats_and_is_marked_so() -> None:
    """What tests want of a seed, and the reason why nothing else may have one."""
    with pytest.warns(InsecureWarning):
        first, second = RandomSource(7), RandomSource(7)
    assert noise(first, 2) == noise(second, 2)
    assert first.insecure
