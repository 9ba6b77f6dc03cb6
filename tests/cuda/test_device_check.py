"""The script for a machine with a GPU runs here too, on the emulator."""

from __future__ import annotations

import json
import sys

from tools import device_check


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["device_check.py", *arguments])
    return device_check.main()


def test_every_case_is_equal(monkeypatch, capsys, tmp_path):
    report = tmp_path / "report.json"
    assert run(monkeypatch, "--degrees", "5", "--json", str(report)) == 0
    rows = json.loads(report.read_text())["rows"]
    assert len(rows) == len(device_check.CASES) * len(device_check.BATCHES) * 2
    assert capsys.readouterr().out.splitlines()[-1] == f"emulator: {len(rows)} equal, 0 differ"


def test_a_result_that_differs_is_named(monkeypatch, capsys):
    case = device_check.CASES[0]

    def wrong(self, namespace, name):
        return lambda lhs, rhs, params: lhs

    monkeypatch.setattr(device_check, "CASES", (case,))
    right = device_check.Device.operator
    monkeypatch.setattr(
        device_check.Device,
        "operator",
        lambda self, *names: (wrong if names[1] == case.name else right)(self, *names),
    )
    assert run(monkeypatch, "--degrees", "5") == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_it_stops_when_its_time_is_up(monkeypatch, capsys):
    assert run(monkeypatch, "--degrees", "5", "--seconds", "0") == 0
    assert "0 equal, 0 differ" in capsys.readouterr().out
