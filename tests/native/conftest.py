"""Every test below here runs against the compiled module; one that cannot load is a failure."""

import pytest

from fhelium.native import require_native


@pytest.fixture(scope="session", autouse=True)
def native() -> None:
    """Load the operators once."""
    require_native()
