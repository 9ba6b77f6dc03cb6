"""Every preset computes within its noise bounds: at every depth, or at three of a large ring."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch

from fhelium import Ciphertext, CkksConfig, DecryptPolicy, Engine, Preset, PublicKey, SecretKey

RAW = DecryptPolicy.private()  # what covers a result has a bound of its own


def depths(config: CkksConfig) -> list[int]:
    """All depths of a ring up to 2^14, first, middle and last of a larger one."""
    last = config.max_depth
    return list(range(last + 1)) if config.N <= 1 << 14 else [0, (last + 1) // 2, last]


def messages(config: CkksConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Two complex messages of magnitude up to 1, with slots at the bound."""
    generator = torch.Generator().manual_seed(config.N)
    size = torch.rand(2, config.num_slots, generator=generator, dtype=torch.float64)
    angle = 7 * torch.rand(2, config.num_slots, generator=generator, dtype=torch.float64)
    size[:, ::5] = 1 - 2**-40
    x, y = torch.polar(size, angle)
    return x, y


class Run:
    """One preset with its secret and public key; evaluation keys come and go."""

    def __init__(self, preset: Preset) -> None:
        self.engine = Engine(preset)
        self.config = self.engine.config
        self.secret_key: SecretKey = self.engine.create_secret_key()
        self.public_key: PublicKey = self.engine.create_public_key(self.secret_key)
        self.x, self.y = messages(self.config)
        self.encrypted = {
            depth: [self.encrypt(message, depth) for message in (self.x, self.y)]
            for depth in depths(self.config)
        }

    def encrypt(self, message: torch.Tensor, depth: int) -> Ciphertext:
        return self.engine.encrypt_message(
            message, self.public_key, depth=depth, output_domain="ntt"
        )

    def check(self, ciphertext: Ciphertext, expected: torch.Tensor, depth: int) -> None:
        """The result is right to its noise bound, which is not idle."""
        assert ciphertext.depth == depth
        assert ciphertext.data.dtype == self.config.dtype
        assert ciphertext.scale == self.config.scale_at(depth)
        found = self.engine.decrypt_message(ciphertext, self.secret_key, policy=RAW)
        error = float((found - expected).abs().max())
        assert error <= ciphertext.noise_bound
        assert error >= 2**-8 * ciphertext.noise_bound
        assert ciphertext.noise_bound < 1

    def sums(self, depth: int) -> None:
        self.check(self.engine.add(*self.encrypted[depth]), self.x + self.y, depth)

    def product(self, depth: int) -> None:
        if depth == self.config.max_depth:
            return  # the base primes are never dropped
        engine, key = self.engine, self.relinearization_key
        product = engine.relinearize(engine.multiply(*self.encrypted[depth]), key)
        product = engine.rescale_to_next_depth(product)
        self.check(product, self.x * self.y, depth + 1)

    def rotation(self, depth: int) -> None:
        rotated = self.engine.rotate_with_key(self.encrypted[depth][0], self.rotation_key)
        self.check(rotated, self.x.roll(3), depth)

    def all(self) -> Iterator[tuple[str, Callable[[int], None]]]:
        """Name each kind of computing while the one key that it needs exists."""
        yield "add", self.sums
        self.relinearization_key = self.engine.create_relinearization_key(self.secret_key)
        yield "multiply", self.product
        del self.relinearization_key
        self.rotation_key = self.engine.create_rotation_key(3, self.secret_key)
        yield "rotate", self.rotation
        del self.rotation_key


def cases() -> list:
    """Each preset; the keys of a ring of degree 2^17 are gigabytes, and its transforms slow."""
    return [
        pytest.param(preset, marks=[pytest.mark.slow] if "slots65536" in preset else [])
        for preset in Preset
    ]


@pytest.mark.parametrize("preset", cases())
def test_preset_computes_within_its_bounds(preset: Preset) -> None:
    run = Run(preset)
    assert (run.config.max_depth, run.config.num_slots) == (
        preset.recipe.depth,
        preset.recipe.slots,
    )
    for _, compute in run.all():
        for depth in run.encrypted:
            compute(depth)
    del run
    gc.collect()
