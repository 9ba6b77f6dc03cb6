"""Many threads on one Engine give what one thread gives, bit for bit."""

from __future__ import annotations

import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fhelium import CkksConfig, Engine, EvaluationKeys
from fhelium.errors import InsecureWarning, KeyMismatchError, MissingKeyError
from tests.conftest import Ring
from tests.faults.calls import Call, copied, engine_calls, message, parts, same
from tests.programs import run_python

THREADS = 16


@pytest.fixture(autouse=True)
def eager_switching():
    """Let threads take turns after a few bytecodes: races show that are rare otherwise."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def thread_setting():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def calls(small) -> list[Call]:
    return engine_calls(small)


def together(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """Run work(0) .. work(count - 1) at once and return the results; raise the first error."""
    start = threading.Barrier(count)
    results: list[Any] = [None] * count
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            start.wait(60)
            results[index] = work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "threads hang"
    if errors:
        raise errors[0]
    return results


def cold_engine(ring, keys: EvaluationKeys | None = None) -> Engine:
    """Make an engine whose config, tables and calls nothing has been computed for yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        engine = Engine(pickle.loads(pickle.dumps(ring.config)))
    engine.add_keys(ring.keys if keys is None else keys)
    return engine


@pytest.fixture(scope="module")
def narrow() -> Ring:
    """The small ring again, with residues of 32 bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(
            depth=3, scale_bits=25, N=1024, dtype_name="int32", allow_insecure=True
        )
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    keys = engine.create_evaluation_keys(secret_key, steps=(1, 3, -1, -2), conjugation=True)
    engine.add_keys(keys)
    return Ring(engine, secret_key, engine.create_public_key(secret_key), keys)


@pytest.mark.parametrize("intra_op", [1, 2, 5])
def test_sixteen_threads_on_a_cold_engine_give_the_serial_results(
    small, calls, thread_setting, intra_op
):
    assert_threads_agree(small, calls, thread_setting, intra_op)


def test_sixteen_threads_agree_on_residues_of_32_bits(narrow, thread_setting):
    calls = [call for call in engine_calls(narrow) if "reinterpret" not in call.name]
    assert_threads_agree(narrow, calls, thread_setting, 2)


def assert_threads_agree(small: Ring, calls: list[Call], thread_setting, intra_op: int) -> None:
    expected = [copied(parts(call(small.engine))) for call in calls]
    arguments = [copied(parts(call.arguments)) for call in calls]
    engine = cold_engine(small)

    def work(index: int) -> list[str]:
        thread_setting(1 + (index + intra_op) % intra_op)
        # Each thread begins elsewhere, so that different first uses meet.
        order = [(place + 3 * index) % len(calls) for place in range(len(calls))]
        return [
            calls[place].name
            for place in order
            if not same(parts(calls[place](engine)), expected[place])
        ]

    assert together(work) == [[]] * THREADS
    for call, before in zip(calls, arguments, strict=True):
        assert same(parts(call.arguments), before), call.name


def test_a_batch_does_not_depend_on_threads_either(small, thread_setting):
    """A batch is long enough to be split over torch's own threads."""
    calls = engine_calls(small, 6)
    thread_setting(1)
    expected = [copied(parts(call(small.engine))) for call in calls]
    engine = cold_engine(small)

    def work(index: int) -> list[str]:
        thread_setting(1 + index)
        chosen = list(zip(calls, expected, strict=True))[index::4]
        return [call.name for call, wanted in chosen if not same(parts(call(engine)), wanted)]

    assert together(work, 4) == [[]] * 4


def test_encryptions_of_many_threads_are_those_of_one(small):
    """A seeded engine numbers its draws: who draws which is chance, what is drawn is not."""
    with pytest.warns(InsecureWarning):
        serial, shared = (Engine(small.config, rng_seed=5) for _ in range(2))
    clear = message(small, 2)

    def draws(engine: Engine) -> list[bytes]:
        values = [engine.encrypt_message(clear, small.public_key) for _ in range(3)]
        return [value.data.numpy().tobytes() for value in values]

    expected = [draw for _ in range(THREADS) for draw in draws(serial)]
    found = [draw for mine in together(lambda _: draws(shared)) for draw in mine]
    assert len(set(expected)) == 3 * THREADS
    assert sorted(found) == sorted(expected)


def test_secure_encryptions_of_many_threads_decrypt(small):
    engine = cold_engine(small)

    def work(index: int) -> float:
        clear = message(small, index)
        ciphertext = engine.encrypt_message(clear, small.public_key, output_domain="ntt")
        doubled = engine.add(ciphertext, ciphertext)
        found = engine.decrypt_message(doubled, small.secret_key, real=True)
        return float((found - 2 * clear).abs().max())

    assert max(together(work)) < 2.0**-14


