"""Every declared operation can be captured: fixed work, no host reads, no tables made late."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fhelium import Engine
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.runtime import CudaGraphProgram
from fhelium.runtime.trees import map_tensors
from fhelium.values import Ciphertext, Plaintext
from tests.compile.support import TO_CKKS, CompileRing
from tests.faults.calls import engine_calls
from tests.operation_samples import SAMPLES
from tests.runtime.fake_device import HOST_READS

DECLARED = [f"{sample.operation.name}-{domain}" for sample in SAMPLES for domain in sample.domains]
COMPOSED = ["rotate_by_step", "sum_slots", "decode"]
NAMES = [*DECLARED, *COMPOSED]
READ_ON_THE_HOST = {"encode", "prepare_plaintext", "decrypt", "decrypt_message"}


@pytest.fixture(scope="module")
def calls(small) -> list[Any]:
    made = engine_calls(small)
    others = {call.name: call for call in made[len(DECLARED) :]}
    return [*made[: len(DECLARED)], *(others[name] for name in COMPOSED)]


def test_every_other_deterministic_method_is_one_that_reads_on_the_host(small):
    others = engine_calls(small)[len(DECLARED) :]
    left = {call.method for call in others if call.name not in COMPOSED}
    assert left == READ_ON_THE_HOST  # refused by name: test_cuda_graphs


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
        assert getattr(one, "state", None) == getattr(other, "state", None)


def engine_on(ring: Any, device: torch.device) -> Engine:
    """Return an engine whose stored keys are on a device."""
    if device.type == "cpu":
        return ring.engine
    engine = Engine(ring.config)
    engine.add_keys(ring.keys.to(device))
    return engine


def is_static(argument: Any) -> bool:
    return isinstance(argument, int)


def map_all(arguments: tuple[Any, ...], device: str) -> tuple[Any, ...]:
    return tuple(
        argument if is_static(argument) else map_tensors(argument, lambda t: t.to(device))
        for argument in arguments
    )


def listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_a_replay_gives_the_bits_of_a_call(small, calls, device, place):
    call, engine = calls[place], engine_on(small, device)
    arguments = map_all(call.arguments, str(device))
    fixed = [argument for argument in arguments if is_static(argument)]  # they come last
    arguments = arguments[: len(arguments) - len(fixed)]

    def function(*values: Any) -> Any:
        return getattr(engine, call.method)(*values, *fixed, **call.options)

    others = flipped(arguments)
    program = CudaGraphProgram.capture(function, example_inputs=arguments, warmup=1)
    found = program.replay(*others, synchronize=True)
    for one, other in zip(listed(found), listed(function(*others)), strict=True):
        assert torch.equal(one.data, other.data)
        assert getattr(one, "state", None) == getattr(other, "state", None)
    program.close()


def flipped(arguments: Any) -> Any:
    """Return other residues in the places of ciphertexts and plaintexts."""
    if isinstance(arguments, list | tuple):
        return type(arguments)(map(flipped, arguments))
    if isinstance(arguments, Ciphertext | Plaintext):
        return map_tensors(arguments, lambda tensor: tensor.flip(-1))
    return arguments


# ---- compiled callables --------------------------------------------------------------------------


def circuit(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.roll(x, 3) * y


class Linked:
    """A linked executable with its materials on a device."""

    def __init__(self, ring: CompileRing, device: torch.device) -> None:
        shape = fc.encrypted(polynomial_domain="coefficient")
        lowered = fc.Pipeline(TO_CKKS).run(ring.capture(circuit, x=shape, y=shape))
        assert ring.bind(lowered) == ()
        self.tables = lowered.material_bindings
        self.tables.update({symbol: table.to(device) for symbol, table in self.tables.items()})
        self.call = OperationBackend().link(lowered).run


class Prepared:
    """A compiled function, prepared for its inputs; on meta with tables that the CPU made."""

    def __init__(self, ring: CompileRing, device: torch.device) -> None:
        resources = ring.resources
        if device.type == "meta":
            Prepared(ring, torch.device("cpu")).call(*ring_values(ring)[:2])
            made = {symbol: table.to(device) for symbol, table in resources._tables.items()}
            resources = CkksDeviceResources(config=ring.config, device=device)
            resources._tables.update(made)
        self.tables = resources._tables
        self.call = fc.compile(circuit, config=ring.config, keys=[ring.keys.to(device)])
        self.call._resources[(ring.config.context_id, device)] = resources
        self.call.prepare(*2 * [fc.encrypted(depth=0, polynomial_domain="coefficient")])


def ring_values(ring: CompileRing) -> list[Ciphertext]:
    return [ring.encrypt(fill) for fill in (0.25, 0.5, -0.75)]


@pytest.fixture(scope="module")
def ring() -> CompileRing:
    return CompileRing.make(steps=(3,))


compiled = pytest.mark.parametrize("kind", [Linked, Prepared])


@compiled
def test_a_compiled_callable_reads_no_value_and_makes_no_table(ring, kind):
    made, values = kind(ring, torch.device("cpu")), ring_values(ring)
    before = made.call(*values[:2])
    tables = set(made.tables)
    with NoHostReads():
        after = made.call(*values[:2])
        made.call(*values[1:])
    assert torch.equal(before.data, after.data)
    assert set(made.tables) == tables


@compiled
def test_a_compiled_callable_knows_its_state_without_any_value(ring, kind):
    values = ring_values(ring)[:2]
    found = kind(ring, torch.device("meta")).call(*map_all(tuple(values), "meta"))
    expected = kind(ring, torch.device("cpu")).call(*values)
    assert found.device.type == "meta"
    assert found.data.shape == expected.data.shape
    assert found.state == expected.state


@compiled
def test_a_compiled_callable_can_be_captured(ring, kind, device):
    made, values = kind(ring, device), map_all(tuple(ring_values(ring)), str(device))
    program = CudaGraphProgram.capture(made.call, example_inputs=values[:2])
    found = program.replay(*values[1:], synchronize=True)
    assert torch.equal(found.data, made.call(*values[1:]).data)
    program.close()
