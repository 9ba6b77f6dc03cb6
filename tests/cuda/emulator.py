"""The CUDA kernels compiled for the CPU: build them, call them, look at what they did."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (0, 1, 2)
"""Orders of the threads between two barriers: as numbered, backwards, and drawn at random."""

_MAX_BATCH_AXES = 6


class DeviceRows(ctypes.Structure):
    """The structure of this name in csrc/common/device_rows.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("batches", ctypes.c_int64),
        ("limbs", ctypes.c_int64),
        ("degree", ctypes.c_int64),
        ("limb_stride", ctypes.c_int64),
        ("step", ctypes.c_int64),
        ("batch_strides", ctypes.c_int64 * _MAX_BATCH_AXES),
        ("batch_sizes", ctypes.c_uint32 * _MAX_BATCH_AXES),
        ("batch_axes", ctypes.c_int),
    )


class DeviceParameters(ctypes.Structure):
    """The structure of this name in csrc/common/device_rows.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("row_stride", ctypes.c_int64),
        ("limb_stride", ctypes.c_int64),
    )


def rows(tensor: torch.Tensor) -> DeviceRows:
    """Describe a tensor [*batch, limb, N] at its own strides."""
    *batch, limbs, degree = tensor.shape
    *strides, limb_stride, step = tensor.stride()
    return DeviceRows(
        tensor.data_ptr(),
        torch.Size(batch).numel(),
        limbs,
        degree,
        limb_stride,
        step,
        (ctypes.c_int64 * _MAX_BATCH_AXES)(*strides),
        (ctypes.c_uint32 * _MAX_BATCH_AXES)(*batch),
        len(batch),
    )


def parameters(rns_params: torch.Tensor) -> DeviceParameters:
    """Describe rns_params."""
    return DeviceParameters(rns_params.data_ptr(), *rns_params.stride())


def word_bits(tensor: torch.Tensor) -> int:
    """Return the first argument of most launchers."""
    return 8 * tensor.element_size()


class Emulator:
    """A shared library of launchers, and the operators over them: CUDA's, on CPU tensors."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self.rns = torch.ops.emulated_fhelium_rns_ops
        self.ntt = torch.ops.emulated_fhelium_ntt_ops
        self.ckks = torch.ops.emulated_fhelium_ckks_ops
        self.random = torch.ops.emulated_fhelium_random_ops
        self._library.fhelium_cuda_error_text.restype = ctypes.c_char_p
        self._library.fhelium_emulator_launches.restype = ctypes.c_uint64

    def seed(self, seed: int) -> None:
        """Set the order of threads and blocks; see SEEDS."""
        self._library.fhelium_emulator_seed(seed)

    def launches(self) -> int:
        """Return how many kernels were launched so far."""
        return self._library.fhelium_emulator_launches()

    def result(self, function: str, *arguments: object) -> int:
        """Call a function that launches nothing and return its number."""
        call = getattr(self._library, function)
        call.restype = ctypes.c_int64
        return call(*map(_argument, arguments))

    def __call__(self, launcher: str, *arguments: object) -> None:
        """Call a launcher on the null stream; a tensor is passed as its address.

        Raises:
            RuntimeError: The launcher returned an error.
        """
        status = getattr(self._library, launcher)(*map(_argument, arguments), None)
        if status:
            raise RuntimeError(self._library.fhelium_cuda_error_text(status).decode())


def _argument(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return ctypes.c_void_p(value.data_ptr())
    if isinstance(value, int):
        return ctypes.c_int64(value)  # an int parameter reads its low half
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.byref(value) if isinstance(value, ctypes.Structure) else value


@cache
def emulator() -> Emulator:
    """Return the kernels of this checkout, compiled where a source is newer.

    The variable FHELIUM_EMULATOR names another build of them.
    """
    given = os.environ.get("FHELIUM_EMULATOR")
    library = Path(given) if given else build_emulator(ROOT / "build" / "emulator")
    torch.ops.load_library(str(library))
    return Emulator(library)


def build_emulator(folder: Path, *options: str) -> Path:
    """Compile the target into a folder; workers that ask at once wait for one another."""
    cmake = shutil.which(
        "cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert cmake is not None, "cmake is not installed"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "CMakeCache.txt").exists():
            where = [
                "-G",
                "Ninja",
                "-S",
                str(ROOT),
                "-B",
                str(folder),
                f"-DPython_EXECUTABLE={sys.executable}",
                "-DFHELIUM_NATIVE_BACKENDS=CPU",
            ]
            _run([cmake, *where, *options])
        _run([cmake, "--build", str(folder), "--target", "_emulated"])
    return folder / "_emulated.so"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)


class Guarded:
    """A tensor whose memory is poisoned at first and has walls on both sides.

    ``check()`` says whether the walls stand: a kernel that writes past the end breaks one.
    """

    WALL = 64
    POISON = -0x5A5A5A5B

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        count = torch.Size(shape).numel()
        self._memory = torch.full((count + 2 * self.WALL,), self.POISON, dtype=dtype)
        self.tensor = self._memory[self.WALL : self.WALL + count].view(shape)

    def check(self) -> torch.Tensor:
        """Return the tensor; an assertion fails where a wall was written to."""
        walls = torch.cat([self._memory[: self.WALL], self._memory[-self.WALL :]])
        assert bool((walls == self.POISON).all()), "a kernel wrote outside its output"
        return self.tensor
