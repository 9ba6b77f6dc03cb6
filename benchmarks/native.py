"""Compile what the benchmarks need in C++, against the very kernels that the Engine runs."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
# Vector instructions for a benchmark's own loops, where the kernels beside them have them.
WIDE = ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mavx512ifma", "-mfma"]

INSTRUCTIONS = {"scalar": set(), "avx2": {"avx2", "fma"}, "avx512": {flag[2:] for flag in WIDE}}


def usable_isas() -> list[str]:
    """Return the instruction sets that the machine has, by FHELIUM_CPU_ISA's names."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    return [isa for isa, needed in INSTRUCTIONS.items() if needed <= flags]


def kernel_objects() -> list[str]:
    """Return the kernels of every instruction set, as the last build of the module left them.

    Raises:
        FileNotFoundError: The module was not built in this checkout; run ``make native``.
    """
    builds = [
        folder / "csrc"
        for folder in ROOT.glob("build/*/CMakeFiles/_ops.dir")
        if ROOT / "build/sanitize" not in folder.parents
    ]
    found = [
        [
            path
            for family in ("ntt", "rns", "ckks")
            for isa in ("portable", "avx2", "avx512")
            for path in sorted(build.glob(f"{family}/*_{isa}.cpp.o"))
        ]
        for build in builds
    ]
    compiled = [objects for objects in found if objects]
    if not compiled:
        raise FileNotFoundError("no compiled kernels under build/. Run make native.")
    last = max(compiled, key=lambda objects: max(path.stat().st_mtime for path in objects))
    return [str(path) for path in last]


def compile_program(source: Path, target: Path, *flags: str) -> Path:
    """Compile one C++ file with all kernels into `target` and return that."""
    command = [
        os.environ.get("CXX", "c++"), "-O3", "-std=gnu++20", "-ffp-contract=off",
        f"-I{ROOT / 'csrc'}", *flags, str(source), *kernel_objects(), "-o", str(target),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return target


def compile_library(source: Path, *flags: str) -> Path:
    """Compile one C++ file with all kernels to a shared library in a temporary folder."""
    target = Path(tempfile.mkdtemp()) / f"{source.stem}.so"
    return compile_program(source, target, "-shared", "-fPIC", "-Wl,-z,defs", *flags)


@cache
def streams() -> ctypes.CDLL:
    """Return the compiled streams.c."""
    source = Path(__file__).with_name("streams.c")
    target = Path(tempfile.mkdtemp()) / "streams.so"
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def bare_loop(outs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> Callable[[], object]:
    """Return a call that reads and writes the tensors, all of one size, and computes nothing."""
    library = streams()
    to = (ctypes.c_void_p * len(outs))(*(x.data_ptr() for x in outs))
    source = (ctypes.c_void_p * len(inputs))(*(x.data_ptr() for x in inputs))
    words = ctypes.c_int64(inputs[0].numel())

    def run(keep: object = (outs, inputs)) -> None:
        library.bare_loop(to, len(outs), source, len(inputs), words)

    return run
