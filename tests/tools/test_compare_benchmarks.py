"""The comparison of two benchmark results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.compare import changes, main

QUIET = {"iqr": 0.001, "rounds": 100}


def written(path: Path, **medians: float) -> str:
    """Write a result with these medians and little noise, but much of it in `noisy`."""
    benchmarks = [
        {
            "fullname": name,
            "stats": {"median": value, **QUIET, **({"iqr": 2 * value} if name == "noisy" else {})},
        }
        for name, value in medians.items()
    ]
    path.write_text(json.dumps({"machine_info": {"isa": "scalar"}, "benchmarks": benchmarks}))
    return str(path)


def test_changes_are_sorted_and_noise_is_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = written(tmp_path / "base.json", same=1.0, slow=1.0, fast=1.0, noisy=1.0, gone=1.0)
    new = written(tmp_path / "new.json", same=1.01, slow=1.5, fast=0.5, noisy=1.2)
    main([base, new])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["slow", "noisy", "same", "fast", "in"]
    assert [line.split()[-1] for line in lines[:4]] == ["slower", "1.20", "1.01", "faster"]


def test_limit_decides_the_exit_status(tmp_path: Path) -> None:
    base = written(tmp_path / "base.json", a=1.0, noisy=1.0)
    main([base, written(tmp_path / "new.json", a=1.05, noisy=1.3), "--limit", "1.1"])
    with pytest.raises(SystemExit) as status:
        main([base, written(tmp_path / "new.json", a=1.2, noisy=1.0), "--limit", "1.1"])
    assert status.value.code == 1


def test_nothing_in_common_is_no_change() -> None:
    assert changes({"a": {"median": 1.0, **QUIET}}, {"b": {"median": 1.0, **QUIET}}) == []
