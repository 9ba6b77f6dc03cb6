"""Compare what the compiled module was built for with the environment that is running."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fhelium.errors import NativeError
from fhelium.version import __version__

MANIFEST_NAME = "build_manifest.json"
BACKENDS = ("CPU", "CUDA")
"""What a module can be compiled for: tensors of these device types."""

_FIELD_TYPES = {
    "project_version": str,
    "python_floor": str,
    "torch_floor": str,
    "cxx11_abi": bool,
    "backends": list,
    "sha256": str,
}
"""Fields that decide. The manifest also records the compiler, the torch built against, the CUDA
toolkit and its architectures; the stable ABI makes these free to differ."""


@dataclass(frozen=True)
class Environment:
    """What the running process offers to a compiled module.

    Args:
        project_version: Version of the Python sources.
        python_version: Version of the interpreter, for example ``"3.11.7"``.
        torch_version: Version of torch, for example ``"2.13.0+cpu"``.
        cxx11_abi: Whether torch was compiled with the C++11 string layout.
        torch_has_cuda: Whether torch was compiled with CUDA.
    """

    project_version: str
    python_version: str
    torch_version: str
    cxx11_abi: bool
    torch_has_cuda: bool


def running_environment() -> Environment:
    """Describe this process."""
    return Environment(
        project_version=__version__,
        python_version="{}.{}.{}".format(*sys.version_info[:3]),
        torch_version=str(torch.__version__),
        cxx11_abi=torch.compiled_with_cxx11_abi(),
        torch_has_cuda=torch.version.cuda is not None,
    )


def build_command(backends: str | None = None) -> str:
    """Return the command that builds the module anew for the running interpreter.

    Args:
        backends: What FHELIUM_NATIVE_BACKENDS has to be; its default, which follows torch, if None.
    """
    setting = f"FHELIUM_NATIVE_BACKENDS={backends} " if backends else ""
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "csrc").is_dir():
        return f"{setting}make -C {checkout} native PYTHON={sys.executable}"
    return (
        f"{setting}{sys.executable} -m pip install --no-build-isolation --no-deps "
        "--force-reinstall <the FHElium source folder>"
    )


def native_error(fact: str, command: str | None = None, **fields: Any) -> NativeError:
    """Return the error of a module that cannot be used; the remedy is one command."""
    remedy = f"Run `{command or build_command()}`"
    return NativeError("native", fact, "", remedy, **fields)


def read_manifest(binary: Path) -> dict[str, Any]:
    """Read the build manifest beside a compiled module.

    Args:
        binary: Path of the compiled module.

    Returns:
        The manifest, with every field that decides present and of its type.

    Raises:
        NativeError: The manifest is absent or malformed. Build the module anew.
    """
    path = binary.with_name(MANIFEST_NAME)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise native_error(
            f"{path} cannot be read ({type(error).__name__}), needed is the build manifest of "
            f"{binary.name}"
        ) from error
    if not isinstance(manifest, dict):
        raise native_error(f"{path} holds a {type(manifest).__name__}, needed is a JSON object")
    for field, kind in _FIELD_TYPES.items():
        if not isinstance(manifest.get(field), kind):
            found = repr(manifest[field]) if field in manifest else "nothing"
            raise native_error(
                f"{path} has {found} as {field}, needed is a {kind.__name__}", field=field
            )
    return manifest


def _release(version: str) -> tuple[int, int]:
    """Return major and minor; (0, 0) for text that is no version, so that it is below a floor."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def compare_manifest(manifest: Mapping[str, Any], environment: Environment) -> None:
    """Refuse a module that was not built for this environment.

    Args:
        manifest: What `read_manifest` returned.
        environment: What `running_environment` returned.

    Raises:
        NativeError: A field disagrees; the text says found against needed and the command that
            mends it, the attributes ``field``, ``found`` and ``needed`` hold the same.
    """
    built, needed = manifest["project_version"], environment.project_version
    if built != needed:
        fact = f"the compiled module is of FHElium {built}, needed is {needed} as the sources"
        raise native_error(fact, field="project_version", found=built, needed=needed)

    found, floor = environment.python_version, manifest["python_floor"]
    if _release(found) < _release(floor):
        fact = f"Python is {found}, the compiled module needs {floor} or later"
        command = f"python{floor} -m venv .venv"
        raise native_error(fact, command, field="python_floor", found=found, needed=floor)

    found, floor = environment.torch_version, manifest["torch_floor"]
    if _release(found) < _release(floor):
        fact = f"torch is {found}, the compiled module needs {floor} or later"
        command = f'{sys.executable} -m pip install "torch>={floor}"'
        raise native_error(fact, command, field="torch_floor", found=found, needed=floor)

    built, needed = manifest["cxx11_abi"], environment.cxx11_abi
    if built != needed:
        switch = {True: "on", False: "off"}
        fact = (
            f"the compiled module has the C++11 ABI {switch[built]}, needed is {switch[needed]} "
            f"as in torch {environment.torch_version}"
        )
        raise native_error(fact, field="cxx11_abi", found=built, needed=needed)

    compiled = [str(name) for name in manifest["backends"]]
    usable = [name for name in BACKENDS if name != "CUDA" or environment.torch_has_cuda]
    if not set(compiled) & set(usable):
        fact = (
            f"the compiled module has kernels for {' and '.join(compiled) or 'no device'}, "
            f"torch {environment.torch_version} needs {' or '.join(usable)}"
        )
        raise native_error(fact, field="backends", found=compiled, needed=usable)


def check_contents(binary: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a file that its build did not write: a torn copy would end the process as it loads.

    Args:
        binary: Path of the compiled module.
        manifest: What `read_manifest` returned for it.

    Raises:
        NativeError: The file's digest is not the manifest's. Build the module anew.
    """
    try:
        found = hashlib.sha256(binary.read_bytes()).hexdigest()
    except OSError as error:
        raise native_error(f"{binary} cannot be read ({type(error).__name__})") from error
    needed = manifest["sha256"]
    if found != needed:
        fact = f"{binary} has the SHA-256 {found}, needed is {needed} as in {MANIFEST_NAME}"
        raise native_error(fact, field="sha256", found=found, needed=needed)
