"""CUDA devices and which of them reach one another, for inspection.

The answers come from a library of its own beside this file, which a build with CUDA makes; the
operators do not need it. It carries its own CUDA runtime, so it answers in a process whose torch
has no CUDA.
"""

from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fhelium.native import cuda
from fhelium.native.manifest import build_command, native_error

LIBRARY = "_cuda_info.so"


@dataclass(frozen=True)
class CudaDevice:
    """Describe one device.

    Args:
        index: Its number, as in ``torch.device("cuda", index)``.
        name: The maker's name.
        pci_bus_id: Where it is plugged in.
        compute_capability: Major and minor.
        memory_bytes: Device memory.
        l2_bytes: The cache that all multiprocessors share.
        shared_bytes_per_block: The most shared memory that a block may ask for.
        multiprocessors: How many there are.
        threads_per_multiprocessor: The most that one holds at a time.
        peers: The devices whose memory this one reads and writes directly.
    """

    index: int
    name: str
    pci_bus_id: str
    compute_capability: tuple[int, int]
    memory_bytes: int
    l2_bytes: int
    shared_bytes_per_block: int
    multiprocessors: int
    threads_per_multiprocessor: int
    peers: tuple[int, ...]


@dataclass(frozen=True)
class CudaInfo:
    """Describe the CUDA side of this machine.

    Args:
        runtime_version: The CUDA runtime that was compiled in, such as ``"13.0"``.
        driver_version: The newest runtime that the driver serves, or None without a driver.
        devices: The devices of this process, in their order.
        reason: Why there is none; empty where there is one.
    """

    runtime_version: str
    driver_version: str | None
    devices: tuple[CudaDevice, ...]
    reason: str

    def peer_topology(self) -> tuple[tuple[bool, ...], ...]:
        """Return whether device i reaches the memory of device j directly, as rows i."""
        return tuple(
            tuple(other.index in device.peers for other in self.devices) for device in self.devices
        )


def find_library() -> Path | None:
    """Return the library, the one built last of several, or None in a build without CUDA."""
    chosen = os.environ.get("FHELIUM_NATIVE_FOLDER")
    # An editable install splits the package between the sources and the environment.
    folders = [Path(chosen).parent / "cuda"] if chosen else map(Path, cuda.__path__)
    found = [path for folder in folders if (path := folder / LIBRARY).is_file()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def is_compiled() -> bool:
    """Tell whether this build can answer at all."""
    return find_library() is not None


def cuda_info() -> CudaInfo:
    """Ask the CUDA runtime for the devices and for who reaches whose memory.

    Raises:
        NativeError: This build has no CUDA, or the library does not load.

    Example:
        >>> cuda_info().runtime_version >= "12" if is_compiled() else True
        True
    """
    path = find_library()
    if path is None:
        raise native_error(
            f"{LIBRARY} is not there, needed is a build with CUDA", build_command("CPU+CUDA")
        )
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise native_error(f"{path} does not load ({error})") from error
    library.fhelium_cuda_info.restype = ctypes.c_char_p
    found = json.loads(library.fhelium_cuda_info().decode())
    driver = _version(found["driver"]) if found["driver"] else None
    devices = tuple(map(_device, found["devices"]))
    # The runtime calls an absent driver an insufficient one.
    reason = found["reason"] if driver else "no CUDA driver is installed"
    return CudaInfo(_version(found["runtime"]), driver, devices, reason)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _device(fields: dict[str, Any]) -> CudaDevice:
    major, minor = fields.pop("compute_capability")
    return CudaDevice(compute_capability=(major, minor), peers=tuple(fields.pop("peers")), **fields)
