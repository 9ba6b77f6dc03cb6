"""make bench: kernels, operations and circuits under pytest-benchmark, and the result as JSON."""

from __future__ import annotations

from datetime import datetime

import pytest

from benchmarks.native import ROOT


def main(arguments: list[str]) -> None:
    """Run what the arguments choose and write build/benchmarks/TIME.json."""
    folder = ROOT / "build" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    result = folder / f"{datetime.now():%Y-%m-%d-%H%M%S}.json"
    here = ROOT / "benchmarks"
    options = ["-c", str(here / "pytest.ini"), f"--rootdir={ROOT}", f"--benchmark-json={result}"]
    named = any(not argument.startswith("-") and "bench_" in argument for argument in arguments)
    status = pytest.main([*options, *arguments, *([] if named else [str(here)])])
    if status == 0:
        latest = folder / "latest.json"
        latest.unlink(missing_ok=True)
        latest.symlink_to(result.name)
    raise SystemExit(status)
