"""The wheel's checks find what is wrong with one; a trial sees no sources."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

from tools import make_wheel, try_wheel

FOLDER = "fhelium/native/torchops"
LIBRARY = b"the compiled module"


def wheel(
    folder: Path, name: str = "fhelium-1-py3-none-manylinux_2_34_x86_64.whl", **files: bytes
) -> Path:
    """Write an archive with a module, its manifest and further files."""
    backends = files.pop("backends", b"CPU").decode().split("+")
    manifest = {"sha256": hashlib.sha256(LIBRARY).hexdigest(), "backends": backends}
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{FOLDER}/_ops.abi3.so", files.pop("module", LIBRARY))
        archive.writestr(f"{FOLDER}/build_manifest.json", json.dumps(manifest))
        for place, contents in files.items():
            archive.writestr(place, contents)
    return path


def test_a_whole_wheel_has_no_faults(tmp_path):
    assert make_wheel.faults(wheel(tmp_path)) == []
    with_cuda = {"backends": b"CPU+CUDA", make_wheel.CUDA_INFO: b""}
    assert make_wheel.faults(wheel(tmp_path, **with_cuda)) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"name": "fhelium-1-cp311-cp311-linux_x86_64.whl"}, "is not tagged py3-none-manylinux"),
        ({"module": b"another"}, "is not the file that its manifest describes"),
        (
            {"fhelium.libs/libgomp.so.1": b""},
            r"needed are ['fhelium/native/torchops/_ops.abi3.so']",
        ),
        ({make_wheel.CUDA_INFO: b""}, r"needed are ['fhelium/native/torchops/_ops.abi3.so']"),
        ({"backends": b"CPU+CUDA"}, "needed are ['fhelium/native/cuda/_cuda_info.so', "),
    ],
)
def test_faults_are_found(tmp_path, options, told):
    (fault,) = make_wheel.faults(wheel(tmp_path, **options))
    assert told in fault


def test_cuda_kernels_go_in_where_a_compiler_is_at_hand(tmp_path, monkeypatch):
    compiler = tmp_path / "nvcc"
    monkeypatch.setenv("CUDACXX", str(compiler))
    assert not make_wheel.has_nvcc()
    compiler.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
    compiler.chmod(0o755)
    assert make_wheel.has_nvcc()


def test_a_trial_runs_away_from_the_sources(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/sources")
    program = "import os; print(os.environ.get('PYTHONPATH'), os.environ['EXTRA'], os.getcwd())"
    shown = try_wheel.run(Path(sys.executable), "-c", program, EXTRA="there")
    assert shown == f"None there {Path(sys.executable).parent.resolve()}"
    with pytest.raises(SystemExit, match="no such thing"):
        try_wheel.run(Path(sys.executable), "-c", "raise SystemExit('no such thing')")


def test_sizes_count_files_once(tmp_path):
    (tmp_path / "file").write_bytes(bytes(2**20))
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert try_wheel.gibibytes(tmp_path) == 2**-10
