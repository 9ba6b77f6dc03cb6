"""Every test below here runs CUDA kernels on the CPU, in several orders of their threads."""

from __future__ import annotations

import pytest

from fhelium.native import require_native
from tests.cuda.emulator import SEEDS, Emulator, emulator


@pytest.fixture(scope="session", autouse=True)
def native() -> None:
    """Load the CPU operators, which say what is right."""
    require_native()


@pytest.fixture(params=SEEDS, ids="order{}".format)
def device(request: pytest.FixtureRequest) -> Emulator:
    """Return the launchers, with each order of the threads in turn."""
    found = emulator()
    found.seed(request.param)
    return found
