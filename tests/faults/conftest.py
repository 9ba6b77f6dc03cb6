"""Worker processes that the tests of this folder share: each costs a second to start."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest


@pytest.fixture(scope="session")
def spawned():
    """Two workers of the start method spawn."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


@pytest.fixture(scope="session")
def forkserved():
    """One worker of the start method forkserver."""
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield pool
