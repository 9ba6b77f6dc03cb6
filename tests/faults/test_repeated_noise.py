"""No two draws share their noise: over threads, over worker processes, over kinds of draw."""

from __future__ import annotations

import threading
import warnings
from collections import Counter

import pytest
import torch

from fhelium import CkksConfig, Engine
from fhelium.errors import InsecureWarning
from fhelium.native.wrapper import ckks_ops, random_ops
from tests.faults import workers
from tests.faults.calls import message

pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


@pytest.fixture(scope="module")
def tiny():
    """A small ring with 3^64 masks: no two of a million agree by chance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(depth=1, scale_bits=30, N=64, allow_insecure=True)
    engine = Engine(config)
    return engine, engine.create_public_key(engine.create_secret_key())


def draws_everywhere(tiny, pool, batch: int, calls: int) -> tuple[set[int], list[bytes]]:
    """Draw in both workers and here, from four threads each."""
    engine, key = tiny
    # More tasks than workers, so that neither worker is left out.
    tasks = [pool.submit(workers.draw, engine, key, 4, calls, batch) for _ in range(4)]
    results = [workers.draw(engine, key, 4, calls, batch), *(task.result(600) for task in tasks)]
    return {process for process, _ in results}, [row for _, found in results for row in found]


@pytest.mark.parametrize(
    ("batch", "calls"),
    [(200, 25), (1, 100), pytest.param(500, 100, marks=pytest.mark.slow)],
    ids=["hundred-thousand-in-batches", "one-by-one", "million-in-batches"],
)
def test_no_ciphertext_repeats_over_threads_and_workers(tiny, spawned, batch, calls):
    processes, found = draws_everywhere(tiny, spawned, batch, calls)
    assert len(found) == 5 * 4 * calls * batch
    assert len(processes) >= 2
    assert len(set(found)) == len(found)


def test_the_ciphertexts_of_one_seed_would_be_found_out(tiny):
    """The comparison above can fail: two engines of one seed repeat each other."""
    engine, key = tiny
    twins = [Engine(engine.config, rng_seed=1) for _ in range(2)]
    found = [row for twin in twins for row in workers.draw(twin, key, 1, 3, 5)[1]]
    assert (len(found), len(set(found))) == (30, 15)


def test_ranks_of_one_seed_differ(tiny, spawned):
    engine, key = tiny
    drawn = [
        spawned.submit(workers.seeded_draw, engine.config.to_mapping(), key, 7, rank).result(120)
        for rank in ("0", "1", "2", "0")
    ]
    assert len(set(drawn)) == 3
    assert drawn[0] == drawn[3] == workers.seeded_draw(engine.config.to_mapping(), key, 7, "0")


UNIFORM, MASK = ("sample_uniform", 1, 0), ("sample_ternary", 0)
ERRORS = (("sample_gaussian", 0), ("sample_gaussian", 1))
DRAWS_INSIDE = {
    "encrypt_with_public": {2: (MASK,), 3: ERRORS},
    "encrypt_with_secret": {2: (UNIFORM,), 3: ERRORS[:1]},
    "make_public_key": {1: (UNIFORM,), 2: ERRORS[:1]},
    "make_switching_key_": {3: (UNIFORM,), 4: ERRORS[:1]},
}
"""What a whole operation draws of the key at each of its arguments, as its steps would."""


def recorded(monkeypatch) -> list[tuple]:
    """Write down the stream and the place of every draw from now on."""
    places: list[tuple] = []

    def watch(name: str, position: slice) -> None:
        sampler = getattr(random_ops, name)

        def sample(key: torch.Tensor, *arguments) -> torch.Tensor:
            places.append((bytes(key.numpy()), name, *arguments[position]))
            return sampler(key, *arguments)

        monkeypatch.setattr(random_ops, name, sample)

    def watch_inside(name: str, draws: dict[int, tuple]) -> None:
        operation = getattr(ckks_ops, name)

        def compute(*arguments):
            for index, drawn in draws.items():
                places.extend((bytes(arguments[index].numpy()), *place) for place in drawn)
            return operation(*arguments)

        monkeypatch.setattr(ckks_ops, name, compute)

    for name, draws in DRAWS_INSIDE.items():
        watch_inside(name, draws)
    watch("sample_uniform", slice(1, 3))  # component, first index; every prime has its own stream
    watch("sample_ternary", slice(0, 1))  # component
    watch("sample_gaussian", slice(0, 1))
    watch("sample_rounded_gaussian", slice(0, 0))
    return places


@pytest.mark.parametrize("seed", [None, 11])
def test_no_stream_is_read_twice_at_one_place(small, monkeypatch, seed):
    """Masks, errors, uniform halves and covering noise of 16 threads all stand apart."""
    engine = Engine(small.config, rng_seed=seed)
    places = recorded(monkeypatch)
    start, errors = threading.Barrier(16), []

    def work(index: int) -> None:
        try:
            start.wait(60)
            secret_key = engine.create_secret_key()
            public_key = engine.create_public_key(secret_key)
            engine.create_evaluation_keys(secret_key, steps=[1], conjugation=True)
            for depth in (0, 2):
                x = engine.encrypt_message(message(small, index), public_key, depth=depth)
                engine.decrypt_message(x, secret_key)
            engine.encrypt_with_secret_key(torch.zeros(3, 512), secret_key)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    # a secret key 1, a public key 2, three switching keys 2 each, two encryptions 3 each with a
    # decryption of 1, an encryption under the secret key 2
    assert len(places) == 16 * (1 + 2 + 3 * 2 + 2 * (3 + 1) + 2)
    assert [place[1:] for place, count in Counter(places).items() if count > 1] == []
    kinds = Counter(key for key, *_ in {(key, name) for key, name, *_ in places})
    assert max(kinds.values()) == 1  # one stream, one kind of draw


def test_key_ids_and_public_seeds_of_threads_differ(small):
    found: list[tuple[str, bytes, bytes]] = []

    def work() -> None:
        secret_key = small.engine.create_secret_key()
        keys = [
            small.engine.create_public_key(secret_key),
            small.engine.create_rotation_key(1, secret_key),
        ]
        found.append((secret_key.key_id, *(key.public_seed for key in keys)))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len({part for parts in found for part in parts}) == 3 * 16
