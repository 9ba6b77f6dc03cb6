"""Buffers on the CPU: fixed addresses, whole validation, bounds, closing, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from fhelium.errors import ExecutionError, ExecutionInputError, StateError
from fhelium.runtime import ReusableValueBuffer


def test_a_payload_is_replaced_in_place(small, encrypted):
    x, y = encrypted(0.25), encrypted(0.5)
    buffer = ReusableValueBuffer.like({"x": x, "t": torch.zeros(2, 3).t()})
    address = buffer.value["x"].data.data_ptr()
    assert address != x.data.data_ptr()
    assert torch.equal(buffer.value["x"].data, x.data)
    handle = buffer.copy_from({"t": torch.ones(2, 3).t(), "x": y})
    assert (handle.done(), handle.event, handle.device) == (True, None, torch.device("cpu"))
    assert handle.bytes_copied == buffer.nbytes == y.nbytes + 24
    assert handle.wait_on() is handle
    handle.synchronize()
    buffer.wait_for(handle)
    value = buffer.value
    assert value["x"].data.data_ptr() == address
    assert value["t"].stride() == (1, 3)
    found = small.engine.decrypt_message(small.engine.negate(value["x"]), small.secret_key)
    assert (found.real + 0.5).abs().max() < 1e-4


def test_keys_fit_in_buffers(small):
    key = small.keys.rotation(1)
    buffer = ReusableValueBuffer.like(key)
    assert buffer.value.data.stride() == key.data.stride()
    assert torch.equal(buffer.value.data, key.data)


def test_a_value_has_the_bounds_of_the_last_payload(small, encrypted):
    x = encrypted(0.25)
    buffer = ReusableValueBuffer.like(x)
    buffer.copy_from(small.engine.assume_message_bound(x, 0.5))
    assert buffer.value.state.message_bound == 0.5
    buffer.copy_from(x)
    assert buffer.value.state.message_bound == x.state.message_bound


def test_in_place_forms_refuse_fixed_storage(small, encrypted):
    buffer = ReusableValueBuffer.like(encrypted(0.25))
    with pytest.raises(StateError, match="storage"):
        small.engine.negate_(buffer.value)
    buffer.copy_from(encrypted(0.5))
    kept = buffer.value
    buffer.copy_from(encrypted(0.25))
    with pytest.raises(StateError, match="storage"):
        small.engine.negate_(kept)


def test_nothing_is_copied_before_all_was_found_to_match():
    buffer = ReusableValueBuffer.like([torch.zeros(3), torch.zeros(2)])
    with pytest.raises(ExecutionInputError, match=r"value\[1\]"):
        buffer.copy_from([torch.ones(3), torch.ones(4)])
    assert not buffer.value[0].any()


def test_shared_storage_is_refused():
    base = torch.zeros(8)
    for example in ([base, base], [base[:4], base[4:]], torch.zeros(1).expand(4)):
        with pytest.raises(ValueError, match="share storage"):
            ReusableValueBuffer.like(example)


def test_its_own_storage_is_no_source_in_other_places():
    buffer = ReusableValueBuffer.like([torch.zeros(3), torch.ones(3)])
    first, second = buffer.value
    with pytest.raises(ExecutionInputError, match="storage of tensor 1"):
        buffer.copy_from([second, first])
    buffer.copy_from([first, second])
    assert [float(t.sum()) for t in buffer.value] == [0.0, 3.0]


def test_autograd_flags_are_kept():
    buffer = ReusableValueBuffer.like(torch.zeros(3, requires_grad=True))
    buffer.copy_from(torch.ones(3, requires_grad=True))
    assert buffer.value.requires_grad
    assert buffer.value.is_leaf


def test_wrong_targets_are_refused():
    with pytest.raises(ValueError, match="no device"):
        ReusableValueBuffer.like([])
    with pytest.raises(ValueError, match="cpu and meta"):
        ReusableValueBuffer.like([torch.zeros(2), torch.zeros(2, device="meta")])
    with pytest.raises(ValueError, match="pin_memory"):
        ReusableValueBuffer.like(torch.zeros(2), device="meta", pin_memory=True)
    with pytest.raises(TypeError):
        ReusableValueBuffer.like(3)


def test_page_locked_storage():
    """Where an accelerator's driver can lock memory it is locked; elsewhere that is an error."""
    if torch.cuda.is_available():
        buffer = ReusableValueBuffer.like(torch.zeros(2), pin_memory=True)
        assert buffer.is_pinned
        assert buffer.value.is_pinned()
    else:
        with pytest.raises(ExecutionError, match="pin"):
            ReusableValueBuffer.like(torch.zeros(2), pin_memory=True)


def test_the_cpu_has_no_streams_and_events():
    buffer = ReusableValueBuffer.like(torch.zeros(2))
    handle = buffer.copy_from(torch.ones(2))
    for options in ({"stream": _Stream()}, {"wait_for": object()}, {"wait_for": [object()]}):
        with pytest.raises(ValueError, match="no streams and events"):
            buffer.copy_from(torch.zeros(2), **options)
    with pytest.raises(ValueError, match="stream"):
        handle.wait_on(_Stream())
    assert buffer.value.all()


class _Stream:
    device = torch.device("cuda", 0)


def test_a_handle_belongs_to_its_buffer():
    one, other = (ReusableValueBuffer.like(torch.zeros(2)) for _ in range(2))
    with pytest.raises(ExecutionInputError, match="another buffer"):
        one.wait_for(other.copy_from(torch.ones(2)))


def test_closing():
    buffer = ReusableValueBuffer.like(torch.zeros(2))
    handle = buffer.copy_from(torch.ones(2))
    assert repr(buffer) == "ReusableValueBuffer(tensor, cpu, 8 B)"
    buffer.close()
    buffer.close()
    for use in (
        lambda: buffer.value,
        lambda: buffer.copy_from(torch.ones(2)),
        lambda: buffer.wait_for(handle),
    ):
        with pytest.raises(ExecutionError, match="closed"):
            use()
    assert buffer.nbytes == 8


def test_threads_never_see_half_a_payload():
    buffer = ReusableValueBuffer.like([torch.zeros(1000), torch.zeros(1000)])

    def work(n: int) -> None:
        buffer.copy_from([torch.full((1000,), float(n))] * 2)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(200)))
    one, two = buffer.value
    assert torch.equal(one, two)
    assert (one == one[0]).all()
