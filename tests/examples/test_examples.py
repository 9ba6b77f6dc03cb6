"""Every example runs as a user would start it."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


@cache
def run_example(path: Path) -> str:
    """Return what an example prints; a failing one fails the test with its output."""
    result = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_there_are_examples():
    assert [path.name for path in EXAMPLES][:2] == ["00_hello.py", "01_logistic_regression.py"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_quietly(path):
    shown = run_example(path)
    assert shown.strip()
    assert "Warning" not in shown


def test_hello_decrypts_what_it_should():
    shown = run_example(EXAMPLES[0])
    worst = float(re.search(r"^real +(\S+)", shown, re.MULTILINE)[1])
    assert 20 < worst < 40, shown


def test_logistic_regression_agrees_with_the_clear_model():
    shown = run_example(EXAMPLES[1])
    same, total = re.search(r"identical predictions: +(\d+) of (\d+)", shown).groups()
    clear, encrypted = re.findall(r"accuracy \D+([\d.]+)$", shown, re.MULTILINE)
    assert same == total == "228"
    assert clear == encrypted
    assert 0.9 < float(clear) < 1
