"""Run a command with the compiled module that `make sanitize` builds, and fail on any report.

Usage: python tools/run_sanitized.py FOLDER COMMAND...

FOLDER holds a module compiled with ASan and UBSan. First an operator is handed a tensor whose
memory ends early: only a build that reports that can clear the command. Reports go to files in
FOLDER, as a test runner keeps what a worker prints; the first one that appears is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

OVERRUN = """
import torch
from fhelium.native.wrapper import rns_ops
parameters = rns_ops.rns_parameters(torch.tensor([97, 193]), 64)
residues = torch.zeros(2, 64, dtype=torch.int64)
rns_ops.add_standard(residues, residues, parameters)
residues.untyped_storage().resize_(100 * 8)
print("ready", flush=True)
rns_ops.add_standard(residues, residues, parameters)
"""
FIBERS = "WARNING: ASan doesn't fully support makecontext/swapcontext functions"


def runtime_library(name: str) -> str:
    """Return the path of a library of the compiler."""
    path = subprocess.run(
        [os.environ.get("CXX", "g++"), f"-print-file-name={name}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    if not Path(path).is_file():
        raise SystemExit(f"run_sanitized: the compiler has no {name}. Install its sanitizers.")
    return path


def sanitized_environment(folder: Path, reports: Path) -> dict[str, str]:
    """Return the variables of a process whose reports go to files in a folder.

    The C++ library comes before Python has loaded it, as ASan looks for its exceptions at the
    start. Python keeps memory until it ends, so leaks are not counted.
    """
    log = f"log_path={reports / 'report'}"
    return {
        **os.environ,
        "FHELIUM_NATIVE_FOLDER": str(folder.resolve()),
        "LD_PRELOAD": f"{runtime_library('libasan.so')} {runtime_library('libstdc++.so.6')}",
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:{log}",
    }


def complaints(report: str) -> str:
    """Return a report without the one line that ASan writes wherever contexts are switched.

    The emulator tells ASan of each fiber that it enters and leaves, which that line cannot know.
    """
    lines = report.splitlines()
    return "\n".join(line for line in lines if line and FIBERS not in line)


def overrun_is_found(environment: Mapping[str, str], reports: Path) -> bool:
    """Tell whether reading past the end of a tensor stops each instruction set's kernels."""
    for isa in ("scalar", "avx2", "avx512"):
        run = subprocess.run(
            [sys.executable, "-c", OVERRUN],
            env={**environment, "FHELIUM_CPU_ISA": isa},
            check=False,
            capture_output=True,
            text=True,
        )
        if "FHELIUM_CPU_ISA: the value is" in run.stderr:
            continue  # not an instruction set of this machine
        texts = [path.read_text() for path in reports.iterdir()]
        found = any("AddressSanitizer" in text and "csrc/rns" in text for text in texts)
        if run.stdout.split() != ["ready"] or run.returncode == 0 or not found:
            print(f"run_sanitized: an overrun in the {isa} kernels is not found.\n{run.stderr}")
            return False
        for path in reports.iterdir():
            path.unlink()
    return True


def main(arguments: list[str]) -> int:
    """Prove the set-up, then run the command; return 1 where there is a report."""
    folder = Path(arguments[0])
    reports = (folder / "reports").resolve()
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    environment = sanitized_environment(folder, reports)
    if not overrun_is_found(environment, reports):
        return 1
    status = subprocess.run(arguments[1:], env=environment, check=False).returncode
    found = [text for path in sorted(reports.iterdir()) if (text := complaints(path.read_text()))]
    if found:
        print(found[0])
    return status or int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
