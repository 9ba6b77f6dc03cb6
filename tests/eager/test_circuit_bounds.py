"""Noise bounds: sound for random circuits, and not far above the errors of single operations."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhelium import Ciphertext, Engine
from fhelium.errors import BoundError, DepthExhaustedError
from tests.eager.pool import COUNT, ROTATIONS, SLOTS, in_coefficients
from tests.eager.support import largest_error, uniform

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "subtract", "multiply", "rotate", "conjugate", "add_scalar", "multiply_scalar",
             "add_plaintext", "multiply_plaintext", "negate", "align", "square", "domain"]
        ),
        st.integers(0, 7), st.integers(0, 7), st.floats(-3, 3, allow_subnormal=False),
    ),
    min_size=3, max_size=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, relinearize_first=st.booleans())
def test_random_circuits_stay_within_their_bounds(pool, steps, relinearize_first):
    """Every value of a random circuit decrypts within noise_bound, or the step was refused."""
    found = [(pool.value(k), pool.messages[k]) for k in range(COUNT)]
    for name, i, j, number in steps:
        left, right = found[i % len(found)], found[j % len(found)]
        try:
            found.append(apply(pool.engine, name, left, right, number, relinearize_first))
        except (BoundError, DepthExhaustedError):
            continue  # the promise is a refusal instead of garbage
    for value, expected in found[COUNT:]:
        assert float(expected.abs().max()) <= value.message_bound * (1 + 1e-12)
        assert largest_error(pool.keyed.decrypt(value), expected) <= value.noise_bound


Pair = tuple[Ciphertext, torch.Tensor]


def apply(
    e: Engine, name: str, left: Pair, right: Pair, number: float, relinearize_first: bool
) -> Pair:
    """Do one step of a circuit on ciphertext and message, products with all that follows them."""
    (x, m), (y, w) = left, right

    def finish(product: Ciphertext) -> Ciphertext:
        if product.components == 2:
            return e.rescale_to_next_depth(product)
        if relinearize_first:
            return e.rescale_to_next_depth(e.relinearize(product))
        return e.relinearize(e.rescale_to_next_depth(product))

    if name in ("add", "subtract", "multiply"):
        depth = max(x.depth, y.depth)
        x, y = e.align_to_depth(x, depth), e.align_to_depth(y, depth)
        if x.polynomial_domain != y.polynomial_domain:
            x, y = (in_coefficients(e, v) for v in (x, y))
        if name == "multiply":
            return finish(e.multiply(x, y)), m * w
        return (e.add(x, y), m + w) if name == "add" else (e.subtract(x, y), m - w)
    if name == "domain":
        if x.polynomial_domain == "ntt":
            return e.ntt_domain_to_coefficient_domain(x), m
        return e.coefficient_domain_to_ntt_domain(x), m
    if name == "align":
        return e.align_to_depth(x, x.depth + 1), m
    step = ROTATIONS[int(abs(number) * 100) % len(ROTATIONS)]
    clear = w * number
    return {
        "rotate": lambda: (e.rotate_by_step(x, step), torch.roll(m, step)),
        "conjugate": lambda: (e.conjugate(x), m.conj().resolve_conj()),
        "negate": lambda: (e.negate(x), -m),
        "square": lambda: (finish(e.square(x)), m * m),
        "add_scalar": lambda: (e.add_scalar(x, number), m + number),
        "multiply_scalar": lambda: (finish(e.multiply_scalar(x, number)), m * number),
        "add_plaintext": lambda: (
            e.add_plaintext(x, e.prepare_plaintext(clear, x, "add")), m + clear),
        "multiply_plaintext": lambda: (
            finish(e.multiply_plaintext(x, e.prepare_plaintext(clear, x))), m * clear),
    }[name]()  # fmt: skip


# A bound holds with probability 1 - 2^-50 for each slot. For a product of two Gaussians, which
# rounding error times secret is, that is 22.5 deviations, and 20,000 slots reach about 7 of them.
LOOSEST_BITS = 4.5


def test_bounds_of_elementary_operations_are_tight(pool, record_property):
    e, keyed = pool.engine, pool.keyed
    m, w = uniform(2, 40, SLOTS, seed=31)
    x, y = (keyed.encrypt(v, output_domain="ntt") for v in (m, w))
    factor, term = e.prepare_plaintext(w, x, message_bound=1.0), e.prepare_plaintext(w, x, "add")
    product = e.multiply(x, y)
    linear = e.relinearize(product)
    results = {
        "fresh": (x, m),
        "add": (e.add(x, y), m + w),
        "negate": (e.negate(x), -m),
        "multiply": (product, m * w),
        "relinearize": (linear, m * w),
        "rescale": (e.rescale_to_next_depth(linear), m * w),
        "rotate": (e.rotate_by_step(x, 3), torch.roll(m, 3, -1)),
        "conjugate": (e.conjugate(x), m),
        "align": (e.align_to_depth(x, 1), m),
        "mod_switch": (e.mod_switch_to_depth(x, 2), m),
        "add_scalar": (e.add_scalar(x, 0.3), m + 0.3),
        "multiply_scalar": (e.multiply_scalar(x, 0.7), m * 0.7),
        "add_plaintext": (e.add_plaintext(x, term), m + w),
        "multiply_plaintext": (e.multiply_plaintext(x, factor), m * w),
    }
    for name, (value, expected) in results.items():
        error = largest_error(keyed.decrypt(value), expected)
        bits = math.log2(value.noise_bound / error)
        record_property(name, round(bits, 2))
        assert 0 < bits < LOOSEST_BITS, (name, bits)
