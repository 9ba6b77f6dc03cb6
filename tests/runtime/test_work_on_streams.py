"""Payloads stay whole when copies, replays and readers run on streams of their own."""

from __future__ import annotations

import pytest
import torch

from fhelium.runtime import CudaGraphProgram, ReusableValueBuffer, pin_value_tree
from fhelium.runtime.device import StreamDevice, stream_device

ROUNDS = 20


@pytest.fixture
def streams(device) -> StreamDevice:
    return stream_device(device)


@pytest.fixture
def payloads(device) -> list[torch.Tensor]:
    """Payloads on the host, page-locked where a device reads them from there."""
    made = [torch.full((1 << 16,), float(n)) for n in range(ROUNDS)]
    return [pin_value_tree(tensor) for tensor in made] if device.type == "cuda" else made


def test_a_double_buffer(device, streams, payloads):
    transfer, compute = streams.new_stream(device), streams.new_stream(device)
    buffers = [ReusableValueBuffer.like(payloads[0], device=device) for _ in range(2)]
    read = [streams.event() for _ in buffers]
    results = []
    for n, payload in enumerate(payloads):
        buffer, done = buffers[n % 2], read[n % 2]
        wait_for = done if n >= 2 else None
        copied = buffer.copy_from(payload, stream=transfer, wait_for=wait_for)
        with streams.on(compute):
            copied.wait_on(compute)
            results.append(buffer.value * 2)
            done.record(compute)
    streams.synchronize(device)
    for n, result in enumerate(results):
        assert (result == 2 * n).all()
    for buffer in buffers:
        buffer.close()


@pytest.mark.parametrize("copy_output", [True, False])
def test_replays_behind_transfers(device, streams, payloads, copy_output):
    transfer, compute = streams.new_stream(device), streams.new_stream(device)
    program = CudaGraphProgram.capture(
        lambda x: x * x, example_inputs=(payloads[0].to(device),), warmup=1
    )
    results = []
    for payload in payloads:
        copied = program.copy_inputs_from(payload, stream=transfer)
        with streams.on(compute):
            output = program.replay_prepared(copy_handle=copied, copy_output=copy_output)
            results.append(output if copy_output else output.clone())
    streams.synchronize(device)
    for n, result in enumerate(results):
        assert (result == n * n).all()
    assert (program.output == (ROUNDS - 1) ** 2).all()
    program.close()


def test_sources_that_are_dropped_at_once(device, streams):
    transfer = streams.new_stream(device)
    buffer = ReusableValueBuffer.like(torch.zeros(1 << 16), device=device)
    for n in range(ROUNDS):
        handle = buffer.copy_from(torch.full((1 << 16,), float(n), device=device), stream=transfer)
        torch.full((1 << 16,), -1.0, device=device)  # would take a source's place if it were free
    handle.synchronize()
    assert (buffer.value == ROUNDS - 1).all()
    buffer.close()


def test_closing_while_copies_run(device, streams, payloads):
    transfer = streams.new_stream(device)
    program = CudaGraphProgram.capture(
        torch.neg, example_inputs=(payloads[0].to(device),), warmup=0
    )
    buffer = ReusableValueBuffer.like(payloads[0], device=device)
    handles = [buffer.copy_from(payload, stream=transfer) for payload in payloads]
    handles.append(program.copy_inputs_from(payloads[0], stream=transfer))
    buffer.close()
    program.close()
    assert all(handle.done() for handle in handles)
