"""Nothing stays behind: 500 rounds of each operation, of each key and of each error."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fhelium.errors import FHEliumError
from fhelium.native.wrapper import ckks_ops, ntt_ops, random_ops, rns_ops
from fhelium.values import TensorResident
from tests.faults.calls import Call, engine_calls, message, parts
from tests.operation_samples import SAMPLES

ROUNDS = 500
NAMES = [f"{s.operation.name}-{domain}-{i}" for i, s in enumerate(SAMPLES) for domain in s.domains]


@pytest.fixture(autouse=True)
def one_thread():
    """Threads keep memory of their own, which comes and goes by chance."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def calls(small) -> list[Call]:
    return engine_calls(small)


@pytest.fixture(scope="module", autouse=True)
def quick_collection(calls):
    """Keep the garbage collector from looking at all that torch made when it was loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class _MallocInfo(ctypes.Structure):
    _fields_ = [
        *((f"unread_{place}", ctypes.c_size_t) for place in range(4)),
        ("mapped", ctypes.c_size_t),
        *((f"unread_{place}", ctypes.c_size_t) for place in range(5, 7)),
        ("in_use", ctypes.c_size_t),
        *((f"unread_{place}", ctypes.c_size_t) for place in range(8, 10)),
    ]


def malloc_bytes() -> int:
    """Return what malloc has given out and not got back, exactly; 0 where glibc cannot say."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        return 0
    mallinfo.restype = _MallocInfo
    info = mallinfo()
    return info.in_use + info.mapped


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def growth(work: Callable[[], object], rounds: int = ROUNDS) -> dict[str, int]:
    """Return by how much memory grows in some rounds, after a warm-up."""

    def sizes() -> tuple[int, int, int]:
        gc.collect()
        return sys.getallocatedblocks(), malloc_bytes(), resident_bytes()

    for _ in range(rounds // 10):
        work()
    sizes()
    before = sizes()
    for _ in range(rounds):
        work()
    names = ("Python objects", "bytes of malloc", "resident bytes")
    return {name: new - old for name, old, new in zip(names, before, sizes(), strict=True)}


def is_flat(found: dict[str, int]) -> bool:
    """Tell whether growth is less than one object, 16 bytes or a limb of residues in a round."""
    return (
        found["Python objects"] < ROUNDS // 2
        and found["bytes of malloc"] < 8 * ROUNDS
        and found["resident bytes"] < 4 << 20
    )


def assert_flat(work: Callable[[], object], name: str = "") -> None:
    # A leak is there each time. What some later call caches once, and pages that malloc keeps, are
    # not.
    found = [growth(work)]
    while not is_flat(found[-1]) and len(found) < 3:
        found.append(growth(work))
    assert is_flat(found[-1]), (name, found)


def test_the_measure_sees_a_leak(small):
    kept: list[object] = []
    assert growth(lambda: kept.append(object()))["Python objects"] >= ROUNDS
    library = ctypes.CDLL(None)
    assert growth(lambda: library.malloc(24))["bytes of malloc"] >= 24 * ROUNDS
    tensors: list[torch.Tensor] = []
    with pytest.raises(AssertionError, match="resident bytes"):
        assert_flat(lambda: tensors.append(torch.ones(4, 1024, dtype=torch.int64)))
    assert len(tensors) > 3 * ROUNDS


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_declared_operations_leave_memory_flat(small, calls, place):
    assert_flat(lambda: calls[place](small.engine))


def test_other_methods_leave_memory_flat(small, calls):
    for call in calls[len(NAMES) :]:
        assert_flat(lambda call=call: call(small.engine), call.name)


def test_encryption_and_keys_leave_memory_flat(small):
    engine, secret_key = small.engine, small.secret_key
    clear = message(small, 1)
    for work in (
        lambda: engine.encrypt_message(clear, small.public_key),
        lambda: engine.encrypt_with_secret_key(clear, secret_key),
        engine.create_secret_key,
        lambda: engine.create_public_key(secret_key),
        lambda: engine.create_relinearization_key(secret_key),
        lambda: engine.create_rotation_key(5, secret_key),
        lambda: engine.create_conjugation_key(secret_key),
        lambda: engine.create_switching_key(secret_key, secret_key),
        lambda: engine.add_keys(small.keys),
    ):
        assert_flat(work)


def test_in_place_forms_leave_memory_flat(small):
    engine = small.engine
    x = engine.encrypt_message(0.25, small.public_key, output_domain="ntt")
    ones = engine.prepare_plaintext(1.0, like=x, for_="add")
    target = x.clone()

    def every_form() -> None:
        target._restate(x.state)  # or the bounds would grow with each round
        engine.add_(target, x)
        engine.subtract_(target, x)
        engine.negate_(target)
        engine.add_plaintext_(target, ones)
        engine.ntt_domain_to_coefficient_domain_(target)
        engine.coefficient_domain_to_ntt_domain_(target)

    assert_flat(every_form)


def test_scalars_that_never_repeat_are_not_kept_for_ever(small):
    x = small.engine.encrypt_message(0.25, small.public_key, output_domain="ntt")
    values = iter(range(1, 1 << 30))

    def add_another() -> object:
        return small.engine.add_scalar(x, next(values) * 2.0**-20)

    # The calls that are kept grow to their limit once, some megabytes.
    assert any(growth(add_another, 10_000)["resident bytes"] < 4 << 20 for _ in range(3))
    cached = small.engine.dispatcher(torch.device("cpu"))._calls
    assert len(cached) <= 4096


def failures(small) -> dict[str, Callable[[], object]]:
    """Refusals of every layer: states, keys, messages, native checks."""
    engine = small.engine
    x = engine.encrypt_message(0.25, small.public_key)
    deep = engine.align_to_depth(x, 3)
    params = engine.dispatcher(x.device).resources.material("rns_parameters/Q/0")
    rows = torch.zeros(3, 1024, dtype=torch.int64)
    key = torch.zeros(32, dtype=torch.uint8)
    tables = engine.dispatcher(x.device).resources.material("ntt_tables/packed/Q/0")
    return {
        "state": lambda: engine.add(x, deep),
        "type": lambda: engine.add(x, 1.0),
        "depth": lambda: engine.rescale_to_next_depth(deep),
        "key": lambda: engine.rotate_by_step(x, 77),
        "message": lambda: engine.encrypt_message(torch.full((512,), 2.0), small.public_key),
        "shape": lambda: engine.encode(torch.zeros(500)),
        "secret": lambda: engine.add_keys(small.secret_key),
        "memory": lambda: engine.create_evaluation_keys(small.secret_key, steps=[0.5]),
        "rns": lambda: rns_ops.add_standard(rows, rows, params),
        "rns in place": lambda: rns_ops.negate_standard_(rows, params),
        "ntt": lambda: ntt_ops.ntt_packed(rows, tables, params),
        "ckks": lambda: ckks_ops.ciphertext_square(rows, params),
        "random": lambda: random_ops.sample_ternary(key[:5], 0, 1, 1024),
        "dtype": lambda: rns_ops.add_standard(rows.double(), rows, params),
    }


def test_errors_leave_memory_flat(small):
    for name, work in failures(small).items():

        def refused(name: str = name, work: Callable[[], object] = work) -> None:
            try:
                work()
            except (FHEliumError, RuntimeError):
                return
            raise AssertionError(name)

        assert_flat(refused, name)


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_results_own_exactly_their_storage(small, calls, place):
    """No result keeps an operand, a dropped limb or a table alive."""
    call = calls[place]
    operands = {tensor.untyped_storage().data_ptr() for tensor, _ in parts(call.arguments)}
    for tensor, _ in parts(call(small.engine)):
        storage = tensor.untyped_storage()
        assert storage.data_ptr() not in operands
        assert storage.nbytes() == tensor.numel() * tensor.element_size()
        assert tensor.is_contiguous()


def test_other_results_own_exactly_their_storage(small, calls):
    made = [(call.name, call(small.engine)) for call in calls[len(NAMES) :]]
    made.append(("encrypt", small.engine.encrypt_message(0.5, small.public_key)))
    made.append(("rotation by nothing", small.engine.rotate_by_step(made[-1][1], 0)))
    made.append(("sum of one slot", small.engine.sum_slots(made[-1][1], size=1)))
    made += [(type(key).__name__, key) for key in (*small.keys, small.public_key)]
    seen: set[int] = set()
    for name, value in made:
        for tensor, _ in parts(value):
            storage = tensor.untyped_storage()
            assert storage.nbytes() == tensor.numel() * tensor.element_size(), name
            assert storage.data_ptr() not in seen, name
            seen.add(storage.data_ptr())


def test_operands_and_results_die_with_their_last_name(small):
    """Without the garbage collector: nothing is in a cycle, nothing is cached by value."""
    gc.collect()
    gc.disable()
    try:
        calls = engine_calls(small)
        results = [call(small.engine) for call in calls]
        gc.collect()
        keys = {id(key) for key in (*small.keys, small.secret_key, small.public_key)}
        values = [value for call in calls for value in _values(call.arguments)]
        alive = [weakref.ref(v) for v in [*values, *_values(results)] if id(v) not in keys]
        assert len(alive) > len(calls)
        del calls, results, values
        assert [reference() for reference in alive if reference() is not None] == []
    finally:
        gc.enable()


def _values(nested: object) -> list[TensorResident]:
    if isinstance(nested, TensorResident):
        return [nested]
    if isinstance(nested, list | tuple):
        return [value for each in nested for value in _values(each)]
    return []
