"""Two rings with their keys, made once for every test of Eager."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from fhelium import CkksConfig
from tests.eager.misuse import Misfits
from tests.eager.pool import Pool
from tests.eager.support import KeyedEngine, insecure_config


@pytest.fixture(scope="session")
def small() -> KeyedEngine:
    """512 slots, scale 2^30, depth 3, two digits; it protects nothing."""
    config = insecure_config(depth=3, scale_bits=30, N=1024)
    return KeyedEngine.make(config, steps=(1, 3, -1, -2))


@pytest.fixture(scope="session")
def default() -> KeyedEngine:
    """8192 slots, scale 2^40, depth 7, four digits."""
    config = CkksConfig.parse("slots8192_scale40_depth7_int64")
    return KeyedEngine.make(config, steps=(1, -5))


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small rings gain nothing from a second thread, and lose much to waiting for it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def misfits(small) -> Misfits:
    """Values of the small ring that do not fit together."""
    return Misfits(small)


@pytest.fixture(scope="session")
def pool() -> Pool:
    """Messages of another small ring, encrypted at every depth in both domains."""
    return Pool()
