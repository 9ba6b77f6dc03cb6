"""The sanitized run proves its set-up before it clears a command."""

import subprocess
import sys
from pathlib import Path

from fhelium.native import native_status
from tools import run_sanitized


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, run_sanitized.__file__, str(folder), *command],
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_module_without_sanitizers_clears_nothing(tmp_path):
    module = native_status().path
    assert module is not None
    for name in (module.name, "build_manifest.json"):
        (tmp_path / name).write_bytes(module.with_name(name).read_bytes())
    done = run(tmp_path, sys.executable, "-c", "print('cleared')")
    assert done.returncode == 1
    assert "an overrun in the scalar kernels is not found" in done.stdout
    assert "cleared" not in done.stdout


def test_a_folder_without_module_clears_nothing(tmp_path):
    done = run(tmp_path, sys.executable, "-c", "print('cleared')")
    assert done.returncode == 1
    assert "no compiled module" in done.stdout
    assert "cleared" not in done.stdout


def test_only_the_line_about_switched_contexts_is_no_report():
    warning = f"==7=={run_sanitized.FIBERS} and may produce false positives in some cases!\n\n"
    error = "==7==ERROR: AddressSanitizer: heap-buffer-overflow\n#0 csrc/rns/kernels.cu"
    assert run_sanitized.complaints(warning) == ""
    assert run_sanitized.complaints(warning + error) == error
