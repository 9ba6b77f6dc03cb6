"""What this process runs on and what memory it holds, as plain records."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import torch

from fhelium.backend.memory import available_memory, kilobytes, lines_of
from fhelium.native import native_status
from fhelium.native.wrapper import rns_ops
from fhelium.text import size_text
from fhelium.values import device_of


class _Printed:
    """Print a record as one line for each field; sizes in the unit a reader would choose."""

    def __str__(self) -> str:
        rows = [
            (field.name.replace("_", " "), _text(field.name, getattr(self, field.name)))
            for field in fields(self)  # type: ignore[arg-type]
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


@dataclass(frozen=True)
class CpuInfo(_Printed):
    """Describe the processor and how much of it this process uses.

    Args:
        name: As the system calls it.
        torch_isa: Instruction set that torch found.
        kernel_isa: Instruction set of the native kernels; None where they cannot be loaded.
        sockets: Packages; None where the system does not say.
        cores: Physical cores; None where the system does not say.
        logical_cpus: Hardware threads.
        usable_cpus: Hardware threads that this process may run on.
        numa_nodes: Memory nodes; None where the system does not say.
        threads: Threads that torch gives to kernels.

    Example:
        >>> info = cpu_info()
        >>> 1 <= info.usable_cpus <= info.logical_cpus, "kernel isa" in str(info)
        (True, True)
    """

    name: str
    torch_isa: str
    kernel_isa: str | None
    sockets: int | None
    cores: int | None
    logical_cpus: int
    usable_cpus: int
    numa_nodes: int | None
    threads: int


@dataclass(frozen=True)
class DeviceInfo(_Printed):
    """Describe a device.

    Args:
        device: With its index.
        name: As the system or the driver calls it.
        total_bytes: All of its memory; None where nobody says.
        available_bytes: What can still be allocated; None where nobody says.
        processors: Multiprocessors of a CUDA device, usable hardware threads of the CPU.
        capability: CUDA's compute capability; None elsewhere.

    Example:
        >>> device_info().processors >= 1
        True
    """

    device: torch.device
    name: str
    total_bytes: int | None
    available_bytes: int | None
    processors: int
    capability: tuple[int, int] | None


@dataclass(frozen=True)
class MemorySnapshot(_Printed):
    """Say what memory this process holds at one moment; None where nobody says.

    Args:
        resident_bytes: Of the process, in physical memory.
        peak_resident_bytes: The most that it ever was.
        available_bytes: What can still be allocated on the CPU.
        workspace_bytes: Scratch blocks that the native operators hold.
        cuda_allocated_bytes: What torch's allocator has given out, over all CUDA devices.
        cuda_reserved_bytes: What it has reserved.
        cuda_peak_allocated_bytes: The most that it ever had given out.
        cuda_peak_reserved_bytes: The most that it ever had reserved.

    Example:
        >>> snapshot = memory_snapshot()
        >>> snapshot.workspace_bytes >= 0, "workspace bytes" in str(snapshot)
        (True, True)
    """

    resident_bytes: int | None
    peak_resident_bytes: int | None
    available_bytes: int | None
    workspace_bytes: int | None
    cuda_allocated_bytes: int
    cuda_reserved_bytes: int
    cuda_peak_allocated_bytes: int
    cuda_peak_reserved_bytes: int


def cpu_info(root: Path = Path("/")) -> CpuInfo:
    """Return what the processor is and how much of it this process uses.

    Args:
        root: Where /proc and /sys are.

    Example:
        >>> cpu_info().threads == torch.get_num_threads()
        True
    """
    facts = list(_processors(root))
    places = {(f["physical id"], f["core id"]) for f in facts if {"physical id", "core id"} <= {*f}}
    logical = os.cpu_count() or 1
    nodes = len(list((root / "sys/devices/system/node").glob("node[0-9]*")))
    return CpuInfo(
        name=next((f["model name"] for f in facts if "model name" in f), "")
        or platform.processor()
        or "unknown CPU",
        torch_isa=torch.backends.cpu.get_cpu_capability(),
        kernel_isa=native_status().isa,
        sockets=len({socket for socket, _ in places}) or None,
        cores=len(places) or None,
        logical_cpus=logical,
        usable_cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical,
        numa_nodes=nodes or None,
        threads=torch.get_num_threads(),
    )


def device_info(device: torch.device | str = "cpu") -> DeviceInfo:
    """Return what a device is.

    Args:
        device: "cpu" or a CUDA device; without an index the current one.

    Raises:
        RuntimeError: From torch, where there is no such device.

    Example:
        >>> print(device_info("cpu").device)
        cpu
    """
    device = device_of("device_info", device)
    if device.type == "cuda":
        found = torch.cuda.get_device_properties(device)
        available = available_memory(device)
        capability = (found.major, found.minor)
        processors = found.multi_processor_count
        return DeviceInfo(device, found.name, found.total_memory, available, processors, capability)
    cpu = cpu_info()
    total = kilobytes(Path("/proc/meminfo"), "MemTotal")
    return DeviceInfo(device, cpu.name, total, available_memory(device), cpu.usable_cpus, None)


def devices() -> tuple[DeviceInfo, ...]:
    """Return the CPU and every CUDA device.

    Example:
        >>> [str(info.device) for info in devices()][0]
        'cpu'
    """
    cuda = (device_info(f"cuda:{index}") for index in range(torch.cuda.device_count()))
    return (device_info("cpu"), *cuda)


def memory_snapshot() -> MemorySnapshot:
    """Return what memory this process holds now.

    Example:
        >>> memory_snapshot().cuda_allocated_bytes >= 0
        True
    """
    status = Path("/proc/self/status")
    indices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    return MemorySnapshot(
        resident_bytes=kilobytes(status, "VmRSS"),
        peak_resident_bytes=kilobytes(status, "VmHWM"),
        available_bytes=available_memory("cpu"),
        workspace_bytes=rns_ops.workspace_bytes() if native_status().loadable else None,
        cuda_allocated_bytes=sum(map(torch.cuda.memory_allocated, indices)),
        cuda_reserved_bytes=sum(map(torch.cuda.memory_reserved, indices)),
        cuda_peak_allocated_bytes=sum(map(torch.cuda.max_memory_allocated, indices)),
        cuda_peak_reserved_bytes=sum(map(torch.cuda.max_memory_reserved, indices)),
    )


def _processors(root: Path) -> Iterator[dict[str, str]]:
    """Yield what /proc/cpuinfo says of each hardware thread."""
    for block in "\n".join(lines_of(root / "proc/cpuinfo")).split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        yield {name.strip(): text.strip() for name, _, text in pairs}


def _text(name: str, value: object) -> str:
    if value is None:
        return "-"
    return size_text(value) if isinstance(value, int) and name.endswith("_bytes") else str(value)