def test_one_thread_records_while_another_computes(small, calls):
    """Recording computes nothing, in the thread that records and in no other."""
    expected = [copied(parts(call(small.engine))) for call in calls]
    x = small.engine.encrypt_message(message(small, 4), small.public_key)

    def work(index: int) -> tuple[int, ...]:
        if index % 2:
            for call, wanted in zip(calls, expected, strict=True):
                assert same(parts(call(small.engine)), wanted), call.name
            return ()
        with small.engine.record_keys() as record:
            for step in range(40):
                assert small.engine.rotate_by_step(x, 100 + step).device.type == "meta"
        return record.steps

    assert together(work, 4) == [tuple(range(100, 140)), ()] * 2
    assert small.engine.keys.steps == small.keys.steps


def test_adding_keys_while_others_compute(small):
    """A reader sees a set of keys before or after an addition, and exact results either way."""
    steps = tuple(range(1, 25))
    keys = small.engine.create_evaluation_keys(small.secret_key, steps=steps)
    engine = cold_engine(small, EvaluationKeys(keys.relinearization()))
    x = small.engine.encrypt_message(message(small, 3), small.public_key, output_domain="ntt")
    expected = {s: small.engine.rotate_with_key(x, keys.rotation(s)).data for s in steps}
    finished = threading.Event()

    def add() -> int:
        for step in steps:
            engine.add_keys(keys.rotation(step))
            engine.keys.discard(keys.rotation(step))
            engine.add_keys(keys.rotation(step))
        finished.set()
        return 0

    def compute() -> int:
        rotations, last = 0, False
        while not last:
            last = finished.is_set()
            known = engine.keys.steps
            assert set(known) <= set(steps)
            assert set(engine.keys.merge().steps) <= set(steps)
            assert set(engine.keys.to("cpu").steps) <= set(steps)
            assert engine.keys.nbytes > 0
            assert engine.keys.key_id == small.secret_key.key_id
            assert "relinearization" in repr(engine.keys)
            assert "evaluation keys" in repr(engine)
            for step in (steps[rotations % len(steps)], steps[-1]):
                try:
                    rotated = engine.rotate_by_step(x, step)
                except MissingKeyError:
                    assert not last
                    continue
                rotations += 1
                assert torch.equal(rotated.data, expected[step])
        return rotations

    counts = together(lambda index: compute() if index else add(), 8)
    assert all(count > 0 for count in counts[1:])
    assert engine.keys.steps == steps


def test_keys_of_two_secrets_never_end_up_in_one_set(small):
    others = [small.engine.create_secret_key() for _ in range(2)]
    pairs = [small.engine.create_rotation_key(1, secret) for secret in others]
    for _ in range(50):
        keys = EvaluationKeys()

        def work(index: int, keys: EvaluationKeys = keys) -> bool:
            try:
                keys.add(pairs[index % 2])
            except KeyMismatchError:
                return False
            return True

        taken = together(work, 4)
        assert len({key.key_id for key in keys}) == 1
        assert sum(taken) == 2


def test_adding_is_all_or_nothing(small):
    engine = cold_engine(small, EvaluationKeys())
    other = small.engine.create_rotation_key(2, small.engine.create_secret_key())
    with pytest.raises(KeyMismatchError):
        engine.add_keys(small.keys, other)
    assert len(engine.keys) == 0


def test_the_very_first_use_may_come_from_many_threads():
    """Nothing is imported or loaded yet when the threads begin."""
    program = """
        import sys, threading, warnings
        sys.setswitchinterval(1e-5)
        warnings.simplefilter("ignore")
        start, errors = threading.Barrier(16), []
        names = ("Engine", "CkksConfig", "Ciphertext", "EvaluationKeys", "Preset", "SecretKey")

        def use(index):
            try:
                start.wait()
                import fhelium
                getattr(fhelium, names[index % len(names)])
                config = fhelium.CkksConfig.create(
                    depth=1, scale_bits=30, N=64, allow_insecure=True
                )
                engine = fhelium.Engine(config)
                secret_key = engine.create_secret_key()
                x = engine.encrypt_message(0.5, engine.create_public_key(secret_key))
                total = engine.decrypt_message(engine.add(x, x), secret_key, real=True)
                assert abs(float(total[0]) - 1) < 1e-3
            except BaseException as error:
                errors.append(repr(error))

        threads = [threading.Thread(target=use, args=(index,)) for index in range(16)]
        for thread in threads: thread.start()
        for thread in threads: thread.join(60)
        print(sum(thread.is_alive() for thread in threads), errors)
    """
    assert run_python(program) == "0 []"
