"""Small computations as a user writes them, from ciphertexts to a ciphertext."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.rings import Ring
from fhelium.cli.logistic import DataOwner, Evaluator, Model, samples_per_message
from fhelium.config import CkksConfig
from fhelium.values import Ciphertext

COEFFICIENTS = (0.5, 0.25, -0.125, 0.0625)


@pytest.fixture(scope="session")
def sums(ring: Ring) -> Ring:
    """Return the ring with keys for sums over all slots."""
    steps = [-(1 << k) for k in range(ring.config.num_slots.bit_length() - 1)]
    ring.engine.add_keys(ring.engine.create_evaluation_keys(ring.secret_key, steps=steps))
    return ring


def bench_product_plus_rotation(benchmark: Callable[..., object], ring: Ring) -> None:
    """x y + rotate(x): every kind of work once."""
    engine = ring.engine

    def circuit() -> Ciphertext:
        product = ring.product()
        return engine.add(product, engine.align_to_depth(ring.rotate(), product.depth))

    benchmark(circuit)


def bench_dot_product(benchmark: Callable[..., object], sums: Ring) -> None:
    """The inner product of two encrypted vectors, in every slot."""
    benchmark(lambda: sums.engine.sum_slots(sums.product()))


def bench_polynomial(benchmark: Callable[..., object], ring: Ring) -> None:
    """A cubic in two levels."""
    engine, x = ring.engine, ring.a
    constant, linear, quadratic, cubic = COEFFICIENTS

    def scaled(value: Ciphertext, factor: float) -> Ciphertext:
        return engine.rescale_to_next_depth(engine.multiply_scalar(value, factor))

    def product(lhs: Ciphertext, rhs: Ciphertext) -> Ciphertext:
        return engine.multiply_and_rescale(lhs, rhs)

    def circuit() -> Ciphertext:
        square = product(x, x)
        terms = (
            product(square, scaled(x, cubic)),
            scaled(square, quadratic),
            engine.align_to_depth(scaled(x, linear), 2),
        )
        return engine.add_scalar(engine.add_many(terms), constant)

    benchmark(circuit)


def bench_scores(benchmark: Callable[..., object]) -> None:
    """The demo's scores of as many samples as one ciphertext holds, at the demo's parameters."""
    generator = np.random.default_rng(20)
    config = CkksConfig.parse("slots8192_scale40_depth7_int64")
    owner = DataOwner(config)
    model = Model(generator.uniform(-0.5, 0.5, 30), 0.1, interval=16.0, slope=1.2, cubic=-0.8)
    evaluator = Evaluator(config, owner.evaluation_keys(), model)
    samples = owner.encrypt(generator.uniform(-1, 1, (samples_per_message(config), 30)))
    benchmark(lambda: evaluator.sigmoid(evaluator.linear_score(samples)))
