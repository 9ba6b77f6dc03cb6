"""The listing of the specification runs unchanged, where it lies beside the checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [parent / "shared" / "spec" for parent in ROOT.parents]
LISTINGS = [path for folder in FOLDERS for path in folder.glob("2-python-codegen.txt")]


@pytest.mark.parametrize("page", LISTINGS, ids=lambda path: path.name)
def test_the_listing_runs_unchanged(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    listing = tmp_path / "listing.py"
    listing.write_text(text[text.index("#!/usr/bin/env python3") :])
    found = subprocess.run(
        [sys.executable, str(listing)],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'examples'}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert "def generated_eager(engine, x, *, materials, resources):" in found.stdout
    assert "def generated_backend(x, *, materials, resources):" in found.stdout
    assert "generated target  operations  resources" in found.stdout
