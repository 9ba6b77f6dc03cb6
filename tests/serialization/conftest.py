"""A ring of eight slots with one value of every kind that files hold, and a file of each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

import fhelium
from fhelium import CkksConfig, Engine, SecretKey, SwitchingKey
from fhelium.backend.ckks.key_generation import make_switching_key
from fhelium.errors import InsecureWarning
from fhelium.values import key_state
from tests.serialization.corpus import PASSPHRASE, Sources


@dataclass(frozen=True)
class TinyRing:
    """An engine with its keys and one value of every kind, by a short name."""

    engine: Engine
    secret_key: SecretKey
    values: dict[str, Any]

    @property
    def config(self) -> CkksConfig:
        return self.engine.config


def make_ring(dtype_name: str = "int64", scale_bits: int = 30) -> TinyRing:
    """Make the ring: 8 slots, depth 2, digits of one prime each: three, or four for int32."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(
            depth=2,
            scale_bits=scale_bits,
            N=16,
            alpha=1,
            allow_insecure=True,
            dtype_name=dtype_name,
        )
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    keys = engine.create_evaluation_keys(secret_key, steps=(1, 3, 6), conjugation=True)
    engine.add_keys(keys)
    message = torch.linspace(-1, 1, 8, dtype=torch.float64)
    ciphertext = engine.encrypt_message(message, public_key)
    batch = engine.encrypt_message(message * torch.ones(5, 1), public_key, output_domain="ntt")
    values = {
        "ciphertext": ciphertext,
        "batch": batch,
        "product": engine.multiply(batch[0], batch[1]),
        "seeded": engine.encrypt_with_secret_key(message, secret_key),
        "seeded_batch": engine.encrypt_with_secret_key(
            message * torch.ones(2, 3, 1), secret_key, depth=1, output_domain="ntt"
        ),
        "plaintext": engine.prepare_plaintext(message, like=ciphertext),
        "secret": secret_key,
        "public": public_key,
        "relinearization": keys.relinearization(),
        "conjugation": keys.conjugation(),
        "rotation": keys.rotation(3),
        "switching": switching_key(engine, secret_key),
        "keys": keys,
        "config": config,
    }
    return TinyRing(engine, secret_key, values)


def switching_key(engine: Engine, secret_key: SecretKey) -> SwitchingKey:
    """Make a key from another secret to this one."""
    other = engine.create_secret_key()
    resources = engine.dispatcher(torch.device("cpu")).resources
    seed, root = bytes(range(32)), bytes(range(32, 64))
    data = make_switching_key(resources, "packed", other.data, secret_key.data, seed, root)
    state = key_state(engine.config, key_id=secret_key.key_id, components=2)
    return SwitchingKey(data, state, public_seed=seed, source_key_id=other.key_id)


def write_files(values: dict[str, Any], folder: Path) -> Sources:
    """Save every value under its name, and the secret key once more under a passphrase."""
    for name, value in values.items():
        fhelium.save_value(value, folder / name, allow_secret_key=True)
    sealed = folder / "sealed"
    fhelium.save_value(values["secret"], sealed, allow_secret_key=True, passphrase=PASSPHRASE)
    return Sources({path.name: path.read_bytes() for path in folder.iterdir()})


@pytest.fixture(scope="session")
def ring() -> TinyRing:
    return make_ring()


@pytest.fixture(scope="session")
def files(ring, tmp_path_factory) -> Path:
    """A folder with a file of every value; nobody writes there."""
    folder = tmp_path_factory.mktemp("files")
    write_files(ring.values, folder)
    return folder


@pytest.fixture(scope="session")
def sources(files) -> Sources:
    return Sources({path.name: path.read_bytes() for path in files.iterdir()})


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        yield
