"""Encrypted messages of the small ring, and every operation on one of them by name."""

from __future__ import annotations

from collections.abc import Callable

import torch

from fhelium import Ciphertext, Engine
from tests.eager.support import KeyedEngine, insecure_config, uniform

SLOTS = 512
ROTATIONS = (1, 3, -1, -2)
COUNT = 4  # prepared messages


class Pool:
    """A keyed engine and a pool of encrypted messages in both domains at every depth."""

    def __init__(self) -> None:
        config = insecure_config(depth=3, scale_bits=30, N=1024)
        powers = tuple(-(2**k) for k in range(9))
        self.keyed = KeyedEngine.make(config, steps=(*ROTATIONS, *powers))
        self.engine = self.keyed.engine
        self.messages = uniform(COUNT, SLOTS, seed=11, complex_slots=True)
        self.values = {
            (domain, depth): self.keyed.encrypt(self.messages, depth=depth, output_domain=domain)
            for domain in ("coefficient", "ntt")
            for depth in range(config.max_depth + 1)
        }

    def value(self, index: int, domain: str = "ntt", depth: int = 0) -> Ciphertext:
        return self.values[domain, depth][index]


def same(a: Ciphertext, b: Ciphertext) -> bool:
    """Tell whether two ciphertexts have equal residues and are read in the same way."""
    return torch.equal(a.data, b.data) and a.metadata() == b.metadata()


def in_coefficients(engine: Engine, value: Ciphertext) -> Ciphertext:
    if value.polynomial_domain == "coefficient":
        return value
    return engine.ntt_domain_to_coefficient_domain(value)


def unary(e: Engine) -> dict[str, Callable[[Ciphertext], Ciphertext]]:
    """Return every operation on one ciphertext of depth 0, by name."""
    w = uniform(SLOTS, seed=21)
    return {
        "negate": e.negate,
        "square": e.square,
        "relinearize": lambda x: e.relinearize(e.square(x)),
        "rescale": lambda x: e.rescale_to_next_depth(e.square(x)),
        "rotate": lambda x: e.rotate_by_step(x, 3),
        "conjugate": e.conjugate,
        "mod_switch": lambda x: e.mod_switch_to_depth(x, 2),
        "align": lambda x: e.align_to_depth(x, 2),
        "add_scalar": lambda x: e.add_scalar(x, 0.7),
        "multiply_scalar": lambda x: e.multiply_scalar(x, -0.7),
        "add_plaintext": lambda x: e.add_plaintext(x, e.prepare_plaintext(w, x, "add")),
        "multiply_plaintext": lambda x: e.multiply_plaintext(x, e.prepare_plaintext(w, x)),
        "sum_slots": lambda x: e.sum_slots(x, 4),
        "add_many": lambda x: e.add_many([x, x, x]),
        "rotate_many": lambda x: e.rotate_many_by_steps(x, (0, 3, -1))[1],
        "sum_plaintext_products": lambda x: e.sum_plaintext_products(
            [x, x], [e.prepare_plaintext(w, x), e.prepare_plaintext(0.5, x)]
        ),
        "reinterpret": lambda x: e.reinterpret_at_scale(x, x.scale * 2),
    }


NAMES = ("negate", "square", "relinearize", "rescale", "rotate", "conjugate", "mod_switch", "align",
         "add_scalar", "multiply_scalar", "add_plaintext", "multiply_plaintext", "sum_slots",
         "add_many", "rotate_many", "sum_plaintext_products", "reinterpret")  # fmt: skip
