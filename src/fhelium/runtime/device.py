"""What copies and graphs need of a device whose work runs in streams."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch


class StreamDevice:
    """Streams, events and graphs of torch.cuda; another kind of device would have such a class."""

    def current_stream(self, device: torch.device) -> torch.cuda.Stream:
        """Return the stream that work goes to now."""
        return torch.cuda.current_stream(device)

    def new_stream(self, device: torch.device) -> torch.cuda.Stream:
        """Return another stream."""
        return torch.cuda.Stream(device)

    def on(self, stream: torch.cuda.Stream) -> AbstractContextManager[Any]:
        """Send work to a stream inside the block."""
        return torch.cuda.stream(stream)

    def event(self) -> torch.cuda.Event:
        """Return an event that is not recorded yet."""
        return torch.cuda.Event()

    def graph(self) -> torch.cuda.CUDAGraph:
        """Return an empty graph."""
        return torch.cuda.CUDAGraph()

    def capture(
        self, graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream, *, check_input_liveness: bool
    ) -> AbstractContextManager[Any]:
        """Record the work of the block into a graph; other threads may use the device."""
        known = "check_input_liveness" in inspect.signature(torch.cuda.graph).parameters
        options: dict[str, Any] = {"check_input_liveness": check_input_liveness} if known else {}
        return torch.cuda.graph(
            graph,
            stream=stream,
            capture_error_mode="thread_local",
            **options,
        )

    def synchronize(self, device: torch.device) -> None:
        """Block until all streams of a device are done."""
        torch.cuda.synchronize(device)

    def memory(self, device: torch.device) -> tuple[int, int]:
        """Return the bytes that torch's allocator has given out and has reserved."""
        return torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device)


STREAM_DEVICES: dict[str, StreamDevice] = {"cuda": StreamDevice()}
"""Kinds of device whose work runs in streams, by torch's name of the kind."""


def stream_device(device: torch.device) -> StreamDevice | None:
    """Return how a device's streams are spoken to, or None where work runs in the call itself."""
    return STREAM_DEVICES.get(device.type)


def events_of(wait_for: Any | Sequence[Any] | None) -> tuple[Any, ...]:
    """Return one event, several or none as a tuple."""
    if wait_for is None:
        return ()
    return tuple(wait_for) if isinstance(wait_for, Sequence) else (wait_for,)
