"""``python -m fhelium info``: what this installation is and what it runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fhelium.version import __version__

if TYPE_CHECKING:
    from fhelium.runtime import DeviceInfo

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@click.command()
def info() -> None:
    """Print versions, instruction set, threads, devices, page setting and native status."""
    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in collect().items():
        table.add_row(name, Text(text))  # Text: a path or an error is no markup
    Console().print(table)


def collect() -> dict[str, str]:
    """Return what ``info`` prints, by name."""
    import torch

    from fhelium.native import native_status
    from fhelium.runtime import cpu_info, devices

    status, cpu = native_status(), cpu_info()
    return {
        "fhelium": __version__,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "CPU": f"{cpu.name}, {cpu.torch_isa}",
        "kernels' ISA": status.isa or "-",
        "threads": f"{cpu.threads} for kernels, {cpu.logical_cpus} CPUs",
        "devices": ", ".join(_device_text(found) for found in devices()),
        "huge pages": _page_setting(),
        "native operators": _native(status.loadable, status.reason, status.backends),
        "native module": str(status.path or "-"),
        "built with": _build(status.manifest),
    }


def _device_text(found: DeviceInfo) -> str:
    return "cpu" if found.device.type == "cpu" else f"{found.device} ({found.name})"


def _page_setting() -> str:
    """Return the kernel's transparent huge page mode and whether torch asks for such pages."""
    try:
        modes = HUGE_PAGES.read_text().split()
        mode = next((m.strip("[]") for m in modes if m.startswith("[")), "unknown")
    except OSError:
        mode = "unknown"
    asked = os.environ.get("THP_MEM_ALLOC_ENABLE")
    text = f"kernel {mode}, THP_MEM_ALLOC_ENABLE={'unset' if asked is None else asked}"
    if mode == "madvise" and asked != "1":
        text += "; export THP_MEM_ALLOC_ENABLE=1 lets torch use them"
    return text


def _native(loadable: bool, reason: str, backends: tuple[str, ...]) -> str:
    return f"loaded, backends {', '.join(backends)}" if loadable else f"not usable: {reason}"


def _build(manifest: Mapping[str, Any] | None) -> str:
    if manifest is None:
        return "-"
    return f"torch {manifest.get('torch_built_against')}, {manifest.get('compiler')}"
