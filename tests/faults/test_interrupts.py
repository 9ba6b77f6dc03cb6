"""What is cut off leaves its operands as they were, and the next operation works."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch

from fhelium import Engine
from fhelium.backend.rns import NativeRnsLinearImplementation
from fhelium.errors import StateError
from tests.programs import HEARS_CTRL_C, run_python

RING = """
    import hashlib, random, resource, signal, time, warnings
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)  # threads that cannot start end the process, and that is torch's say
    from fhelium import CkksConfig, DecryptPolicy, Engine
    from fhelium.errors import StateError
    from tests.conftest import Ring
    from tests.faults.calls import copied, engine_calls, parts, same

    def make_ring(N):
        config = CkksConfig.create(depth=3, scale_bits=30, N=N, allow_insecure=True)
        engine = Engine(config)
        secret_key = engine.create_secret_key()
        keys = engine.create_evaluation_keys(secret_key, steps=(1, 3, -1, -2), conjugation=True)
        engine.add_keys(keys)
        return Ring(engine, secret_key, engine.create_public_key(secret_key), keys)
"""


def test_an_allocation_that_fails_at_any_point_changes_nothing():
    """The address space grows step by step until the operation fits: each failure is elsewhere."""
    program = """
    ring = make_ring(1024)
    # 8 ciphertexts are 512 KiB: malloc maps and unmaps each such tensor by itself.
    calls = engine_calls(ring, 8)
    calls.append(calls[0].__class__("key", "create_relinearization_key", (ring.secret_key,)))
    calls.append(calls[0].__class__("encrypt", "encrypt_message", (
        torch.zeros(8, 512), ring.public_key)))
    random_results = {"key", "encrypt"}
    step, failures, named = 1 << 17, 0, 0
    for call in calls:
        expected = copied(parts(call(ring.engine)))
        before = copied(parts(call.arguments))
        for room in range(0, 200):
            used = int(open("/proc/self/statm").read().split()[0]) * 4096
            resource.setrlimit(resource.RLIMIT_AS, (used + room * step, -1))
            try:
                result = call(ring.engine)
                failed = False
            except (MemoryError, RuntimeError) as error:
                failed, text = True, str(error)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            assert same(parts(call.arguments), before), call.name
            if not failed:
                break
            result = None
            # An operator's own text, torch's for its own operations, Python's or C++'s.
            native = text.startswith("native operator: there is no memory for ")
            assert native or "allocate memory" in text or text in ("", "std::bad_alloc"), text
            failures, named = failures + 1, named + native
        assert not failed, call.name
        if call.name not in random_results:
            assert same(parts(result), expected), call.name
            assert same(parts(call(ring.engine)), expected), call.name
    print(len(calls), failures, named, len(ring.engine.keys))
    """
    environment = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TOP_PAD_": "0"}
    calls, failures, named, keys = map(int, run_python(RING + program, environment).split())
    assert calls > 50
    assert failures > 2 * calls
    assert named > calls
    assert keys == 6


def test_ctrl_c_while_keys_are_made():
    """A real SIGINT from another process, twice, at whatever place it hits."""
    program = """
    ring = make_ring(8192)
    secret_key, public_key = ring.secret_key, ring.public_key
    x = ring.engine.encrypt_message(0.5, public_key)
    def digest():
        data = [secret_key.data, public_key.data, x.data, *(key.data for key in ring.keys)]
        return [hashlib.blake2b(each.contiguous().numpy().data).digest() for each in data]
    before, made = digest(), []
    for attempt in range(2):
        try:
            print("ready", flush=True)
            ring.engine.create_evaluation_keys(
                secret_key, steps=range(1, 4000), progress=lambda *done: made.append(done)
            )
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", len(made) < 4000, digest() == before, len(ring.engine.keys))
    key = ring.engine.create_rotation_key(7, secret_key)
    rotated = ring.engine.rotate_with_key(x, key)
    found = ring.engine.decrypt_message(rotated, secret_key, real=True)
    print("works", bool((found - 0.5).abs().max() < 1e-3))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", HEARS_CTRL_C + textwrap.dedent(RING) + textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        for pause in (0.05, 0.11):
            assert child.stdout.readline() == "ready\n"
            time.sleep(pause)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted True True 6\n"
        # Not communicate: it would miss what came together with the last line that was read.
        output, errors, code = child.stdout.read(), child.stderr.read(), child.wait(timeout=60)
    finally:
        child.kill()
    assert (output, code) == ("works True\n", 0), errors


class CancelledError(Exception):
    """What a caller's own cancellation raises."""


