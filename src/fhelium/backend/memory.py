"""How much memory a device has left, and the refusal of what cannot fit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import torch

from fhelium.errors import InsufficientMemoryError, ParameterError
from fhelium.text import size_text

OVERRIDE = "FHELIUM_AVAILABLE_MEMORY"
"""Environment variable: bytes to reckon with instead of what the system says."""


def available_memory(device: torch.device | str = "cpu", root: Path = Path("/")) -> int | None:
    """Return the bytes that can still be allocated on a device, or None where nobody says.

    On the CPU it is the least of MemAvailable, what each memory cgroup of this process has left
    (files that can be dropped count as free) and what RLIMIT_AS leaves; on CUDA what the driver and
    torch's cache have left. The variable FHELIUM_AVAILABLE_MEMORY takes the place of all of them.

    Cost: a few small files of /proc and /sys.

    Args:
        device: Where the memory is.
        root: Where /proc and /sys are.

    Raises:
        ParameterError: The variable is no number of bytes.

    Example:
        >>> available_memory() is None or available_memory() > 0
        True
    """
    text = os.environ.get(OVERRIDE, "")
    if text:
        if not text.isascii() or not text.isdecimal():
            raise ParameterError(
                "available_memory",
                f"the environment variable {OVERRIDE} is {text!r}",
                "It is a number of bytes",
                "Set it to digits only, for example 8589934592, or unset it",
            )
        return int(text)
    device = torch.device(device)
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + cached
    if device.type != "cpu":
        return None
    system = kilobytes(root / "proc/meminfo", "MemAvailable")
    found = [*_cgroup_bytes(root), *_address_space_bytes(root)]
    found += [] if system is None else [system]
    return max(min(found), 0) if found else None


def require_memory(
    operation: str, what: str, needed: int, device: torch.device | str, remedy: str
) -> None:
    """Refuse to begin what would run out of memory on the way.

    Args:
        operation: Name that the error text begins with.
        what: What needs the memory, for the error text.
        needed: Bytes, at the peak.
        device: Where they are needed.
        remedy: What the caller can do about it.

    Example:
        >>> require_memory("example", "one byte", 1, "cpu", "Buy another")
    """
    available = available_memory(device)
    if available is not None and needed > available:
        raise InsufficientMemoryError(
            operation,
            f"{what} need {size_text(needed)} on {device} and {size_text(available)} are available",
            "What cannot fit is refused before anything is allocated",
            f"{remedy}; where the system is wrong about what is available, set {OVERRIDE} to a "
            "number of bytes",
            needed=needed,
            available=available,
        )


def kilobytes(path: Path, name: str) -> int | None:
    """Return the bytes that a file of /proc gives for a name in kB, or None where it does not."""
    found = [int(line.split()[1]) for line in lines_of(path) if line.startswith(f"{name}:")]
    return found[0] * 1024 if found else None


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file of /proc or /sys, none where it cannot be read."""
    try:
        return path.read_text().splitlines()
    except OSError:  # not on this system, or not for this process to read
        return []


def _cgroup_bytes(root: Path) -> Iterator[int]:
    """Yield what each memory cgroup above this process leaves, of either version."""
    for line in lines_of(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mount, names = "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            mount = "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        top = root / mount
        group = top / path.strip("/")
        # A container sees its own group at the mount, whatever path its host gave it.
        for folder in (group, *group.parents):
            yield from _group_bytes(folder, *names)
            if folder == top:
                break


def _group_bytes(folder: Path, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    most, used = lines_of(folder / limit), lines_of(folder / usage)
    if not most or not used or not most[0].isdecimal():  # an unlimited group says "max"
        return
    statistics = (line.split() for line in lines_of(folder / "memory.stat"))
    free = sum(int(fields[1]) for fields in statistics if fields[0] == reclaimable)
    yield int(most[0]) - int(used[0]) + free


def _address_space_bytes(root: Path) -> Iterator[int]:
    sizes = lines_of(root / "proc/self/statm")
    if not sizes:
        return
    import resource  # a module of Unix only

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit - int(sizes[0].split()[0]) * resource.getpagesize()
