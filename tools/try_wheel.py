"""Install the wheel into fresh environments, run its demo there, and say what was seen.

Usage: python tools/try_wheel.py WHEEL PYTHON=TORCH [PYTHON=TORCH ...]

For example `dist/fhelium-*.whl python3.11=2.13.0 python3.12=2.14.0`: an interpreter, and the
version of torch that it gets. One environment at a time, in a temporary folder that is gone
afterwards: a torch for CUDA takes several GiB of disk and of download. For releases; CI has neither
the room nor the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEEN = """
import platform, torch, fhelium.native
status = fhelium.native.native_status()
assert status.loadable, status.reason
print(f"CPython {platform.python_version()}, torch {torch.__version__}, module built against "
      f"{status.manifest['torch_built_against']}, backends {'+'.join(status.backends)}")
"""


def run(command: Path, *arguments: str | Path, **variables: str) -> str:
    """Run a command away from any sources; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [command, *arguments],
        env={**environment, **variables},
        cwd=command.parent,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{command} {' '.join(map(str, arguments))}\n{done.stdout}")
    return done.stdout.strip()


def gibibytes(folder: Path) -> float:
    """Return the size of a folder's files; links count nothing."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 2**30


def try_in_fresh(wheel: Path, interpreter: str, torch: str, folder: Path) -> str:
    """Install the wheel beside one torch, run the demo, and return a line on what was seen."""
    started = time.monotonic()
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
    python, figures = folder / "bin" / "python", folder / "demo.json"
    options = ("--quiet", "--no-cache-dir", "--disable-pip-version-check")
    run(python, "-m", "pip", "install", *options, f"{wheel}[demo]", f"torch=={torch}")
    seen = run(python, "-c", SEEN)
    run(folder / "bin" / "fhelium", "demo", "--json", figures, THP_MEM_ALLOC_ENABLE="1")
    demo = json.loads(figures.read_text())
    agreeing = f"{demo['samples'] - demo['different_predictions']} of {demo['samples']}"
    return (
        f"{seen}: {agreeing} predictions agree, error {demo['error_to_polynomial']:.1e}; "
        f"{gibibytes(folder):.1f} GiB, {time.monotonic() - started:.0f} s"
    )


def main() -> int:
    """Try every pair in turn."""
    parser = argparse.ArgumentParser(description="Run the wheel's demo in fresh environments.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("pairs", nargs="+", metavar="PYTHON=TORCH")
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve(strict=True)
    print(f"{wheel.name}: {wheel.stat().st_size / 2**10:.0f} KiB", flush=True)
    for pair in arguments.pairs:
        interpreter, _, torch = pair.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            print(try_in_fresh(wheel, interpreter, torch, Path(folder)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