@pytest.mark.parametrize("error", [CancelledError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_progress_may_cancel(small, error, after):
    engine = Engine(small.config)
    seen: list[tuple[int, int]] = []

    def progress(made: int, total: int) -> None:
        seen.append((made, total))
        if made == after:
            raise error

    arguments = {"steps": (1, 2, 3, 513), "conjugation": True}
    before = small.secret_key.data.clone()
    with pytest.raises(error):
        engine.create_evaluation_keys(small.secret_key, progress=progress, **arguments)
    assert seen == [(made, 5) for made in range(1, after + 1)]
    assert len(engine.keys) == 0
    assert torch.equal(small.secret_key.data, before)
    keys = engine.create_evaluation_keys(small.secret_key, progress=lambda *_: None, **arguments)
    engine.add_keys(keys)
    assert keys.steps == (1, 2, 3)
    x = engine.encrypt_message(0.5, small.public_key)
    found = engine.decrypt_message(engine.rotate_by_step(x, 3), small.secret_key, real=True)
    assert float((found - 0.5).abs().max()) < 2.0**-14


def test_interrupts_at_random_points_change_nothing():
    """Signals strike while tables are made and while operations run; then all is done again."""
    program = """
    ring = make_ring(1024)
    calls = [call for call in engine_calls(ring) if call.name != "decode"]
    expected = [copied(parts(call(ring.engine))) for call in calls]
    arguments = [copied(parts(call.arguments)) for call in calls]

    class Struck(BaseException):
        pass

    def strike(number, frame):
        raise Struck

    signal.signal(signal.SIGALRM, strike)
    generator = random.Random(5)
    struck, longest = 0, None
    for round in range(20):
        engine = Engine(ring.config)  # tables and calls are made anew
        engine.add_keys(ring.keys)
        order = generator.sample(range(len(calls)), 12)
        start = time.perf_counter()
        try:
            if longest is not None:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(0.01, 0.9) * longest)
            try:
                for place in order:
                    calls[place](engine)
                engine.add_keys(*ring.keys)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Struck:
            struck += 1
        longest = longest or time.perf_counter() - start
        for place in order:
            assert same(parts(calls[place](engine)), expected[place]), calls[place].name
            assert same(parts(calls[place].arguments), arguments[place]), calls[place].name
        assert len(engine.keys) == len(ring.keys)
    print(struck > 3)
    """
    assert run_python(RING + program) == "True"


def test_an_in_place_form_that_is_cut_off_spoils_its_target_and_says_so(small, monkeypatch):
    """Residues may be written and the state may not: the value must not be used any more."""
    engine = small.engine
    x, y = (engine.encrypt_message(0.5, small.public_key) for _ in range(2))
    expected = engine.add(x, y)
    execute = NativeRnsLinearImplementation.execute

    def cut_off(self, *arguments, in_place):
        execute(self, *arguments, in_place=in_place)
        raise KeyboardInterrupt

    monkeypatch.setattr(NativeRnsLinearImplementation, "execute", cut_off)
    with pytest.raises(KeyboardInterrupt):
        engine.add_(x, y)
    monkeypatch.undo()
    for use in (
        lambda: engine.add(x, y),
        lambda: engine.negate_(x),
        lambda: engine.decrypt_message(x, small.secret_key),
        lambda: x.depth,
        lambda: repr(x),
        lambda: pickle.dumps(x),
        lambda: x.state.scale,
    ):
        with pytest.raises(StateError, match="add_: it was cut off while it wrote over this value"):
            use()
    for copy in (x.clone, lambda: x.to("meta"), lambda: x.reshape_batch(1)):
        with pytest.raises((StateError, TypeError)):
            copy()
    fresh = engine.encrypt_message(0.5, small.public_key)
    assert engine.add_(fresh, y) is fresh
    assert expected.state == fresh.state


def test_an_in_place_form_that_is_refused_leaves_its_target_as_it_was(small, monkeypatch):
    engine = small.engine
    x, y = (engine.encrypt_message(0.5, small.public_key) for _ in range(2))
    before, state = x.data.clone(), x.state

    def refuse(self, *arguments, in_place):
        raise MemoryError

    monkeypatch.setattr(NativeRnsLinearImplementation, "execute", refuse)
    with pytest.raises(MemoryError):
        engine.add_(x, y)
    monkeypatch.undo()
    with pytest.raises(StateError):
        engine.add_(x, engine.align_to_depth(y, 1))
    assert torch.equal(x.data, before)
    assert x.state == state
    assert engine.negate_(x) is x


def test_in_place_forms_keep_out_of_memory_that_processes_share(small):
    x = small.engine.encrypt_message(0.5, small.public_key)
    x.data.share_memory_()
    with pytest.raises(StateError, match="another process may share"):
        small.engine.negate_(x)
    mine = x.clone()
    assert small.engine.negate_(mine) is mine
