"""The Python environments of the other libraries; `python -m` makes them.

They lie under build/, apart from FHElium's own. OpenFHE's wheels hold an extension for one CPython,
3.10 in the version named here, whatever Python their file names ask for: it gets an environment of
that Python where there is one, and is left out of the comparison, by name, where there is none.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.native import ROOT


@dataclass(frozen=True)
class Environment:
    """A virtual environment with other libraries in it.

    Attributes:
        name: Its folder under build/.
        packages: What pip installs.
        module: What must import for it to be of use.
        version: The Python that it needs, as "3.10"; empty for the running one.
    """

    name: str
    packages: tuple[str, ...]
    module: str
    version: str = ""

    @property
    def python(self) -> Path:
        return ROOT / "build" / self.name / "bin" / "python"

    def works(self) -> bool:
        """Return whether it is there and its library imports."""
        command = [str(self.python), "-c", f"import {self.module}"]
        return self.python.exists() and _runs(command)

    def make(self) -> None:
        """Make and fill the folder, or say why not."""
        python = interpreter(self.version) if self.version else sys.executable
        if python is None:
            print(f"{self.module} is left out: its wheel is for Python {self.version}, not found")
            return
        subprocess.run([python, "-m", "venv", str(self.python.parents[1])], check=True)
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
        subprocess.run([*pip, *self.packages], check=True)
        if not self.works():
            print(f"{self.module} is left out: its wheel does not import here")


def interpreter(version: str) -> str | None:
    """Return a Python of a version, on the path or among pyenv's, that can make environments."""
    installed = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")
    for candidate in (shutil.which(f"python{version}"), *map(str, installed)):
        check = f"import sys, venv, ensurepip; assert sys.version.startswith('{version}.')"
        if candidate and _runs([candidate, "-c", check]):
            return candidate
    return None


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


MOST = Environment("peers", ("tenseal==0.3.18", "desilofhe==2.0.0", "matplotlib"), "desilofhe")
OPENFHE = Environment("peers-openfhe", ("openfhe==1.6.1.0.22.4", "numpy"), "openfhe", "3.10")

if __name__ == "__main__":
    for environment in (MOST, OPENFHE):
        environment.make()
