"""CopyHandle: one copy into fixed storage, and what it still reads."""

from __future__ import annotations

from typing import Any

import torch

from fhelium.errors import OperandTypeError, StateError
from fhelium.runtime.device import stream_device


class CopyHandle:
    """Say when one copy into a buffer is done, and keep its source alive until then.

    ``ReusableValueBuffer.copy_from`` makes them. A handle is no asyncio future: ``wait_on`` orders
    streams and blocks nobody, ``synchronize`` blocks the caller.

    Args:
        event: Marks the end of the copy; None where the copy was done in the call itself.
        device: Where the target lives.
        source_tensors: What the copy reads.
        bytes_copied: Size of the payload.
        target_token: The buffer that the copy writes to.

    Example:
        >>> from fhelium.runtime import ReusableValueBuffer
        >>> handle = ReusableValueBuffer.like(torch.zeros(4)).copy_from(torch.ones(4))
        >>> handle.done(), handle.bytes_copied, handle.event
        (True, 16, None)
    """

    def __init__(
        self,
        *,
        event: torch.cuda.Event | None,
        device: torch.device,
        source_tensors: tuple[torch.Tensor, ...],
        bytes_copied: int,
        target_token: object,
    ) -> None:
        self._event = event
        self._device = device
        self._source_tensors = source_tensors if event is not None else ()
        self._bytes_copied = bytes_copied
        self._target_token = target_token

    @property
    def event(self) -> torch.cuda.Event | None:
        """Return the event at the copy's end, or None where the copy was done in the call.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> print(ReusableValueBuffer.like(x).copy_from(y).event)
            None
        """
        return self._event

    @property
    def device(self) -> torch.device:
        """Return where the target lives.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> ReusableValueBuffer.like(x).copy_from(y).device == x.device
            True
        """
        return self._device

    @property
    def bytes_copied(self) -> int:
        """Return the size of the payload, in bytes.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> ReusableValueBuffer.like(x).copy_from(y).bytes_copied == y.nbytes
            True
        """
        return self._bytes_copied

    def done(self) -> bool:
        """Return whether the copy is done, without blocking; a done copy lets go of its source.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> ReusableValueBuffer.like(x).copy_from(y).done()
            True
        """
        if self._event is not None and not self._event.query():
            return False
        self._source_tensors = ()
        return True

    def wait_on(self, stream: torch.cuda.Stream | None = None) -> CopyHandle:
        """Let a stream's further work begin after this copy; the CPU goes on.

        Args:
            stream: The consumer's; defaults to the current one of the target's device.

        Returns:
            This handle.

        Raises:
            ValueError: The stream is of another device; pass one of the target's.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> ReusableValueBuffer.like(x).copy_from(y).wait_on().done()
            True
        """
        device = stream_device(self._device)
        if stream is not None:
            require_stream("wait_on", stream, self._device)
        if self._event is not None and device is not None:
            consumer = device.current_stream(self._device) if stream is None else stream
            consumer.wait_event(self._event)
        return self

    def synchronize(self) -> None:
        """Block until the copy is done, then let go of its source.

        Example:
            >>> from fhelium.runtime import ReusableValueBuffer
            >>> ReusableValueBuffer.like(x).copy_from(y).synchronize()
        """
        if self._event is not None:
            self._event.synchronize()
        self._source_tensors = ()


def require_stream(operation: str, stream: Any, device: torch.device) -> None:
    """Refuse a stream that is not one of a device."""
    if not hasattr(stream, "device"):
        raise OperandTypeError(
            operation,
            f"the stream is a {type(stream).__name__}",
            "Work is ordered by streams of torch",
            "Pass a torch.cuda.Stream, or leave it out",
        )
    if stream_device(device) is None or stream.device != device:
        raise StateError(
            operation,
            f"the stream is one of {stream.device}, the target lives on {device}",
            "Work is ordered by streams of the device it writes to; the CPU has none",
            "Leave the stream out, or pass one of the target's device",
        )
