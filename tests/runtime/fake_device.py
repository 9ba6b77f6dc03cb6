"""A device with streams that runs on the CPU and notes who waited for what.

Work is done at once; a stream's log says in which order a real device would have had to do it. A
graph records the operators of its block and runs them again on the same storage, as CUDA does, so a
host read or a table made inside is as fatal here as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HOST_READS = ("_local_scalar_dense", "is_nonzero", "equal", "nonzero", "unique")


class FakeEvent:
    """A point of a stream; the test says when it is reached."""

    def __init__(self) -> None:
        self.stream: FakeStream | None = None
        self.reached = False

    def record(self, stream: FakeStream) -> None:
        self.stream = stream
        stream.log.append(("record", self))

    def query(self) -> bool:
        return self.reached

    def synchronize(self) -> None:
        self.reached = True


class FakeStream:
    """A log of waits, records and work."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.log: list[tuple[str, Any]] = []

    def wait_event(self, event: FakeEvent) -> None:
        self.log.append(("wait", event))

    def before(self, what: str) -> list[FakeEvent]:
        """Return the events that the first work of a kind was made to wait for."""
        names = [name for name, _ in self.log]
        assert what in names
        return [event for name, event in self.log[: names.index(what)] if name == "wait"]


class CopyLog(TorchDispatchMode):
    """Note copies in the stream they are given to."""

    def __init__(self, stream: FakeStream) -> None:
        super().__init__()
        self.stream = stream

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.copy_.default:
            self.stream.log.append(("copy", args[0].data_ptr()))
        return func(*args, **(kwargs or {}))


class FakeGraph(TorchDispatchMode):
    """Operators with the storage they read and write."""

    def __init__(self, device: FakeDevice) -> None:
        super().__init__()
        self.device = device
        self.steps: list[tuple[Any, Any, Any, Any]] | None = []
        self.fails = self.was_reset = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in HOST_READS:
            raise RuntimeError(f"{func} reads on the host while work is captured")
        result = func(*args, **(kwargs or {}))
        assert self.steps is not None
        self.steps.append((func, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        if self.fails:
            raise RuntimeError("the fake device failed")
        self.device.current.log.append(("replay", self))
        assert self.steps is not None
        for func, args, kwargs, result in self.steps:
            again = func(*args, **kwargs)
            _overwrite(result, again)

    def reset(self) -> None:
        self.steps, self.was_reset = None, True


def _overwrite(old: Any, new: Any) -> None:
    if isinstance(old, torch.Tensor):
        if old.data_ptr() != new.data_ptr():
            old.copy_(new)
    elif isinstance(old, tuple | list):
        for before, after in zip(old, new, strict=True):
            _overwrite(before, after)


class FakeDevice:
    """The seam that fhelium.runtime.device describes, over CPU tensors."""

    def __init__(self) -> None:
        self.main = FakeStream(torch.device("cpu"))
        self.current = self.main
        self.made: list[FakeStream] = []
        self.synchronized = 0
        self.replay_fails = False

    def current_stream(self, device: torch.device) -> FakeStream:
        return self.current

    def new_stream(self, device: torch.device) -> FakeStream:
        self.made.append(FakeStream(device))
        return self.made[-1]

    @contextmanager
    def on(self, stream: FakeStream) -> Iterator[None]:
        before, self.current = self.current, stream
        try:
            with CopyLog(stream):
                yield
        finally:
            self.current = before

    def event(self) -> FakeEvent:
        return FakeEvent()

    def graph(self) -> FakeGraph:
        graph = FakeGraph(self)
        graph.fails = self.replay_fails
        return graph

    @contextmanager
    def capture(
        self, graph: FakeGraph, stream: FakeStream, *, check_input_liveness: bool
    ) -> Iterator[None]:
        with graph:
            yield

    def synchronize(self, device: torch.device) -> None:
        self.synchronized += 1

    def memory(self, device: torch.device) -> tuple[int, int]:
        return 1024, 2048
