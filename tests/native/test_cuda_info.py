"""What a build without CUDA says of devices, and how the answers of one with CUDA are read."""

from __future__ import annotations

import os
import subprocess

import pytest

from fhelium.errors import NativeError
from fhelium.native import cuda
from fhelium.native.cuda.cuda_info import cuda_info, find_library, is_compiled


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return where the library is looked for."""
    monkeypatch.setenv("FHELIUM_NATIVE_FOLDER", str(tmp_path / "torchops"))
    (tmp_path / "cuda").mkdir()
    return tmp_path / "cuda"


def answering(folder, text: str) -> None:
    """Compile a library that gives this answer."""
    source = folder / "answer.c"
    quoted = text.replace('"', '\\"')
    source.write_text(f'const char* fhelium_cuda_info(void) {{ return "{quoted}"; }}\n')
    target = str(folder / "_cuda_info.so")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", target], check=True)


def test_a_build_without_cuda_says_so(folder):
    assert not is_compiled()
    with pytest.raises(NativeError, match=r"with CUDA. Run `FHELIUM_NATIVE_BACKENDS=CPU\+CUDA"):
        cuda_info()


def test_an_editable_install_is_searched_in_both_its_folders(tmp_path, monkeypatch):
    folders = [tmp_path / "environment", tmp_path / "sources"]
    monkeypatch.delenv("FHELIUM_NATIVE_FOLDER", raising=False)
    monkeypatch.setattr(cuda, "__path__", [str(folder) for folder in folders])
    assert find_library() is None
    for time, folder in enumerate(folders):
        folder.mkdir()
        library = folder / "_cuda_info.so"
        library.touch()
        os.utime(library, ns=(0, time))
        assert find_library() == library  # the one built last


@pytest.mark.parametrize(
    ("driver", "version", "reason"),
    [
        (13010, "13.1", "no CUDA-capable device is detected"),
        (0, None, "no CUDA driver is installed"),
    ],
)
def test_a_machine_without_a_device_has_a_reason(folder, driver, version, reason):
    told = '"reason": "no CUDA-capable device is detected"'
    answering(folder, f'{{"runtime": 13000, "driver": {driver}, {told}, "devices": []}}')
    assert is_compiled()
    info = cuda_info()
    assert (info.runtime_version, info.driver_version, info.devices) == ("13.0", version, ())
    assert info.reason == reason
    assert info.peer_topology() == ()


def test_devices_and_who_reaches_whom(folder):
    device = (
        '{"index": %d, "name": "GPU", "pci_bus_id": "0000:00:0%d.0", "compute_capability": [9, 0],'
        ' "memory_bytes": 1, "l2_bytes": 2, "shared_bytes_per_block": 3, "multiprocessors": 4,'
        ' "threads_per_multiprocessor": 5, "peers": [%s]}'
    )
    devices = ", ".join(device % fields for fields in ((0, 0, "1"), (1, 1, "")))
    text = f'{{"runtime": 13000, "driver": 12080, "reason": "", "devices": [{devices}]}}'
    answering(folder, text)
    info = cuda_info()
    assert info.driver_version == "12.8"
    assert [d.compute_capability for d in info.devices] == [(9, 0), (9, 0)]
    assert info.peer_topology() == ((False, True), (False, False))


def test_a_library_that_does_not_load_is_named(folder):
    (folder / "_cuda_info.so").write_text("not a library")
    with pytest.raises(NativeError, match=r"_cuda_info\.so does not load"):
        cuda_info()
