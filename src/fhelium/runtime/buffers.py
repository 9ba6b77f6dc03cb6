"""ReusableValueBuffer: fixed storage whose payload is replaced."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import torch

from fhelium.errors import ExecutionError, ExecutionInputError, StateError
from fhelium.runtime.copies import CopyHandle, require_stream
from fhelium.runtime.device import StreamDevice, events_of, stream_device
from fhelium.runtime.storage import TreeStorage, require_separate
from fhelium.runtime.trees import ValueTreeSignature, tree_tensors
from fhelium.text import size_text
from fhelium.values import device_of

_ValueT = TypeVar("_ValueT")


class ReusableValueBuffer(Generic[_ValueT]):
    """Keep tensors at fixed addresses on one device and replace what is in them.

    A buffer knows its payload by structure and exact state alone. Which weights, keys or requests
    go in, and when, is the application's; two buffers make a double buffer. A value read from it
    carries the bounds of the last payload, and in-place forms refuse it, for its storage is shared.
    One lock makes each method whole: any threads may call.

    ``like`` makes buffers; the constructor is not public.

    Args:
        node: The storage.
        signature: What every payload must be.
        device: Where the storage lives.
        pinned: Whether it is page-locked host memory.

    Example:
        >>> buffer = ReusableValueBuffer.like(x)
        >>> address = buffer.value.data.data_ptr()
        >>> buffer.copy_from(y).done()
        True
        >>> torch.equal(buffer.value.data, y.data), buffer.value.data.data_ptr() == address
        (True, True)
    """

    def __init__(
        self,
        *,
        node: TreeStorage,
        signature: ValueTreeSignature,
        device: torch.device,
        pinned: bool,
    ) -> None:
        self._storage: TreeStorage | None = node
        self._signature = signature
        self._device = device
        self._pinned = pinned
        self._streams = stream_device(device)
        self._copies: list[CopyHandle] = []
        self._lock = threading.RLock()

    @classmethod
    def like(
        cls,
        example: _ValueT,
        *,
        device: torch.device | str | None = None,
        pin_memory: bool = False,
    ) -> ReusableValueBuffer[_ValueT]:
        """Allocate storage of an example's structure and copy the example into it.

        Cost: one copy of the payload.

        Args:
            example: A tree of tensors and values in lists, tuples and dictionaries.
            device: Where the storage shall live; defaults to the one device of the example.
            pin_memory: Allocate page-locked host memory, from which copies to CUDA can overlap.

        Raises:
            TypeError: A leaf is neither a tensor nor a registered value.
            ValueError: There is no tensor, the example lives on several devices and none is named,
                pinned memory is asked for elsewhere than on the CPU, or leaves share storage.
            ExecutionError: Memory cannot be pinned here; leave pin_memory out.

        Example:
            >>> ReusableValueBuffer.like([x, torch.zeros(3)], device="cpu").nbytes == x.nbytes + 12
            True
        """
        signature = ValueTreeSignature.from_value(example)
        tensors = tree_tensors(signature, example)
        target = _target(tensors, device)
        require_separate("like", tensors)
        if pin_memory and target.type != "cpu":
            raise StateError(
                "like",
                f"pin_memory is asked for on {target}",
                "Page-locked memory is the host's",
                'Use device="cpu", or leave pin_memory out',
            )
        storage = TreeStorage.filled(signature, example, target, pinned=pin_memory)
        return cls(node=storage, signature=signature, device=target, pinned=pin_memory)

    @property
    def signature(self) -> ValueTreeSignature:
        """Return what every payload must be, wherever it lives.

        Example:
            >>> ReusableValueBuffer.like(x).signature.validate(y)
        """
        return self._signature

    @property
    def device(self) -> torch.device:
        """Return where the storage lives.

        Example:
            >>> ReusableValueBuffer.like(x).device == x.device
            True
        """
        return self._device

    @property
    def is_pinned(self) -> bool:
        """Return whether the storage is page-locked host memory.

        Example:
            >>> ReusableValueBuffer.like(x).is_pinned
            False
        """
        return self._pinned

    @property
    def nbytes(self) -> int:
        """Return the bytes of the fixed tensors.

        Example:
            >>> ReusableValueBuffer.like(x).nbytes == x.nbytes
            True
        """
        return self._signature.nbytes

    @property
    def value(self) -> _ValueT:
        """Return a fresh tree around the fixed tensors.

        It says nothing about readiness: wait for the copy's handle, or order the streams.

        Raises:
            ExecutionError: The buffer is closed, or its last copy failed half way.

        Example:
            >>> buffer = ReusableValueBuffer.like([x, y])
            >>> torch.equal(engine.add(*buffer.value).data, engine.add(x, y).data)
            True
        """
        with self._lock:
            return self._open("value").value()

    def copy_from(
        self,
        source: _ValueT,
        *,
        stream: torch.cuda.Stream | None = None,
        non_blocking: bool = True,
        wait_for: torch.cuda.Event | Sequence[torch.cuda.Event] | None = None,
    ) -> CopyHandle:
        """Copy a payload in, after all of it was found to match.

        Copies into one buffer follow each other whatever their streams. When a consumer has read
        the last payload only the caller knows: record an event behind it and pass it as wait_for.

        Args:
            source: A tree of the buffer's signature, on any device.
            stream: Where the copy is queued; defaults to the current stream of the device.
            non_blocking: As in Tensor.copy_; overlap with the host needs pinned sources.
            wait_for: Events that must be over before the storage is written.

        Returns:
            The copy's handle; the buffer keeps it, too, until the copy is done.

        Raises:
            ExecutionInputError: The source differs, with the path and both sides, or is the
                buffer's own storage in other places.
            ValueError: The CPU has no streams and events, or the stream is of another device.
            ExecutionError: The buffer is closed.

        Example:
            >>> buffer = ReusableValueBuffer.like(x)
            >>> buffer.copy_from(y).bytes_copied == y.nbytes
            True
        """
        with self._lock:
            storage = self._open("copy_from", written=True)
            self._signature.validate(source)
            tensors = tree_tensors(self._signature, source)
            storage.require_foreign(tensors)
            if self._streams is None:
                event = self._copy_now(storage, tensors, stream, events_of(wait_for))
            else:
                event = self._enqueue(
                    self._streams, storage, tensors, stream, non_blocking, events_of(wait_for)
                )
            storage.adopt(source)
            return self._keep(event, tensors)

    def wait_for(self, handle: CopyHandle, stream: torch.cuda.Stream | None = None) -> None:
        """Let a stream's further work begin after one of this buffer's copies.

        Args:
            handle: What copy_from of this buffer returned.
            stream: The consumer's; defaults to the current one of the device.

        Raises:
            ExecutionInputError: The handle is another buffer's.
            ExecutionError: The buffer is closed.

        Example:
            >>> buffer = ReusableValueBuffer.like(x)
            >>> buffer.wait_for(buffer.copy_from(y))
        """
        with self._lock:
            self._open("wait_for", written=True)
            if not self.owns(handle):
                raise ExecutionInputError(
                    "wait_for",
                    "the handle is of a copy into another buffer",
                    "A buffer waits for its own copies",
                    "Pass what copy_from of this buffer returned",
                )
            handle.wait_on(stream)

    def owns(self, handle: CopyHandle) -> bool:
        """Return whether a handle is of a copy into this buffer.

        Example:
            >>> buffer, other = ReusableValueBuffer.like(x), ReusableValueBuffer.like(x)
            >>> handle = buffer.copy_from(y)
            >>> buffer.owns(handle), other.owns(handle)
            (True, False)
        """
        return isinstance(handle, CopyHandle) and handle._target_token is self

    def close(self) -> None:
        """Wait for the copies that run and let go of the storage; closing twice is fine.

        Readers are the caller's to wait for: the buffer knows only its own copies.

        Example:
            >>> buffer = ReusableValueBuffer.like(x)
            >>> buffer.close()
            >>> buffer.close()
        """
        with self._lock:
            self._storage = None
            copies, self._copies = self._copies, []
            for copy in copies:
                copy.synchronize()

    def __repr__(self) -> str:
        place = f"{self._device}, {size_text(self.nbytes)}" + ", pinned" * self._pinned
        closed = ", closed" if self._storage is None else ""
        return f"ReusableValueBuffer({self._signature.kind}, {place}{closed})"

    def _open(self, operation: str, *, written: bool = False) -> TreeStorage:
        """Return the storage, or refuse a closed buffer and the reading of a torn payload."""
        if self._storage is None:
            raise ExecutionError(
                operation, "the buffer is closed", "A closed buffer has no storage", "Make another"
            )
        if self._storage.torn and not written:
            raise ExecutionError(
                operation,
                "the last copy failed half way",
                "Storage of two payloads has no meaning",
                "Copy a payload in first",
            )
        return self._storage

    def _copy_now(
        self,
        storage: TreeStorage,
        tensors: tuple[torch.Tensor, ...],
        stream: Any,
        events: tuple[Any, ...],
    ) -> None:
        if stream is not None or events:
            raise StateError(
                "copy_from",
                f"a {'stream' if stream is not None else 'event'} is given and the buffer lives "
                f"on {self._device}",
                "Work on the CPU is done when the call returns; it has no streams and events",
                "Leave stream and wait_for out",
            )
        # Blocking from CUDA, too: nothing would say when the host may read.
        storage.write(tensors, non_blocking=False)

    def _enqueue(
        self,
        streams: StreamDevice,
        storage: TreeStorage,
        tensors: tuple[torch.Tensor, ...],
        stream: Any,
        non_blocking: bool,
        events: tuple[Any, ...],
    ) -> Any:
        if stream is None:
            stream = streams.current_stream(self._device)
        require_stream("copy_from", stream, self._device)
        running = [copy.event for copy in self._copies if not copy.done()]
        for event in (*events, *running):
            stream.wait_event(event)
        event = streams.event()
        try:
            with streams.on(stream):
                storage.write(tensors, non_blocking=non_blocking)
        except BaseException:
            # What a failed copy has queued still reads its source.
            event.record(stream)
            self._keep(event, tensors)
            raise
        event.record(stream)
        return event

    def _keep(self, event: Any, tensors: tuple[torch.Tensor, ...]) -> CopyHandle:
        handle = CopyHandle(
            event=event,
            device=self._device,
            source_tensors=tensors,
            bytes_copied=self.nbytes,
            target_token=self,
        )
        self._copies = [copy for copy in self._copies if not copy.done()]
        if event is not None:
            self._copies.append(handle)
        return handle


def _target(tensors: Sequence[torch.Tensor], device: torch.device | str | None) -> torch.device:
    """Return the device of the storage, with its index."""
    found = sorted({str(tensor.device) for tensor in tensors})
    if not found or (device is None and len(found) > 1):
        raise StateError(
            "like",
            f"the example has {len(tensors)} tensors, on {' and '.join(found) or 'no device'}",
            "A buffer holds at least one tensor, and all of them on one device",
            "Pass device=, and an example with a tensor",
        )
    return device_of("like", found[0] if device is None else device)
