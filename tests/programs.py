"""Run a piece of Python in a process of its own."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping


def run_python(program: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what an indented program prints; a failing one fails the test with its output."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
