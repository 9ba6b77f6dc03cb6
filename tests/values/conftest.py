"""Small insecure rings, and values on them with a distinct residue in every place."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest
import torch

from fhelium.config import CkksConfig
from fhelium.errors import InsecureWarning
from fhelium.values import (
    Ciphertext,
    CkksState,
    ConjugationKey,
    Plaintext,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
    SwitchingKey,
    key_state,
    switching_key_storage,
)


def make_config(**overrides) -> CkksConfig:
    wanted = {"depth": 3, "scale_bits": 30, "N": 1024, "allow_insecure": True} | overrides
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        return CkksConfig.create(**wanted)


def counted(*shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.int64).reshape(shape)


def ciphertext(config, *batch: int, **axes) -> Ciphertext:
    state = CkksState.fresh(config, **({"key_id": "k1"} | axes))
    return Ciphertext(counted(state.components, *batch, state.limb_count, config.N), state)


def plaintext(config, *batch: int, **axes) -> Plaintext:
    state = CkksState.fresh(config, **({"components": 1} | axes))
    return Plaintext(counted(*batch, state.limb_count, config.N), state)


def secret_key(config, key_id: str = "k1") -> SecretKey:
    data = counted(len(config.primes), config.N)
    return SecretKey(data, key_state(config, key_id=key_id, components=1))


def public_key(config, key_id: str = "k1") -> PublicKey:
    data = counted(2, len(config.primes), config.N)
    state = key_state(config, key_id=key_id, components=2)
    return PublicKey(data, state, public_seed=bytes(range(32)))


def switching_key(config, kind=SwitchingKey, key_id: str = "k1", **details) -> SwitchingKey:
    data = switching_key_storage(config.dnum, len(config.primes), config.N)
    data.copy_(counted(*data.shape))
    state = key_state(config, key_id=key_id, components=2)
    return kind(data, state, public_seed=bytes(range(32)), **details)


def rotation_key(config, step: int, key_id: str = "k1") -> RotationKey:
    return switching_key(config, RotationKey, key_id, step=step)


def all_values(config) -> list:
    return [
        ciphertext(config, 2, noise_bound=0.5),
        plaintext(config, 3),
        secret_key(config),
        public_key(config),
        switching_key(config, source_key_id="k0"),
        switching_key(config, RelinearizationKey),
        switching_key(config, ConjugationKey),
        rotation_key(config, 5),
    ]


@pytest.fixture(scope="session")
def config() -> CkksConfig:
    return make_config()


@pytest.fixture(scope="session")
def other_config() -> CkksConfig:
    return make_config(scale_bits=28)


@pytest.fixture(scope="session")
def tiny_config() -> CkksConfig:
    return make_config(depth=1, N=16)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    return SimpleNamespace(
        all_values=all_values,
        ciphertext=ciphertext,
        config=make_config,
        counted=counted,
        plaintext=plaintext,
        public_key=public_key,
        rotation_key=rotation_key,
        secret_key=secret_key,
        switching_key=switching_key,
    )
