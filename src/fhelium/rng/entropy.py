"""Fresh bytes from the operating system, and the guard against forking under native threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from fhelium.errors import RandomnessError

ROOT_BYTES = 32

_thread = threading.local()

_native_threads_used = False
_forked_under_threads = False


def mark_native_threads_used() -> None:
    """Record that native operators ran here, so that a child forked from now on is refused.

    The loader calls this when it hands out the operators: from then on a call may start the
    intra-op threads at any time, and a fork copies the locks of those threads without the threads.
    """
    global _native_threads_used
    _native_threads_used = True


def require_unforked(operation: str) -> None:
    """Refuse to work in a child forked from a process that had used native threads.

    Cost: one comparison; safe to make before every native call. It takes no lock, so it cannot hang
    where a native call would.

    Example:
        >>> require_unforked("encrypt")
    """
    if _forked_under_threads:
        raise RandomnessError(
            operation,
            f"process {os.getpid()} was forked from one that had used native threads",
            "A forked child inherits the locks of its parent's threads without the threads, so "
            "native calls could wait forever and seeded streams would repeat",
            "Start workers with multiprocessing.get_context('spawn') or 'forkserver'",
        )


@contextmanager
def no_randomness() -> Iterator[None]:
    """Mark what this thread does inside as recorded: its noise would repeat, so draws are refused.

    Example:
        >>> try:
        ...     with no_randomness():
        ...         fresh_bytes("encrypt")
        ... except RandomnessError as error:
        ...     print(error.fact)
        it was called while work is recorded for replay
    """
    before = getattr(_thread, "recorded", False)
    _thread.recorded = True
    try:
        yield
    finally:
        _thread.recorded = before


def is_recorded() -> bool:
    """Return whether this thread's work is being captured, or warmed up for that.

    Example:
        >>> is_recorded()
        False
    """
    captured = torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
    return captured or getattr(_thread, "recorded", False)


def require_unrecorded(operation: str) -> None:
    """Refuse to draw while a CUDA Graph is captured: each replay would use the same noise.

    Example:
        >>> require_unrecorded("encrypt")
    """
    if is_recorded():
        raise RandomnessError(
            operation,
            "it was called while work is recorded for replay",
            "A replay would repeat its noise, and noise used twice gives keys and messages away",
            "Make keys and ciphertexts outside the captured callable and pass them in",
        )


def fresh_bytes(operation: str) -> bytes:
    """Take 32 bytes from the operating system's generator; no two calls share any state.

    Cost: one system call.

    Returns:
        The bytes. Whoever derives keys from them keeps them out of logs, reprs and files.

    Raises:
        RandomnessError: The process was forked under native threads, work is being recorded for
            replay, or the operating system has no entropy to give. The text says which and what
            to do.

    Example:
        >>> len(fresh_bytes("create_secret_key"))
        32
    """
    require_unforked(operation)
    require_unrecorded(operation)
    try:
        return os.urandom(ROOT_BYTES)
    except (NotImplementedError, OSError) as error:
        raise RandomnessError(
            operation,
            f"the operating system gave no random bytes ({error})",
            "Keys and encryptions need fresh entropy",
            "Run where getrandom() or /dev/urandom works",
        ) from error


def _note_fork() -> None:
    global _forked_under_threads
    if _native_threads_used:
        _forked_under_threads = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
