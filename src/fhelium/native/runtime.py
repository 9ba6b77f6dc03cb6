"""Find, check and load the compiled operators, once for each process."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fhelium.errors import NativeError
from fhelium.native import fake, refusals
from fhelium.native.manifest import (
    BACKENDS,
    build_command,
    check_contents,
    compare_manifest,
    native_error,
    read_manifest,
    running_environment,
)
from fhelium.rng import mark_native_threads_used, require_unforked

MODULE_NAME = "_ops"

_lock = threading.RLock()  # loading the operators is a step of making them ready
_ready = False
_loaded: tuple[Path, Mapping[str, Any]] | None = None  # the module and its manifest
_threads_at_fork = 0  # torch's setting when this process was forked; 0 where it was not


@dataclass(frozen=True)
class NativeStatus:
    """Tell whether the compiled operators can be used here, and what they are.

    Args:
        loadable: Whether operators can be called in this process.
        reason: Why not, with the command that mends it; empty when loadable.
        path: The compiled module, or None where there is none.
        manifest: Its build manifest, or None where it could not be read.
        backends: Backends compiled into it, for example ``("CPU",)``.
        isa: Instruction set of its CPU kernels (``"scalar"``, ...), or None when not loadable.
    """

    loadable: bool
    reason: str
    path: Path | None
    manifest: Mapping[str, Any] | None
    backends: tuple[str, ...]
    isa: str | None


def find_binary(folders: Iterable[str] | None = None) -> Path:
    """Return the compiled module.

    Args:
        folders: Where to look; by default the folder that the variable FHELIUM_NATIVE_FOLDER
            names, for a build with other flags, else every folder of `fhelium.native.torchops`,
            which an editable install splits between the sources and the environment.

    Returns:
        The file with one of the interpreter's extension suffixes. Where a development build and
        an installed one are both present, the one built last is meant.

    Raises:
        NativeError: There is none. Build it with the command that the text names.
    """
    if folders is None:
        chosen = os.environ.get("FHELIUM_NATIVE_FOLDER")
        folders = (
            [chosen] if chosen else importlib.import_module("fhelium.native.torchops").__path__
        )
    folders = list(folders)
    found = [
        path
        for folder in folders
        for suffix in importlib.machinery.EXTENSION_SUFFIXES
        if (path := Path(folder, MODULE_NAME + suffix)).is_file()
    ]
    if not found:
        names = " or ".join(MODULE_NAME + s for s in importlib.machinery.EXTENSION_SUFFIXES)
        raise native_error(f"no compiled module in {' or '.join(folders)}, needed is {names}")
    return max(found, key=lambda path: path.stat().st_mtime_ns)


def load_operators() -> Path:
    """Register the operators with torch, without their shapes for tracing; return the module.

    Raises:
        NativeError: The module is missing, of another environment, or does not load.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            binary = find_binary()
            manifest = read_manifest(binary)
            compare_manifest(manifest, running_environment())
            check_contents(binary, manifest)
            try:
                torch.ops.load_library(str(binary))
            except OSError as error:
                raise native_error(f"{binary} does not load ({error})") from error
            _loaded = binary, manifest
        return _loaded[0]


def require_native() -> None:
    """Load the compiled operators on the first call; afterwards cost two comparisons.

    Raises:
        NativeError: They cannot be used here; the text says found against needed and the command
            that mends it.
        RandomnessError: This process was forked from one that had used them; its native calls
            could wait forever. Start workers with spawn or forkserver.

    Example:
        >>> require_native()
        >>> torch.ops.fhelium_rns_ops.cpu_isa() in {"scalar", "avx2", "avx512"}
        True
    """
    if not _ready:
        _load()
    require_unforked("native operator")


# torch.compile runs the guard while it traces, instead of tracing into the loader. The public
# decorator, torch.compiler.assume_constant_result, does this same and imports the compiler.
require_native._dynamo_marked_constant = True  # type: ignore[attr-defined]


def require_device(device: torch.device) -> None:
    """Load the compiled operators and refuse a device that they were not compiled for.

    Tensors on other devices than CPU and CUDA are not FHElium's: a caller's own implementation may
    take them.

    Raises:
        NativeError: As `require_native` says, or the module has no kernels for this device. Build
            it for both with the command that the text names.
    """
    require_native()
    compiled, needed = native_status().backends, device.type.upper()
    if needed in BACKENDS and needed not in compiled:
        raise native_error(
            f"the compiled module has kernels for {' and '.join(compiled)}, tensors on {device} "
            f"need {needed}",
            build_command("+".join(BACKENDS)),
            field="backends",
            found=compiled,
            needed=needed,
        )


def _load() -> None:
    global _ready
    with _lock:
        if _ready:
            return
        binary = load_operators()
        missing = fake.missing_operators()
        if missing:
            raise native_error(
                f"{binary} lacks {missing[0]}, needed are all {len(fake.operator_names())} "
                "operators that the Python sources were generated from",
                missing=missing,
            )
        fake.register()
        refusals.register(fake.operator_names(), require_device)
        if torch.get_num_threads() == _threads_at_fork:
            # Threads that torch started before the fork are not here, and a loop shared with them
            # would wait forever. A number that the child has set itself is its own decision.
            torch.set_num_threads(1)
        _ready = True
        mark_native_threads_used()  # a child forked after this must not draw randomness


def _note_fork() -> None:
    global _threads_at_fork
    _threads_at_fork = torch.get_num_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def native_status() -> NativeStatus:
    """Describe the compiled operators; never raise.

    Example:
        >>> status = native_status()
        >>> "CPU" in status.backends if status.loadable else status.reason
        True
    """
    path: Path | None = None
    manifest: Mapping[str, Any] | None = None
    isa: str | None = None
    reason = ""
    try:
        if _loaded is not None:
            path, manifest = _loaded
        else:
            path = find_binary()
            manifest = read_manifest(path)
        require_native()
        isa = torch.ops.fhelium_rns_ops.cpu_isa()
    except (NativeError, RuntimeError) as error:  # RuntimeError: FHELIUM_CPU_ISA names no set
        reason = str(error)
    backends = tuple(str(name) for name in manifest["backends"]) if manifest else ()
    return NativeStatus(not reason, reason, path, manifest, backends, isa)


def has_device(kind: str) -> bool:
    """Tell whether operators for tensors on this kind of device were compiled and can be called.

    Args:
        kind: A torch device type, ``"cpu"`` or ``"cuda"``. Whether such a device is present is
            torch's to say.
    """
    status = native_status()
    return status.loadable and kind.upper() in status.backends
