"""Keys, messages and ciphertexts at the presets that whole operations are measured at."""

from __future__ import annotations

from typing import Final

import torch

from fhelium import CkksConfig, Engine
from fhelium.values import Ciphertext

PRESETS: Final = {
    13: "slots4096_scale40_depth2_int64",
    14: "slots8192_scale40_depth7_int64",
    15: "slots16384_scale40_depth16_int64",
    16: "slots32768_scale40_depth34_int64",
}
STEPS: Final = tuple(range(1, 9))


class Ring:
    """An engine with keys for products and eight rotations, and two ciphertexts in the NTT domain.

    Args:
        parameters: A preset's name or a config.
    """

    def __init__(self, parameters: str | CkksConfig) -> None:
        self.name = str(parameters)
        self.engine = engine = Engine(parameters)
        self.config = engine.config
        self.secret_key = engine.create_secret_key()
        self.public_key = engine.create_public_key(self.secret_key)
        engine.add_keys(engine.create_evaluation_keys(self.secret_key, steps=STEPS))
        generator = torch.Generator().manual_seed(20)
        self.x, self.y = (
            torch.rand(self.config.num_slots, dtype=torch.float64, generator=generator) * 2 - 1
            for _ in range(2)
        )
        self.a, self.b = (
            engine.encrypt_message(message, self.public_key, output_domain="ntt")
            for message in (self.x, self.y)
        )

    def product(self) -> Ciphertext:
        return self.engine.multiply_and_rescale(self.a, self.b)

    def rotate(self) -> Ciphertext:
        return self.engine.rotate_by_step(self.a, 1)

    def rotate_many(self) -> list[Ciphertext]:
        return list(self.engine.rotate_many_by_steps(self.a, STEPS))
