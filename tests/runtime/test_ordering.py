"""Who waits for whom: copies between streams, replays, and what is kept alive meanwhile."""

from __future__ import annotations

import weakref

import pytest
import torch

from fhelium.errors import CudaGraphInputError, ExecutionError, OperandTypeError
from fhelium.runtime import CudaGraphProgram, ReusableValueBuffer
from tests.runtime.fake_device import FakeEvent, FakeStream

CPU = torch.device("cpu")


def double(x: torch.Tensor) -> torch.Tensor:
    return x + x


@pytest.fixture
def program(fake):
    made = CudaGraphProgram.capture(double, example_inputs=(torch.ones(3),))
    fake.main.log.clear()
    return made


def test_a_copy_waits_for_the_consumers_events(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    stream, read = FakeStream(CPU), [FakeEvent(), FakeEvent()]
    handle = buffer.copy_from(torch.ones(3), stream=stream, wait_for=read)
    assert stream.before("copy") == read
    assert stream.log[-1] == ("record", handle.event)
    one = FakeEvent()
    other = FakeStream(CPU)
    buffer.copy_from(torch.ones(3), stream=other, wait_for=one)
    assert one in other.before("copy")


def test_copies_into_one_buffer_follow_each_other(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    first = buffer.copy_from(torch.ones(3), stream=FakeStream(CPU))
    second_stream, third_stream = FakeStream(CPU), FakeStream(CPU)
    second = buffer.copy_from(torch.ones(3), stream=second_stream)
    assert first.event in second_stream.before("copy")
    first.event.reached = second.event.reached = True
    buffer.copy_from(torch.ones(3), stream=third_stream)
    assert third_stream.before("copy") == []


def test_a_consumer_waits_on_its_own_or_the_current_stream(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    handle = buffer.copy_from(torch.ones(3), stream=FakeStream(CPU))
    consumer = FakeStream(CPU)
    assert handle.wait_on(consumer) is handle
    buffer.wait_for(handle)
    assert consumer.log == [("wait", handle.event)]
    assert fake.main.log[-1] == ("wait", handle.event)


def test_streams_of_other_devices_are_refused(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    elsewhere = FakeStream(torch.device("cuda", 1))
    with pytest.raises(ValueError, match="cuda:1"):
        buffer.copy_from(torch.ones(3), stream=elsewhere)
    with pytest.raises(ValueError, match="cuda:1"):
        buffer.copy_from(torch.ones(3)).wait_on(elsewhere)
    for wrong in ("stream", 0):
        with pytest.raises(OperandTypeError, match=r"^wait_on: the stream is a "):
            buffer.copy_from(torch.ones(3)).wait_on(wrong)


def test_a_source_lives_until_its_copy_is_done(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    source = torch.ones(3)
    alive = weakref.ref(source)
    event = buffer.copy_from(source).event
    del source
    assert alive() is not None
    event.reached = True
    buffer.copy_from(torch.zeros(3))
    assert alive() is None


def test_a_handle_asks_and_blocks(fake):
    handle = ReusableValueBuffer.like(torch.zeros(3)).copy_from(torch.ones(3))
    assert not handle.done()
    handle.synchronize()
    assert handle.done()


def test_closing_waits_for_copies_that_run(fake):
    buffer = ReusableValueBuffer.like(torch.zeros(3))
    handles = [buffer.copy_from(torch.ones(3)) for _ in range(2)]
    buffer.close()
    assert all(handle.event.reached for handle in handles)


class Breaking(torch.Tensor):
    """A source whose copy fails."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.copy_:
            raise RuntimeError("the copy failed")
        return super().__torch_function__(func, types, args, kwargs)


def test_a_copy_that_fails_half_way_leaves_no_payload(fake):
    buffer = ReusableValueBuffer.like([torch.zeros(3), torch.zeros(3)])
    with pytest.raises(RuntimeError, match="the copy failed"):
        buffer.copy_from([torch.ones(3), torch.ones(3).as_subclass(Breaking)])
    with pytest.raises(ExecutionError, match="half way"):
        _ = buffer.value
    buffer.copy_from([torch.ones(3), torch.ones(3)])
    assert all(tensor.all() for tensor in buffer.value)


def test_a_copy_that_fails_still_holds_what_it_reads_and_the_next_one_waits_for_it(fake):
    buffer = ReusableValueBuffer.like([torch.zeros(3), torch.zeros(3)])
    queued, broken = torch.ones(3), torch.ones(3).as_subclass(Breaking)
    alive, first = weakref.ref(queued), FakeStream(CPU)
    with pytest.raises(RuntimeError, match="the copy failed"):
        buffer.copy_from([queued, broken], stream=first)
    del queued
    assert alive() is not None  # the first of the two copies may still run
    what, event = first.log[-1]
    assert what == "record"
    second = FakeStream(CPU)
    buffer.copy_from([torch.ones(3), torch.ones(3)], stream=second)
    assert event in second.before("copy")


def test_warm_up_begins_after_the_work_so_far_and_capture_after_the_warm_up(fake):
    order: list[str] = []
    real = fake.synchronize
    fake.synchronize = lambda device: (order.append("synchronize"), real(device))

    def function(x):
        order.append("call")
        return x + 1

    CudaGraphProgram.capture(function, example_inputs=(torch.ones(3),), warmup=2)
    ready = fake.main.log[0][1]
    warm_up, capture = fake.made
    assert warm_up.log[0] == ("wait", ready)
    assert warm_up.before("copy") == [ready]
    assert capture is not warm_up
    # warm-up, its end, the device at rest, capture, and the first replay's end
    assert order == ["call", "call", "synchronize", "synchronize", "call", "synchronize"]


def test_a_replay_waits_for_its_copy_and_the_next_copy_for_the_replay(fake, program):
    transfer, compute = FakeStream(CPU), FakeStream(CPU)
    copied = program.copy_inputs_from(torch.full((3,), 2.0), stream=transfer)
    with fake.on(compute):
        output = program.replay_prepared(copy_handle=copied)
    assert copied.event in compute.before("replay")
    assert output.tolist() == [4.0] * 3
    replayed = compute.log[-1][1]
    transfer.log.clear()
    program.copy_inputs_from(torch.zeros(3), stream=transfer)
    assert replayed in transfer.before("copy")


def test_replays_follow_each_other_and_an_owned_copy_counts_to_its_replay(fake, program):
    one, other = FakeStream(CPU), FakeStream(CPU)
    with fake.on(one):
        program.replay(torch.ones(3), copy_output=True)
    with fake.on(other):
        program.replay_prepared()
    replayed = one.log[-1]
    assert replayed[0] == "record"
    assert replayed[1] in other.before("replay")


def test_inputs_wait_for_the_last_replay_and_for_the_events_of_the_caller(fake, program):
    program.replay(torch.ones(3))
    replayed, transfer, own = fake.main.log[-1][1], FakeStream(CPU), FakeEvent()
    for wait_for in (own, [own]):
        transfer.log.clear()
        program.copy_inputs_from(torch.ones(3), stream=transfer, wait_for=wait_for)
        assert {own, replayed} <= {*transfer.before("copy")}


def test_inputs_live_until_their_copy_is_done(fake, program):
    source = torch.full((3,), 5.0)
    alive = weakref.ref(source)
    copied = program.copy_inputs_from(source, stream=FakeStream(CPU))
    del source
    program.replay_prepared(copy_handle=copied)
    assert alive() is not None
    copied.event.reached = True
    assert copied.done()
    assert alive() is None


def test_a_replay_that_fails_is_waited_for_all_the_same(fake, program):
    program.cuda_graph.fails = True
    copied = program.copy_inputs_from(torch.ones(3))
    with pytest.raises(RuntimeError, match="the fake device failed"):
        program.replay_prepared(copy_handle=copied)
    what, event = fake.main.log[-1]  # part of its work may have been queued
    assert what == "record"
    transfer = FakeStream(CPU)
    program.copy_inputs_from(torch.ones(3), stream=transfer)
    assert event in transfer.before("copy")


def test_two_programs_wait_for_nothing_of_each_other(fake):
    one, other = (
        CudaGraphProgram.capture(double, example_inputs=(torch.ones(3),)) for _ in range(2)
    )
    streams = FakeStream(CPU), FakeStream(CPU)
    for program, stream in zip((one, other), streams, strict=True):
        with fake.on(stream):
            program.replay(torch.ones(3))
    events = [{event for what, event in s.log if what in ("wait", "record")} for s in streams]
    assert not events[0] & events[1]


def test_only_the_latest_handle_will_do(program):
    old = program.copy_inputs_from(torch.ones(3))
    new = program.copy_inputs_from(torch.ones(3))
    with pytest.raises(CudaGraphInputError, match="not of the latest"):
        program.replay_prepared(copy_handle=old)
    with pytest.raises(CudaGraphInputError, match="no handle is given"):
        program.replay_prepared()
    foreign = ReusableValueBuffer.like(torch.zeros(3)).copy_from(torch.ones(3))
    with pytest.raises(CudaGraphInputError, match="another buffer"):
        program.replay_prepared(copy_handle=foreign)
    program.replay_prepared(copy_handle=new)
    program.replay_prepared()
    program.replay_prepared(copy_handle=new)


def test_closing_with_copies_that_run(fake, program):
    handle = program.copy_inputs_from(torch.ones(3))
    before = fake.synchronized
    program.close()
    program.close()
    assert fake.synchronized == before + 1
    assert handle.event.reached
