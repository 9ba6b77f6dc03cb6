"""DESILO FHE: its engine is made for a number of levels and chooses ring, chain and scale itself.

A product rescales by itself.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from desilofhe import Engine
from worker import DEPTHS, largest, messages


class Desilo:
    """Keys, inputs and calls at one ring."""

    def __init__(self, log_degree: int, threads: int) -> None:
        self.name = f"DESILO FHE {version('desilofhe')}"
        mode = {"mode": "cpu"} if threads == 1 else {"mode": "parallel", "thread_count": threads}
        engine = Engine(max_level=DEPTHS[log_degree], **mode)
        if engine.slot_count != 2 ** (log_degree - 1):
            raise SystemExit(f"{engine.slot_count} slots at {DEPTHS[log_degree]} levels")
        secret_key = engine.create_secret_key()
        public_key = engine.create_public_key(secret_key)
        relinearization_key = engine.create_relinearization_key(secret_key)
        keys = [engine.create_fixed_rotation_key(secret_key, step) for step in range(1, 9)]
        x, y = messages(engine.slot_count)
        encoded, factor = engine.encode(x), engine.encode(y)
        a, b = engine.encrypt(encoded, public_key), engine.encrypt(factor, public_key)
        decrypted = engine.decrypt_to_plaintext(a, secret_key)

        def product() -> object:
            return engine.multiply(a, b, relinearization_key)

        self.operations = {
            "encode": lambda: engine.encode(x),
            "encrypt": lambda: engine.encrypt(encoded, public_key),
            "decrypt": lambda: engine.decrypt_to_plaintext(a, secret_key),
            "decode": lambda: engine.decode(decrypted),
            "add": lambda: engine.add(a, b),
            "multiply plaintext, rescale": lambda: engine.multiply(a, factor),
            "multiply, relinearize, rescale": product,
            "rotate": lambda: engine.rotate(a, keys[0]),
            "rotate by 8 steps": lambda: engine.rotate_many(a, keys),
            "rotation key": lambda: engine.create_fixed_rotation_key(secret_key, 1),
        }

        def read(ciphertext: object) -> np.ndarray:
            return engine.decrypt(ciphertext, secret_key)

        self.errors = {
            "encrypt": largest(read(a), x),
            "multiply, relinearize, rescale": largest(read(product()), x * y),
            "rotate": largest(read(engine.rotate(a, keys[0])), np.roll(x, -1)),
        }


def prepare(log_degree: int, threads: int) -> Desilo:
    """Return the calls."""
    return Desilo(log_degree, threads)
