"""Every declared operation can be captured: fixed work, no host reads, no tables made late."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fhelium import Engine
from fhelium import compile as fc
from fhelium.runtime import CudaGraphProgram
from fhelium.runtime.trees import map_tensors
from fhelium.values import Ciphertext, Plaintext
from tests.compile.support import TO_CKKS, CompileRing
from tests.faults.calls import engine_calls
from tests.operation_samples import SAMPLES
from tests.runtime.fake_device import HOST_READS

NAMES = [f"{sample.operation.name}-{domain}" for sample in SAMPLES for domain in sample.domains]


@pytest.fixture(scope="module")
def calls(small) -> list[Any]:
    return engine_calls(small)[: len(NAMES)]


class NoHostReads(TorchDispatchMode):
    """Refuse operators that wait for a value, or that bring one from the host."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in HOST_READS, f"{func} reads on the host"
        assert name not in ("_to_copy", "lift_fresh", "scalar_tensor"), f"{func} reads host data"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_no_value_is_read_and_no_table_is_made(small, calls, place):
    call, engine = calls[place], small.engine
    call(engine)
    dispatcher = engine.dispatcher(torch.device("cpu"))
    before = set(dispatcher.resources._tables), set(dispatcher._calls)
    with NoHostReads():
        call(engine)
    assert (set(dispatcher.resources._tables), set(dispatcher._calls)) == before


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_the_state_is_known_without_any_value(small, calls, place):
    call, engine = calls[place], small.engine
    call(engine)  # a table's size may depend on the primes: only the real ones are made
    made = engine.dispatcher(torch.device("cpu")).resources._tables
    tables = {symbol: table.to("meta") for symbol, table in made.items()}
    meta = engine_on(small, torch.device("meta"))
    meta.dispatcher(torch.device("meta")).resources._tables.update(tables)
    found = getattr(meta, call.method)(*map_all(call.arguments, "meta"), **call.options)
    expected = call(engine)
    for one, other in zip(listed(found), listed(expected), strict=True):
        assert one.device.type == "meta"
        assert one.data.shape == other.data.shape
        assert one.state == other.state


def engine_on(ring: Any, device: torch.device) -> Engine:
    """Return an engine whose stored keys are on a device."""
    if device.type == "cpu":
        return ring.engine
    engine = Engine(ring.config)
    engine.add_keys(ring.keys.to(device))
    return engine


def map_all(arguments: tuple[Any, ...], device: str) -> tuple[Any, ...]:
    return map_tensors(arguments, lambda tensor: tensor.to(device))


def listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_a_replay_gives_the_bits_of_a_call(small, calls, device, place):
    call, engine = calls[place], engine_on(small, device)
    arguments = map_all(call.arguments, str(device))

    def function(*values: Any) -> Any:
        return getattr(engine, call.method)(*values, **call.options)

    others = flipped(arguments)
    program = CudaGraphProgram.capture(function, example_inputs=arguments, warmup=1)
    found = program.replay(*others, synchronize=True)
    for one, other in zip(listed(found), listed(function(*others)), strict=True):
        assert torch.equal(one.data, other.data)
        assert one.state == other.state
    program.close()


def flipped(arguments: Any) -> Any:
    """Return other residues in the places of ciphertexts and plaintexts."""
    if isinstance(arguments, list | tuple):
        return type(arguments)(map(flipped, arguments))
    if isinstance(arguments, Ciphertext | Plaintext):
        return map_tensors(arguments, lambda tensor: tensor.flip(-1))
    return arguments


def test_a_linked_program_can_be_captured(fake):
    ring = CompileRing.make(steps=(3,))
    shape = fc.encrypted(polynomial_domain="coefficient")
    captured = ring.capture(lambda x, y: torch.roll(x, 3) * y, x=shape, y=shape)
    executable = ring.link(fc.Pipeline(TO_CKKS).run(captured))
    values = [ring.encrypt(fill) for fill in (0.25, 0.5, -0.75)]
    program = CudaGraphProgram.capture(executable.run, example_inputs=values[:2])
    found = program.replay(*values[1:])
    assert torch.equal(found.data, executable.run(*values[1:]).data)
    before = executable.run(*values[:2])
    with NoHostReads():
        after = executable.run(*values[:2])
    assert torch.equal(before.data, after.data)
    program.close()
