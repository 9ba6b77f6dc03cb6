"""The command line: ``fhelium``, or ``python -m fhelium``."""

from __future__ import annotations

import importlib.util
import sys

from fhelium.errors import FHEliumError
from fhelium.version import __version__


def main() -> None:
    """Run the command that the arguments name, and exit.

    The exit status is 0 on success, 1 when the command failed and 2 when it was called wrongly.
    """
    require_packages("the command line", {"click": "click", "rich": "rich"})
    import click

    from fhelium.cli.client import decrypt, encrypt, keygen
    from fhelium.cli.demo import demo
    from fhelium.cli.info import info
    from fhelium.cli.inspect import inspect
    from fhelium.cli.profile import profile
    from fhelium.cli.server import run

    group = click.Group(
        name="fhelium",
        help="Compute on encrypted vectors with CKKS, on PyTorch.",
        commands=[demo, info, inspect, profile, keygen, encrypt, run, decrypt],
    )
    group = click.version_option(__version__, prog_name="fhelium")(group)
    try:
        group()
    except (FHEliumError, OSError) as error:  # OSError: a full disk, for example
        sys.exit(f"fhelium: {error}")


def require_packages(purpose: str, packages: dict[str, str]) -> None:
    """Exit with one sentence when a package is missing.

    Args:
        purpose: What needs the packages.
        packages: Import name of each, and the name that pip knows.
    """
    missing = [
        name for module, name in packages.items() if importlib.util.find_spec(module) is None
    ]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        sys.exit(
            f"fhelium: {purpose} needs {' and '.join(missing)}, which {verb} not installed; run "
            f"`{sys.executable} -m pip install {' '.join(missing)}`."
        )
