"""Worker processes compute on what was pickled for them and send back what they made."""

from __future__ import annotations

import multiprocessing
import os

import pytest
import torch
from torch.utils.data import DataLoader

from fhelium.errors import MessageValueError, MissingKeyError, SecretExposureError
from tests.faults import workers
from tests.faults.calls import engine_calls, message, parts, same
from tests.programs import run_python

pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


@pytest.fixture(scope="module")
def arguments(small):
    engine = small.engine
    x, y = (
        engine.encrypt_message(message(small, seed), small.public_key, output_domain="ntt")
        for seed in (1, 2)
    )
    return x, y, engine.prepare_plaintext(message(small, 3), like=y), small.public_key


@pytest.mark.parametrize("pool", ["spawned", "forkserved"])
def test_workers_compute_what_this_process_does(small, arguments, pool, request):
    before = [workers.digest(value) for value in arguments]
    future = request.getfixturevalue(pool).submit(workers.compute, small.engine, *arguments)
    process, found = future.result(120)
    assert process != os.getpid()
    _, expected = workers.compute(small.engine, *arguments)
    assert same(parts(found[:-1]), parts(expected[:-1]))
    fresh = small.engine.decrypt_message(found[-1], small.secret_key, real=True)
    assert float((fresh - 0.25).abs().max()) < 2.0**-14
    assert not torch.equal(found[-1].data, expected[-1].data)
    assert [workers.digest(value) for value in arguments] == before
    # What came back is of this context still: it adds to what was made here.
    total = small.engine.add(found[0], expected[0])
    assert torch.equal(total.data, small.engine.add(expected[0], expected[0]).data)


def test_every_operation_runs_in_a_worker(small, spawned):
    calls = [call for call in engine_calls(small) if not call.name.startswith("decrypt")]
    found = spawned.submit(workers.run, calls, small.engine).result(120)
    for call, result in zip(calls, found, strict=True):
        assert same(parts(result), parts(call(small.engine))), call.name


def test_values_keys_and_engines_arrive_as_they_are(small, arguments, spawned):
    for value in (*arguments, *small.keys):
        assert spawned.submit(workers.digest, value).result(120) == workers.digest(value)
    described = spawned.submit(workers.describe_engine, small.engine).result(120)
    assert described == workers.describe_engine(small.engine)


def test_a_secret_key_does_not_reach_a_worker(small, spawned):
    with pytest.raises(SecretExposureError):
        spawned.submit(workers.identity, small.secret_key).result(120)
    assert spawned.submit(workers.identity, 1).result(120) == 1  # the pool works on


def test_an_error_of_a_worker_is_the_same_error_here(small, arguments, spawned):
    x = arguments[0]
    calls = [engine_calls(small)[0].__class__("missing", "rotate_by_step", (x, 7))]
    with pytest.raises(MissingKeyError) as caught:
        spawned.submit(workers.run, calls, small.engine).result(120)
    assert caught.value.canonical_step == 7


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_data_loader_encrypts_in_its_worker(small, method):
    messages = torch.stack([message(small, seed) for seed in range(6)])
    loader = DataLoader(
        workers.Encrypted(small.engine, small.public_key, messages),
        batch_size=3,
        num_workers=1,
        multiprocessing_context=method,
        collate_fn=workers.collate,
    )
    batches = list(loader)
    assert [batch.batch_shape for _, batch in batches] == [(3,), (3,)]
    assert os.getpid() not in set().union(*(processes for processes, _ in batches))
    for (_, batch), wanted in zip(batches, messages.split(3), strict=True):
        found = small.engine.decrypt_message(batch, small.secret_key, real=True)
        assert float((found - wanted - 0.5).abs().max()) < 2.0**-13


def test_a_loader_keeps_the_class_of_a_workers_error(small):
    """torch makes it anew of its class and one text."""
    tall = torch.full((1, small.config.num_slots), 2.0)
    dataset = workers.Encrypted(small.engine, small.public_key, tall)
    loader = DataLoader(dataset, num_workers=1, multiprocessing_context="spawn")
    with pytest.raises(MessageValueError) as caught:
        next(iter(loader))
    assert str(caught.value).startswith("Caught MessageValueError in DataLoader worker process 0")
    assert "above message_bound, which is 1.0. No value exceeds" in str(caught.value)


FORKED = """
    import os, signal, sys, time, warnings
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(4)
    from fhelium import CkksConfig, Engine
    from fhelium.errors import FHEliumError
    config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
    engine = Engine(config)
    batch = 0.5 * torch.ones(200, 512)

    def in_child(*works):
        # One child for each: the first that waits for a missing thread must not hide the others.
        for work in works:
            child = os.fork()
            if not child:
                try:
                    work()
                    print("worked", end=" ")
                except FHEliumError as error:
                    print(type(error).__name__, end=" ")
                    assert "spawn" in error.remedy and "forkserver" in error.remedy
                except BaseException as error:
                    print(repr(error), end=" ")
                sys.stdout.flush()
                os._exit(0)
            end = time.monotonic() + 20
            while os.waitpid(child, os.WNOHANG)[0] == 0:
                if time.monotonic() > end:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    print("hangs", end=" ", flush=True)
                    break
                time.sleep(0.01)
"""


def test_a_forked_child_of_a_torch_process_computes_on_one_thread():
    """torch's threads stay in the parent, so a loop that waits for them would wait forever."""
    program = """
    def use():
        secret_key = engine.create_secret_key()
        x = engine.encrypt_message(batch, engine.create_public_key(secret_key))
        total = engine.decrypt_message(engine.add(x, x), secret_key, real=True)
        assert abs(float(total[0, 0]) - 1) < 1e-3
        print(torch.get_num_threads(), end=" ")

    def choose():
        torch.set_num_threads(2)
        Engine(config).create_secret_key()
        print(torch.get_num_threads(), end=" ")

    in_child(choose)  # before torch has any thread, two are as good as one
    float(torch.rand(2000, 2000).sum())
    in_child(use)
    print(torch.get_num_threads())
    """
    assert run_python(FORKED + program) == "2 worked 1 worked 4"


def test_a_forked_child_of_a_process_that_computed_is_refused_and_does_not_hang():
    program = """
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    x = engine.encrypt_message(batch, public_key)
    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=[1]))
    in_child(
        lambda: engine.encrypt_message(batch, public_key),
        lambda: engine.encode(batch),
        lambda: engine.add(x, x),
        lambda: engine.add_scalar(x, 0.5),
        lambda: engine.mod_switch_to_depth(x, 1),
        lambda: engine.align_to_depth(x, 1),
        lambda: engine.rotate_by_step(x, 1),
        lambda: engine.decrypt_message(x, secret_key),
        lambda: engine.create_secret_key(),
        lambda: engine.create_evaluation_keys(secret_key),
        lambda: Engine(config).encrypt_message(batch, public_key),
    )
    """
    assert run_python(FORKED + program).split() == ["RandomnessError"] * 11


def test_pools_are_of_the_methods_they_are_named_after(spawned, forkserved):
    assert spawned._mp_context.get_start_method() == "spawn"
    assert forkserved._mp_context.get_start_method() == "forkserver"
    assert multiprocessing.get_start_method(allow_none=True) in (None, "fork", "forkserver")
