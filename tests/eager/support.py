"""Bridges between Eager's values and the oracle, and small helpers that several tests share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import torch

from fhelium import (
    Ciphertext,
    CkksConfig,
    DecryptPolicy,
    Engine,
    EvaluationKeys,
    PublicKey,
    SecretKey,
    SwitchingKey,
)
from fhelium.errors import InsecureWarning
from tests.oracle import ckks_oracle as oracle

PRIVATE = DecryptPolicy.private()
Integers = list[int]


@dataclass(frozen=True)
class KeyedEngine:
    """An engine and keys of one secret; ``engine.keys`` holds the evaluation keys."""

    engine: Engine
    secret_key: SecretKey
    public_key: PublicKey
    keys: EvaluationKeys

    @classmethod
    def make(cls, config: CkksConfig, steps: tuple[int, ...], **options: Any) -> Self:
        """Make the engine and all kinds of keys."""
        engine = Engine(config, **options)
        secret_key = engine.create_secret_key()
        keys = engine.create_evaluation_keys(secret_key, steps=steps, conjugation=True)
        engine.add_keys(keys)
        return cls(engine, secret_key, engine.create_public_key(secret_key), keys)

    @property
    def config(self) -> CkksConfig:
        return self.engine.config

    def encrypt(self, message: Any, **options: Any) -> Ciphertext:
        return self.engine.encrypt_message(message, self.public_key, **options)

    def decrypt(self, value: Ciphertext) -> torch.Tensor:
        """Decrypt without covering noise."""
        return self.engine.decrypt_message(value, self.secret_key, policy=PRIVATE)


def insecure_config(**arguments: Any) -> CkksConfig:
    """Search parameters of a small ring that protects nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        return CkksConfig.create(allow_insecure=True, **arguments)


def uniform(
    *shape: int, seed: int, bound: float = 1.0, complex_slots: bool = False
) -> torch.Tensor:
    """Draw float64 values in [-bound, bound], or complex ones of magnitude up to bound."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(*shape, dtype=torch.float64, generator=generator) * 2 - 1
    if not complex_slots:
        return values * bound
    turns = torch.rand(*shape, dtype=torch.float64, generator=generator) * 2 * math.pi
    return torch.polar(values.abs() * bound, turns)


def oracle_ring(config: CkksConfig) -> oracle.Ring:
    """Tell the oracle the numbers of a ring."""
    roots = tuple(config.root(i) for i in range(len(config.primes)))
    bits = 8 * config.dtype.itemsize
    return oracle.Ring(config.N, config.primes, len(config.p_primes), config.alpha, roots, bits)


def secret_of(ring: oracle.Ring, key: SecretKey) -> Integers:
    """Read the integer polynomial s off a key."""
    return ring.integers(key.data.tolist(), "QP", 0, ntt=True, montgomery=True)


def pairs_of(ring: oracle.Ring, key: SwitchingKey) -> list[tuple[Integers, Integers]]:
    """Read (b_j, a_j) of each digit off a key, as centred integers modulo QP."""
    pairs = []
    for digit in key.data.tolist():
        b, a = (ring.integers(rows, "QP", 0, ntt=True, montgomery=True) for rows in digit)
        pairs.append((b, a))
    return pairs


def parts_of(ring: oracle.Ring, value: Ciphertext) -> list[Integers]:
    """Read the components of one ciphertext, as centred integers modulo Q."""
    assert value.residue_representation == "standard"
    ntt = value.polynomial_domain == "ntt"
    return [ring.integers(rows, "Q", value.depth, ntt=ntt) for rows in value.data.tolist()]


def residues_of(ring: oracle.Ring, value: Ciphertext) -> list[list[Integers]]:
    """Read coefficient residues [component][limb][N]; out-of-range ones stay as they are."""
    ntt = value.polynomial_domain == "ntt"
    if ntt:
        low, high = value.data.amin(-1), value.data.amax(-1)
        moduli = torch.tensor(ring.moduli("Q", value.depth))
        assert (low >= 0).all()
        assert (high < moduli).all()
    ids = ring.ids("Q", value.depth)
    return [ring.coefficients(rows, ids, ntt=ntt) for rows in value.data.tolist()]


@contextmanager
def unchanged(*values: Any) -> Iterator[None]:
    """Check that values come out of a block with the bits and states they went in with."""
    before = [(value.data.clone(), value.state) for value in values]
    yield
    for value, (data, state) in zip(values, before, strict=True):
        assert torch.equal(value.data, data)
        assert value.state == state


def largest_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the largest |found - expected| over all slots."""
    return float((found - expected).abs().max())
