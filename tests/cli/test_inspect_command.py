"""``python -m fhelium inspect`` prints what inspect_value says, and refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import fhelium
from tests.programs import run_module

pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
DATA = Path(__file__).parents[1] / "serialization" / "data" / "format-1"


def test_files_are_described(tmp_path):
    names = [str(DATA / "ciphertext"), str(DATA / "sealed")]
    result = run_module("inspect", *names)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout == "".join(f"{fhelium.inspect_value(name)}\n" for name in names)
    assert "INSECURE" in result.stdout
    assert "digest      not verified" in result.stdout
    assert "opens with its passphrase only" in result.stdout


def test_bad_files_are_refused_one_by_one(tmp_path):
    bad, good = tmp_path / "bad", DATA / "keys"
    raw = bytearray((DATA / "ciphertext").read_bytes())
    raw[-1] ^= 1
    bad.write_bytes(raw)
    absent = str(tmp_path / "absent")
    result = run_module("inspect", "--verify", absent, str(bad), str(good))
    assert result.returncode == 1
    assert result.stdout == f"{fhelium.inspect_value(good, verify=True)}\n"
    first, second = result.stderr.splitlines()
    assert first.startswith(f"fhelium: inspect_value: '{absent}': No such file")
    assert second.startswith(f"fhelium: inspect_value: '{bad}' does not have the digest")


def test_it_is_called_with_a_file():
    result = run_module("inspect")
    assert result.returncode == 2
    assert "Missing argument" in result.stderr
