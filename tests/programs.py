"""Run a piece of Python, or the command line, in a process of its own."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping

HEARS_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""What a program that is sent SIGINT begins with: a shell lets what it starts in the background
ignore that signal, and children inherit it."""


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


def run_module(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m fhelium`` as a user does; its output is no terminal."""
    return subprocess.run(
        [sys.executable, "-m", "fhelium", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
