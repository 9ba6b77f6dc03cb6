"""The script for a machine with a GPU runs here too, on the emulator."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.cuda.emulator import ROOT
from tests.cuda.operators import OPERATORS
from tools import device_check


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["device_check.py", *arguments])
    return device_check.main()


def test_every_operator_is_equal_in_every_case(monkeypatch, capsys, tmp_path):
    report = tmp_path / "report.json"
    assert run(monkeypatch, "--degrees", "5,6", "--limbs", "3", "--json", str(report)) == 0
    rows = json.loads(report.read_text())["rows"]
    cases = {(r["operator"], r["degree"], r["batch"], r["dtype"]) for r in rows}
    assert len(cases) == len(rows) == len(OPERATORS) * 2 * 2 * 2
    table = capsys.readouterr().out.splitlines()
    assert len(table) == len(OPERATORS) + 1
    assert table[-1] == f"emulator: {len(rows)} equal, 0 differ"


def test_a_result_that_differs_is_named(monkeypatch, capsys):
    name = "fhelium_rns_ops::add_standard"
    monkeypatch.setattr(device_check, "OPERATORS", [name])
    wrong = device_check.packet("fhelium_rns_ops::subtract_standard", "emulated_")
    monkeypatch.setattr(device_check.Emulated, "operator", lambda self, name: wrong)
    assert run(monkeypatch, "--degrees", "5") == 1
    out = capsys.readouterr().out
    assert "add_standard" in out
    assert "DIFFERS" in out
    assert "0 equal, 4 differ" in out


def test_it_stops_when_its_time_is_up(monkeypatch, capsys):
    assert run(monkeypatch, "--degrees", "5", "--seconds", "0") == 0
    assert "0 equal, 0 differ" in capsys.readouterr().out


def test_it_needs_no_package_but_torch():
    """On the machine that it is carried to nothing can be installed."""
    program = (
        "import sys, torch; before = set(sys.modules); import tools.device_check; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert found.stdout.strip() == "['fhelium', 'tests', 'tools']"
