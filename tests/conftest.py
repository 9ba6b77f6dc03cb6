"""A small, marked-insecure ring that every suite shares: seconds instead of minutes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pytest

from fhelium import CkksConfig, Engine, EvaluationKeys, PublicKey, SecretKey
from fhelium.errors import InsecureWarning


@dataclass(frozen=True)
class Ring:
    """An engine with its keys; ``engine.keys`` holds the evaluation keys."""

    engine: Engine
    secret_key: SecretKey
    public_key: PublicKey
    keys: EvaluationKeys

    @property
    def config(self) -> CkksConfig:
        return self.engine.config


@pytest.fixture(scope="session")
def small() -> Ring:
    """512 slots, depth 3, two digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    keys = engine.create_evaluation_keys(secret_key, steps=(1, 3, -1, -2), conjugation=True)
    engine.add_keys(keys)
    return Ring(engine, secret_key, engine.create_public_key(secret_key), keys)
