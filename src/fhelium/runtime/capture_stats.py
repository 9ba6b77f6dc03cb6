"""What one capture cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CudaGraphCaptureStats:
    """Hold the one-time costs of a capture, and the allocator's state after it.

    Args:
        warmup_iterations: Evaluations before the capture.
        warmup_seconds: Host time of all of them.
        capture_seconds: Host time of the capture.
        first_replay_seconds: Host time of the first replay, the device waited for.
        memory_allocated_bytes: Bytes that torch's allocator had given out, in the whole process.
        memory_reserved_bytes: Bytes that it had reserved.

    Example:
        >>> CudaGraphCaptureStats(3, 0.5, 0.25, 0.125, 1024, 2048).warmup_iterations
        3
    """

    warmup_iterations: int
    warmup_seconds: float
    capture_seconds: float
    first_replay_seconds: float
    memory_allocated_bytes: int
    memory_reserved_bytes: int
