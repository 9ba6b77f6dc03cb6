"""FHElium through its Engine: NTT-domain ciphertexts, decryption with the default noise on top."""

from __future__ import annotations

import numpy as np
import torch
from worker import largest, messages

from benchmarks.rings import PRESETS
from fhelium import Engine, version


class Fhelium:
    """Keys, inputs and calls at one ring."""

    def __init__(self, log_degree: int, threads: int) -> None:
        torch.set_num_threads(threads)
        self.name = f"FHElium {version.__version__}"
        engine = Engine(PRESETS[log_degree])
        secret_key = engine.create_secret_key()
        public_key = engine.create_public_key(secret_key)
        steps = range(1, 9)
        engine.add_keys(engine.create_evaluation_keys(secret_key, steps=steps))
        x, y = map(torch.from_numpy, messages(engine.config.num_slots))
        a, b = (engine.encrypt_message(m, public_key, output_domain="ntt") for m in (x, y))
        message, factor = engine.encode(x), engine.prepare_plaintext(y, like=a)
        decrypted = engine.decrypt(a, secret_key)

        def product() -> object:
            return engine.multiply_and_rescale(a, b)

        self.operations = {
            "encode": lambda: engine.encode(x),
            "encrypt": lambda: engine.encrypt(message, public_key, output_domain="ntt"),
            "decrypt": lambda: engine.decrypt(a, secret_key),
            "decode": lambda: engine.decode(decrypted, real=True),
            "add": lambda: engine.add(a, b),
            "multiply plaintext, rescale": lambda: engine.multiply_plaintext_and_rescale(a, factor),
            "multiply, relinearize, rescale": product,
            "rotate": lambda: engine.rotate_by_step(a, 1),
            "rotate by 8 steps": lambda: engine.rotate_many_by_steps(a, list(steps)),
            "rotation key": lambda: engine.create_rotation_key(1, secret_key),
        }

        def read(ciphertext: object) -> np.ndarray:
            return engine.decrypt_message(ciphertext, secret_key, real=True).numpy()

        self.errors = {
            "encrypt": largest(read(a), x.numpy()),
            "multiply, relinearize, rescale": largest(read(product()), (x * y).numpy()),
            "rotate": largest(read(engine.rotate_by_step(a, 1)), np.roll(x.numpy(), 1)),
        }


def prepare(log_degree: int, threads: int) -> Fhelium:
    """Return the calls."""
    return Fhelium(log_degree, threads)
