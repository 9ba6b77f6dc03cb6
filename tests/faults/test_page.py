"""The page on threads and processes keeps what it promises by name."""

from __future__ import annotations

import re
from pathlib import Path

import fhelium.errors
from fhelium.backend.memory import OVERRIDE
from tests.programs import run_python

PAGE = Path(__file__).resolve().parents[2] / "docs" / "threads.md"


def test_its_code_runs():
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S))
    shown = run_python(code + "\nprint(len(encrypted), context.get_start_method())")
    assert shown == "8 spawn"


def test_the_errors_and_variables_it_names_exist():
    text = PAGE.read_text()
    names = set(re.findall(r"`(\w+Error)", text)) - {"MemoryError", "RuntimeError"}
    assert names == {
        "InsufficientMemoryError",
        "RandomnessError",
        "SecretExposureError",
        "StateError",
    }
    assert all(hasattr(fhelium.errors, name) for name in names)
    assert set(re.findall(r"`(FHELIUM_\w+)`", text)) == {OVERRIDE}
