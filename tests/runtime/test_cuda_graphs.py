"""Captured programs: capture's stages, borrowed and owned outputs, what inputs may be."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from fhelium import DecryptPolicy, Engine
from fhelium.errors import (
    CudaGraphCaptureError,
    CudaGraphInputError,
    ExecutionError,
    RandomnessError,
    RecordingError,
    StateError,
)
from fhelium.runtime import CudaGraphProgram


@pytest.fixture
def prototype(device, encrypted):
    return encrypted(0.5).to(device)


@pytest.fixture
def program(small, prototype):
    made = CudaGraphProgram.capture(small.engine.negate, example_inputs=(prototype,))
    yield made
    made.close()


def opened(small, value):
    return small.engine.decrypt_message(value.cpu(), small.secret_key).real.mean().item()


def test_replays_follow_their_inputs(small, program, encrypted, device):
    for fill in (0.25, -0.75):
        found = program.replay(encrypted(fill), synchronize=True)
        assert found.device == device
        assert opened(small, found) == pytest.approx(-fill, abs=1e-4)
    assert program.device == device
    assert "negate" in repr(program)
    assert program.input_signature.kind == "tuple"
    assert program.input_nbytes == found.nbytes
    stats = program.stats
    assert stats.warmup_iterations == 3
    assert stats.memory_reserved_bytes >= stats.memory_allocated_bytes > 0
    assert min(stats.warmup_seconds, stats.capture_seconds, stats.first_replay_seconds) > 0


def test_outputs_are_borrowed_or_owned(small, program, encrypted):
    borrowed = program.replay(encrypted(0.25))
    owned = program.replay(encrypted(0.25), copy_output=True)
    program.replay(encrypted(0.75), synchronize=True)
    assert opened(small, borrowed) == pytest.approx(-0.75, abs=1e-4)
    assert opened(small, program.output) == pytest.approx(-0.75, abs=1e-4)
    assert opened(small, owned) == pytest.approx(-0.25, abs=1e-4)
    with pytest.raises(ValueError, match="storage"):
        small.engine.negate_(borrowed)
    small.engine.negate_(owned)


def test_a_whole_circuit_with_fixed_keys(small, encrypted, device):
    engine, x = small.engine, encrypted(0.5).to(device)
    keys = [small.keys.rotation(1).to(device), small.keys.relinearization().to(device)]

    def circuit(value, *, rotation, relinearization):
        product = engine.relinearize(engine.square(value), relinearization)
        return {"out": [engine.rotate_with_key(engine.rescale_to_next_depth(product), rotation)]}

    schedule = partial(circuit, rotation=keys[0], relinearization=keys[1])
    program = CudaGraphProgram.capture(schedule, example_inputs=(x,), warmup=1)
    other = encrypted(0.7)
    found = program.replay(other, synchronize=True)["out"][0]
    assert torch.equal(found.data, schedule(other.to(device))["out"][0].data)
    program.close()


def test_an_input_that_is_returned_is_copied(encrypted, device):
    program = CudaGraphProgram.capture(
        lambda x: (x, x[0]), example_inputs=(torch.ones(2, 3, device=device),)
    )
    first = program.replay(torch.full((2, 3), 2.0))
    program.copy_inputs_from(torch.zeros(2, 3))
    assert first[0].tolist() == [[2.0] * 3] * 2
    assert first[1].tolist() == [2.0] * 3
    program.close()


def test_the_decorator(device):
    @CudaGraphProgram.capture(example_inputs=(torch.ones(3, device=device),), warmup=0)
    def doubled(x):
        return x * 2

    assert isinstance(doubled, CudaGraphProgram)
    assert doubled.replay(torch.full((3,), 4.0)).tolist() == [8.0] * 3
    assert (
        CudaGraphProgram.capture(
            lambda x: None, example_inputs=(torch.ones(3, device=device),)
        ).replay(torch.ones(3))
        is None
    )


def test_what_cannot_be_captured_is_refused(device):
    x = torch.ones(3, device=device)
    capture = CudaGraphProgram.capture
    for function, options in ((3, {}), (torch.neg, {"warmup": 1.5})):
        with pytest.raises(TypeError):
            capture(function, example_inputs=(x,), **options)
    with pytest.raises(TypeError, match="int"):
        capture(torch.neg, example_inputs=(3,))
    with pytest.raises(TypeError, match=r"^capture: example_inputs is a int"):
        capture(torch.neg, example_inputs=3)
    with pytest.raises(TypeError, match="int"):
        capture(lambda x: 3, example_inputs=(x,))
    for examples in ((), (torch.ones(3, device="meta"),), (x, x)):
        with pytest.raises(ValueError, match="example"):
            capture(torch.neg, example_inputs=examples)
    with pytest.raises(ValueError, match="warmup is -1"):
        capture(torch.neg, example_inputs=(x,), warmup=-1)


def fails_at_call(number):
    calls = []

    def function(x):
        calls.append(x)
        if len(calls) == number:
            raise KeyError("lost")
        return x + 1

    return function


# What fails, with three calls of warm-up before the capture, and the stage that is told.
STAGES = {
    "first call": ("warmup", lambda device: fails_at_call(1)),
    "third call": ("warmup", lambda device: fails_at_call(3)),
    "captured call": ("capture", lambda device: fails_at_call(4)),
    "result elsewhere": ("output", lambda device: lambda x: torch.ones(3, device="meta")),
}


@pytest.mark.parametrize("case", STAGES)
def test_a_failure_names_its_stage_and_leaves_nothing_behind(device, case):
    stage, make = STAGES[case]
    function, example = make(device), torch.ones(3, device=device)
    with pytest.raises(CudaGraphCaptureError, match=f"stage {stage} of ") as caught:
        CudaGraphProgram.capture(function, example_inputs=(example,))
    error = caught.value
    assert error.stage == stage
    assert error.function_name == function.__qualname__
    assert error.detail in str(error)
    assert isinstance(error.__cause__, StateError if stage == "output" else KeyError)
    assert example.tolist() == [1.0] * 3
    program = CudaGraphProgram.capture(torch.neg, example_inputs=(example,))
    assert program.replay(example, synchronize=True).tolist() == [-1.0] * 3
    program.close()


def test_a_first_replay_that_fails_is_told(fake):
    fake.replay_fails = True
    with pytest.raises(CudaGraphCaptureError, match="the fake device failed") as caught:
        CudaGraphProgram.capture(torch.neg, example_inputs=(torch.ones(3),))
    assert caught.value.stage == "first_replay"
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("case", ["captured call", "result elsewhere", "first replay"])
def test_a_failed_capture_lets_go_of_its_graph(fake, monkeypatch, case):
    graphs, make = [], fake.graph
    monkeypatch.setattr(fake, "graph", lambda: graphs.append(make()) or graphs[-1])
    fake.replay_fails = case == "first replay"
    function = torch.neg if fake.replay_fails else STAGES[case][1](torch.device("cpu"))
    with pytest.raises(CudaGraphCaptureError):
        CudaGraphProgram.capture(function, example_inputs=(torch.ones(3),))
    assert [graph.was_reset for graph in graphs] == [True]


def test_host_reads_fail_the_capture(device):
    with pytest.raises(CudaGraphCaptureError) as caught:
        CudaGraphProgram.capture(
            lambda x: x * x.sum().item(), example_inputs=(torch.ones(3, device=device),)
        )
    assert caught.value.stage == "capture"


def random_calls(small, engine):
    """Return a call of every method that draws, by name."""
    secret_key, public_key = small.secret_key, small.public_key
    message = torch.zeros(512, dtype=torch.float64)
    plaintext = engine.encode(message)
    return {
        "create_secret_key": lambda: engine.create_secret_key(),
        "create_public_key": lambda: engine.create_public_key(secret_key),
        "create_relinearization_key": lambda: engine.create_relinearization_key(secret_key),
        "create_rotation_key": lambda: engine.create_rotation_key(1, secret_key),
        "create_conjugation_key": lambda: engine.create_conjugation_key(secret_key),
        "create_switching_key": lambda: engine.create_switching_key(secret_key, secret_key),
        "create_evaluation_keys": lambda: engine.create_evaluation_keys(secret_key, steps=[1]),
        "encrypt": lambda: engine.encrypt(plaintext, public_key),
        "encrypt_message": lambda: engine.encrypt_message(message, public_key),
        "encrypt_with_secret_key": lambda: engine.encrypt_with_secret_key(message, secret_key),
    }


def test_every_method_that_draws_is_among_these(small):
    drawing = {n for n in dir(small.engine) if n.startswith(("create_", "encrypt"))}
    assert random_calls(small, small.engine).keys() == drawing


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("warmup", [0, 1])
def test_randomness_is_refused(small, device, warmup, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a seeded engine is for tests
        engine = Engine(small.config, rng_seed=seed)
    for name, call in random_calls(small, engine).items():

        def function(x, call=call):
            call()
            return x + 1

        with pytest.raises(CudaGraphCaptureError) as caught:
            CudaGraphProgram.capture(
                function, example_inputs=(torch.ones(3, device=device),), warmup=warmup
            )
        assert isinstance(caught.value.__cause__, RandomnessError), name
        call()  # and works again


@pytest.mark.parametrize(
    "call",
    [
        "decrypt",
        "decrypt_message",
        "private",
        "release",
        "precision",
        "encode",
        "prepare_plaintext",
    ],
)
@pytest.mark.parametrize("warmup", [0, 1])
def test_host_reads_of_the_engine_are_refused_by_name(small, encrypted, device, call, warmup):
    engine, key, message = small.engine, small.secret_key, torch.zeros(512, dtype=torch.float64)
    x = encrypted(0.5, scale=2.0**60)
    private = DecryptPolicy.private()
    calls = {
        "decrypt": lambda: engine.decrypt(x, key),
        "decrypt_message": lambda: engine.decrypt_message(x, key),
        "private": lambda: engine.decrypt_message(x, key, policy=private),
        "release": lambda: engine.decrypt_for_release(
            x, key, circuit=f"recorded {warmup}", queries=1
        ),
        "precision": lambda: engine.precision(message, x, key),
        "encode": lambda: engine.encode(message),
        "prepare_plaintext": lambda: engine.prepare_plaintext(message, like=x),
    }

    def function(source):
        calls[call]()
        return source + 1

    with pytest.raises(
        CudaGraphCaptureError, match="on the host, while work is recorded"
    ) as caught:
        CudaGraphProgram.capture(
            function, example_inputs=(torch.ones(3, device=device),), warmup=warmup
        )
    assert isinstance(caught.value.__cause__, RecordingError)
    calls[call]()  # and works outside


def test_inputs_that_differ_are_refused(small, program, encrypted):
    for inputs in ((), (torch.zeros(3),), (small.engine.mod_switch_to_depth(encrypted(0.5), 1),)):
        with pytest.raises(CudaGraphInputError):
            program.replay(*inputs)
        with pytest.raises(CudaGraphInputError):
            program.copy_inputs_from(*inputs)


def test_bounds_are_those_of_the_prototype_at_most(small, prototype, encrypted):
    tight = small.engine.assume_message_bound(prototype, 0.5)
    program = CudaGraphProgram.capture(small.engine.negate, example_inputs=(tight,))
    with pytest.raises(CudaGraphInputError, match="message_bound of leaf 0 is"):
        program.replay(encrypted(0.25))
    program.replay(small.engine.assume_message_bound(encrypted(0.25), 0.25))
    program.close()


def test_a_closed_program_refuses_use(small, prototype, encrypted):
    program = CudaGraphProgram.capture(small.engine.negate, example_inputs=(prototype,))
    program.close()
    program.close()
    for use in (
        lambda: program.output,
        lambda: program.cuda_graph,
        lambda: program.replay(encrypted(0.5)),
        lambda: program.replay_prepared(),
        lambda: program.copy_inputs_from(encrypted(0.5)),
    ):
        with pytest.raises(ExecutionError, match="closed"):
            use()


def test_the_graph_replays_what_the_inputs_hold(program, encrypted):
    before = program.replay(encrypted(0.25), copy_output=True)
    program.cuda_graph.replay()
    assert torch.equal(program.output.data, before.data)


def test_threads_get_their_own_answers(device):
    program = CudaGraphProgram.capture(
        lambda x: x * 2, example_inputs=(torch.ones(100, device=device),)
    )

    def work(n):
        found = program.replay(torch.full((100,), float(n)), copy_output=True, synchronize=True)
        return (found == 2 * n).all().item()

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(100)))
    program.close()
