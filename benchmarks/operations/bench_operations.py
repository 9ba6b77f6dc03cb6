"""What a user calls: the Engine's operations, in the NTT domain where there is a choice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.rings import Ring

Call = Callable[[], object]


def arithmetic(ring: Ring) -> dict[str, Call]:
    engine, a, b = ring.engine, ring.a, ring.b
    own, product = engine.add(a, b), engine.multiply(a, b)
    factor = engine.prepare_plaintext(ring.y, like=a)
    scaled = engine.multiply_plaintext(a, factor)
    return {
        "add": lambda: engine.add(a, b),
        "add_": lambda: engine.add_(own, b),
        "multiply": lambda: engine.multiply(a, b),
        "relinearize": lambda: engine.relinearize(product),
        "rescale": lambda: engine.rescale_to_next_depth(scaled),
        "multiply, relinearize, rescale": ring.product,
        "multiply plaintext": lambda: engine.multiply_plaintext(a, factor),
        "multiply plaintext, rescale": lambda: engine.multiply_plaintext_and_rescale(a, factor),
        "8 plaintext products": lambda: engine.sum_plaintext_products([a, b] * 4, [factor] * 8),
        "rotate": ring.rotate,
        "rotate by 8 steps": ring.rotate_many,
    }


def messages(ring: Ring) -> dict[str, Call]:
    engine, secret_key, public_key = ring.engine, ring.secret_key, ring.public_key
    plaintext, decrypted = engine.encode(ring.x), engine.decrypt(ring.a, secret_key)
    return {
        "encode": lambda: engine.encode(ring.x),
        "encrypt": lambda: engine.encrypt(plaintext, public_key, output_domain="ntt"),
        "encrypt with the secret key": lambda: engine.encrypt_with_secret_key(ring.x, secret_key),
        "decrypt": lambda: engine.decrypt(ring.a, secret_key),
        "decode": lambda: engine.decode(decrypted, real=True),
    }


def keys(ring: Ring) -> dict[str, Call]:
    engine, secret_key = ring.engine, ring.secret_key
    return {
        "secret key": engine.create_secret_key,
        "public key": lambda: engine.create_public_key(secret_key),
        "relinearization key": lambda: engine.create_relinearization_key(secret_key),
        "rotation key": lambda: engine.create_rotation_key(1, secret_key),
        "64 rotation keys": lambda: engine.create_evaluation_keys(
            secret_key, steps=range(1, 65), progress=lambda made, total: None
        ),
    }


@pytest.fixture(scope="session")
def operations(ring: Ring) -> dict[str, Call]:
    return arithmetic(ring) | messages(ring) | keys(ring)


NAMES = (
    "add", "add_", "multiply", "relinearize", "rescale", "multiply, relinearize, rescale",
    "multiply plaintext", "multiply plaintext, rescale", "8 plaintext products", "rotate",
    "rotate by 8 steps",
    "encode", "encrypt", "encrypt with the secret key", "decrypt", "decode",
    "secret key", "public key", "relinearization key", "rotation key", "64 rotation keys",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def bench_operation(
    benchmark: Callable[..., object], operations: dict[str, Call], name: str
) -> None:
    benchmark(operations[name])
