"""``python -m fhelium info`` says what is true here."""

from __future__ import annotations

import platform

import pytest
import torch

from fhelium.cli import info
from fhelium.native import native_status
from fhelium.version import __version__
from tests.programs import run_module


def rows(shown: str) -> dict[str, str]:
    """Read the printed table back; a text that was folded is joined again."""
    found: dict[str, str] = {}
    name = ""
    for line in shown.splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) < 4:
            continue
        name = cells[1] or name
        found[name] = (found.get(name, "") + " " + cells[2]).strip()
    return found


def test_the_command_prints_the_facts():
    result = run_module("info", OMP_NUM_THREADS="1", THP_MEM_ALLOC_ENABLE="1")
    assert result.returncode == 0, result.stderr
    shown = rows(result.stdout)
    assert shown["fhelium"] == __version__
    assert shown["torch"] == torch.__version__
    assert shown["python"] == platform.python_version()
    assert platform.machine() in shown["system"]
    assert shown["threads"].startswith("1 for kernels, ")
    assert shown["devices"].startswith("cpu")
    assert shown["huge pages"].endswith("THP_MEM_ALLOC_ENABLE=1")
    status = native_status()
    assert status.loadable, status.reason
    assert shown["kernels' ISA"] == status.isa
    assert shown["native operators"] == "loaded, backends " + ", ".join(status.backends)
    assert str(status.path) in shown["native module"].replace(" ", "")


def test_unusable_operators_are_reported_with_the_reason():
    result = run_module("info", FHELIUM_CPU_ISA="no-such-set")
    assert result.returncode == 0, result.stderr
    shown = rows(result.stdout)
    assert shown["native operators"].startswith("not usable: ")
    assert "no-such-set" in shown["native operators"].replace(" ", "")
    assert shown["kernels' ISA"] == "-"


@pytest.mark.parametrize(
    ("content", "asked", "expected"),
    [
        ("always [madvise] never\n", None, "kernel madvise, THP_MEM_ALLOC_ENABLE=unset; export"),
        ("always [madvise] never\n", "1", "kernel madvise, THP_MEM_ALLOC_ENABLE=1"),
        ("[always] madvise never\n", None, "kernel always, THP_MEM_ALLOC_ENABLE=unset"),
        (None, "0", "kernel unknown, THP_MEM_ALLOC_ENABLE=0"),
    ],
)
def test_page_setting(tmp_path, monkeypatch, content, asked, expected):
    path = tmp_path / "enabled"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(info, "HUGE_PAGES", path)
    if asked is None:
        monkeypatch.delenv("THP_MEM_ALLOC_ENABLE", raising=False)
    else:
        monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", asked)
    shown = info.collect()["huge pages"]
    assert shown.startswith(expected)
    assert ("export" in shown) == ("export" in expected)
