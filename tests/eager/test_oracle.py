"""Eager's keys and residues, read by an oracle in Python integers that shares no code with it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Engine
from fhelium.values import CkksState
from tests.eager.support import (
    PRIVATE,
    insecure_config,
    oracle_ring,
    pairs_of,
    parts_of,
    residues_of,
    secret_of,
    uniform,
)
from tests.oracle import ckks_oracle as oracle

# Chains of four and five primes in digits of one to three: an odd number of digits, a last digit
# with one prime only, and, with the depth, first digits that lose primes one by one.
SHAPES = {
    "2+2": {"depth": 3, "scale_bits": 30, "N": 1024},
    "1+1+1": {"depth": 2, "scale_bits": 30, "N": 512, "alpha": 1},
    "2+2+1": {"depth": 4, "scale_bits": 30, "N": 512, "alpha": 2},
    "3+2": {"depth": 4, "scale_bits": 40, "N": 512, "alpha": 3},
    "int32": {"depth": 3, "scale_bits": 25, "N": 512, "alpha": 2, "dtype_name": "int32"},
}
DOMAINS = ("coefficient", "ntt")
KINDS = ("relinearization", "rotation", "conjugation", "switching")
ROUTES = [(before, after) for before in DOMAINS for after in DOMAINS]


class Bench:
    """An engine, its keys, and what the oracle read off them once."""

    def __init__(self, config: CkksConfig) -> None:
        self.engine = Engine(config)
        self.ring = oracle_ring(config)
        self.secret_key = self.engine.create_secret_key()
        self.public_key = self.engine.create_public_key(self.secret_key)
        self.relinearization = self.engine.create_relinearization_key(self.secret_key)
        self.rotation = self.engine.create_rotation_key(3, self.secret_key)
        self.conjugation = self.engine.create_conjugation_key(self.secret_key)
        self.old_key = self.engine.create_secret_key()
        self.switching = self.engine.create_switching_key(self.old_key, self.secret_key)
        self.secret = secret_of(self.ring, self.secret_key)
        self.old_secret = secret_of(self.ring, self.old_key)
        self.pairs = {kind: pairs_of(self.ring, getattr(self, kind)) for kind in KINDS}

    def encrypt(self, message: torch.Tensor, **arguments) -> Ciphertext:
        return self.engine.encrypt_message(message, self.public_key, **arguments)

    def product(self, depth: int, domain: str, seed: int = 0) -> Ciphertext:
        x, y = (
            self.encrypt(
                uniform(self.engine.config.num_slots, seed=seed + k),
                depth=depth,
                output_domain=domain,
                scale=2.0**15,  # so that a product fits the base prime
            )
            for k in range(2)
        )
        return self.engine.multiply(x, y)

    def decrypt(self, value: Ciphertext) -> np.ndarray:
        """Decrypt and decode by the oracle alone."""
        polynomial = self.ring.decrypt(parts_of(self.ring, value), self.secret, value.depth)
        return oracle.decode(polynomial, value.scale)


@cache
def bench(shape: str) -> Bench:
    return Bench(insecure_config(**SHAPES[shape]))


def plus(a: list[int], b: list[int]) -> list[int]:
    return [x + y for x, y in zip(a, b, strict=True)]


def assert_residues(ring: oracle.Ring, value: Ciphertext, expected: list[list[int]]) -> None:
    """Compare a ciphertext with integer polynomials, residue by residue."""
    assert residues_of(ring, value) == [ring.residues(p, "Q", value.depth) for p in expected]


# ---- the keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_the_secret_is_one_ternary_polynomial_on_every_prime(shape):
    b = bench(shape)
    counts = np.bincount(np.array(b.secret) + 1, minlength=3)
    assert set(b.secret) <= {-1, 0, 1}
    # Binomial counts around N/3: six deviations.
    assert np.abs(counts - len(b.secret) / 3).max() < 6 * math.sqrt(len(b.secret) * 2 / 9)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_public_key_hides_zero(shape):
    b = bench(shape)
    hidden, uniform_half = (
        b.ring.integers(rows, "QP", 0, ntt=True, montgomery=True)
        for rows in b.public_key.data.tolist()
    )
    assert_error(key_error(b, hidden, uniform_half, [0] * len(hidden)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_switching_key_hides_the_other_secret_on_the_rows_of_its_digit(shape, kind):
    b = bench(shape)
    n = b.ring.degree
    source = {
        "relinearization": lambda: oracle.negacyclic(b.secret, b.secret),
        "rotation": lambda: oracle.automorphism(b.secret, pow(5, -3, 2 * n)),
        "conjugation": lambda: oracle.automorphism(b.secret, 2 * n - 1),
        "switching": lambda: b.old_secret,
    }[kind]()
    whole = math.prod(b.ring.primes)
    digits = b.ring.digits(0)
    assert len(digits) == len(b.pairs[kind])
    errors = []
    for number, ids in digits:
        product = math.prod(b.ring.primes[i] for i in ids)
        rest = whole // product
        # P modulo the primes of the digit, 0 modulo all others.
        gadget = b.ring.special_modulus * rest * pow(rest, -1, product) % whole
        message = [gadget * x for x in source]
        errors += key_error(b, *b.pairs[kind][number], message)
    assert_error(errors)


def key_error(
    b: Bench, hidden: list[int], uniform_half: list[int], message: list[int]
) -> list[int]:
    """Return b + a s - message, centred modulo QP."""
    whole = math.prod(b.ring.primes)
    product = oracle.negacyclic(uniform_half, b.secret)
    return [
        oracle.centred(x + y - m, whole) for x, y, m in zip(hidden, product, message, strict=True)
    ]


def assert_error(errors: list[int]) -> None:
    """Check for a centred Gaussian of sigma 3.19, cut at 13 sigma."""
    e = np.array(errors, dtype=float)
    assert np.abs(e).max() < 13 * 3.19
    # The sample variance has a relative deviation of sqrt(2 / count), the mean one of 1 / sqrt.
    assert abs(e.var() / 3.19**2 - 1) < 6 * math.sqrt(2 / len(e))
    assert abs(e.mean()) < 6 * 3.19 / math.sqrt(len(e))


def test_errors_and_uniform_halves_differ_between_digits_and_keys():
    b = bench("2+2+1")
    halves = [tuple(pair[1]) for pairs in b.pairs.values() for pair in pairs]
    assert len(set(halves)) == len(halves)


@pytest.mark.parametrize("shape", ["2+2", "2+2+1"])
@pytest.mark.parametrize("kind", ["public_key", *KINDS])
def test_the_uniform_half_is_the_stream_of_the_public_seed(shape, kind):
    b = bench(shape)
    key = getattr(b, kind)
    data = key.data[None] if kind == "public_key" else key.data
    stream = oracle.derive(key.public_seed, "public-seed")
    for digit in range(data.shape[0]):
        for prime_id, q in enumerate(b.ring.primes):
            expected = oracle.uniform_polynomial(stream, prime_id, digit, 1, q, b.ring.degree)
            radix = b.ring.radix(prime_id)
            assert data[digit, 1, prime_id].tolist() == [x * radix % q for x in expected]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_secret_key_encryption_is_its_seed_and_one_error(domain):
    b = bench("2+2+1")
    messages = uniform(2, b.engine.config.num_slots, seed=8)
    value = b.engine.encrypt_with_secret_key(messages, b.secret_key, depth=1, output_domain=domain)
    encoded = b.engine.encode(messages, depth=1)
    stream = oracle.derive(value.public_seed, "public-seed")
    modulus = math.prod(b.ring.moduli("Q", 1))
    errors = []
    for index in range(2):
        ids = b.ring.ids("Q", 1)
        rows = [
            oracle.uniform_polynomial(stream, i, index, 1, b.ring.primes[i], b.ring.degree)
            for i in ids
        ]
        c0, c1 = parts_of(b.ring, value[index])
        assert c1 == b.ring.integers(rows, "Q", 1, ntt=True)
        message = b.ring.integers(encoded[index].data.tolist(), "Q", 1, ntt=False)
        opened = b.ring.decrypt([c0, c1], b.secret, 1)
        errors += [oracle.centred(x - m, modulus) for x, m in zip(opened, message, strict=True)]
    assert_error(errors)


# ---- what the oracle decrypts ------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_oracle_decrypts_fresh_ciphertexts_of_every_depth(shape, domain):
    b = bench(shape)
    config = b.engine.config
    message = uniform(config.num_slots, seed=1, complex_slots=True)
    for depth in range(config.max_depth + 1):
        value = b.encrypt(message, depth=depth, output_domain=domain)
        assert_opens(b, value, message)


def assert_opens(b: Bench, value: Ciphertext, message: torch.Tensor) -> None:
    """Check the oracle's decryption against the message and against Eager's own."""
    assert value.noise_bound is not None
    found = b.decrypt(value)
    expected = message.resolve_conj().numpy()
    assert np.abs(found - expected).max() < value.noise_bound
    own = b.engine.decrypt_message(value, b.secret_key, policy=PRIVATE).numpy()
    # Exact integers on both sides: what is left is the rounding of two float64 FFTs.
    assert np.abs(found - own).max() < 1e-12 * max(1.0, np.abs(found).max())


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("shape", ["2+2", "2+2+1"])
def test_the_oracle_decrypts_results(shape, domain):
    b = bench(shape)
    e = b.engine
    slots = e.config.num_slots
    m, w = uniform(2, slots, seed=2, complex_slots=True)
    for depth in range(e.config.max_depth):
        x, y = (b.encrypt(z, depth=depth, output_domain=domain) for z in (m, w))
        product = e.multiply(x, y)
        assert product.components == 3
        linear = e.relinearize(product, b.relinearization)
        rescaled = e.rescale_to_next_depth(linear)
        results = {
            "add": (e.add(x, y), m + w),
            "subtract": (e.subtract(x, y), m - w),
            "negate": (e.negate(x), -m),
            "multiply": (product, m * w),
            "square": (e.square(x), m * m),
            "rescaled product": (e.rescale_to_next_depth(product), m * w),
            "relinearize": (linear, m * w),
            "rescale": (rescaled, m * w),
            "rotate": (e.rotate_with_key(x, b.rotation), torch.roll(m, 3)),
            "conjugate": (e.conjugate(x, b.conjugation), m.conj()),
            "mod_switch": (e.mod_switch_to_depth(x, depth + 1), m),
            "add_many": (e.add_many([x, y, x]), 2 * m + w),
            "align": (e.align_to_depth(x, e.config.max_depth), m),
            "add_scalar": (e.add_scalar(x, -0.625), m - 0.625),
            "multiply_scalar": (e.multiply_scalar(x, 0.3), m * 0.3),
            "add_plaintext": (e.add_plaintext(x, e.prepare_plaintext(w, x, "add")), m + w),
            "multiply_plaintext": (e.multiply_plaintext(x, e.prepare_plaintext(w, x)), m * w),
            "deep": (e.rotate_with_key(rescaled, b.rotation), torch.roll(m * w, 3)),
        }
        for value, expected in results.values():
            assert_opens(b, value, expected)


def test_the_oracle_decrypts_with_covering_noise_of_the_declared_width(small):
    """The guarded answer is the exact polynomial plus integers of the width that the docs say."""
    value = small.engine.encrypt_message(0.25, small.public_key)
    ring = oracle_ring(small.config)
    exact = ring.decrypt(parts_of(ring, value), secret_of(ring, small.secret_key), 0)
    covered = small.engine.decrypt(value, small.secret_key)
    found = ring.integers(covered.data.tolist(), "Q", 0, ntt=False)
    noise = np.array(plus(found, [-x for x in exact]), dtype=float)
    sigma = 3.19 * math.sqrt(128)  # wider than the noise of a fresh ciphertext in this ring
    assert abs(noise.var() / sigma**2 - 1) < 6 * math.sqrt(2 / len(noise))
    assert abs(noise.mean()) < 6 * sigma / math.sqrt(len(noise))


# ---- what the oracle recomputes, bit for bit ---------------------------------------------------


@pytest.mark.parametrize("route", ROUTES, ids=" to ".join)
@pytest.mark.parametrize("shape", SHAPES)
def test_relinearization_bit_for_bit(shape, route):
    b = bench(shape)
    before, after = route
    for depth in range(b.engine.config.max_depth + 1):
        value = b.product(depth, before)
        found = b.engine.relinearize(value, b.relinearization, output_domain=after)
        assert found.polynomial_domain == after
        c0, c1, c2 = parts_of(b.ring, value)
        k0, k1 = b.ring.switch_key(c2, b.pairs["relinearization"], depth)
        assert_residues(b.ring, found, [plus(c0, k0), plus(c1, k1)])


@pytest.mark.parametrize("route", ROUTES, ids=" to ".join)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["rotation", "conjugation"])
def test_rotation_and_conjugation_bit_for_bit(shape, route, kind):
    b = bench(shape)
    before, after = route
    n = b.ring.degree
    g = b.ring.rotation(3) if kind == "rotation" else 2 * n - 1
    method = b.engine.rotate_with_key if kind == "rotation" else b.engine.conjugate
    for depth in range(b.engine.config.max_depth + 1):
        value = b.encrypt(uniform(n // 2, seed=depth), depth=depth, output_domain=before)
        found = method(value, getattr(b, kind), output_domain=after)
        c0, c1 = (oracle.automorphism(part, g) for part in parts_of(b.ring, value))
        k0, k1 = b.ring.switch_key(c1, b.pairs[kind], depth)
        assert_residues(b.ring, found, [plus(c0, k0), k1])


@pytest.mark.parametrize("route", ROUTES, ids=" to ".join)
@pytest.mark.parametrize("shape", ["2+2+1", "3+2"])
def test_a_change_of_secret_bit_for_bit(shape, route):
    b = bench(shape)
    before, after = route
    old_public = b.engine.create_public_key(b.old_key)
    message = uniform(b.engine.config.num_slots, seed=9, complex_slots=True)
    for depth in range(b.engine.config.max_depth + 1):
        value = b.engine.encrypt_message(message, old_public, depth=depth, output_domain=before)
        found = b.engine.switch_key(value, b.switching, output_domain=after)
        assert found.key_id == b.secret_key.key_id
        c0, c1 = parts_of(b.ring, value)
        k0, k1 = b.ring.switch_key(c1, b.pairs["switching"], depth)
        assert_residues(b.ring, found, [plus(c0, k0), k1])
        assert_opens(b, found, message)


@pytest.mark.parametrize("route", ROUTES, ids=" to ".join)
@pytest.mark.parametrize("shape", SHAPES)
def test_rescale_bit_for_bit(shape, route):
    b = bench(shape)
    before, after = route
    for depth in range(b.engine.config.max_depth):
        value = b.engine.multiply_scalar(b.product(depth, before), 1.0)
        found = b.engine.rescale_to_next_depth(value, output_domain=after)
        expected = [b.ring.rescale(part, depth) for part in parts_of(b.ring, value)]
        assert_residues(b.ring, found, expected)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("shape", SHAPES)
def test_mod_switch_and_align_bit_for_bit(shape, domain):
    b = bench(shape)
    config = b.engine.config
    message = uniform(config.num_slots, seed=5)
    for depth in range(config.max_depth + 1):
        value = b.encrypt(message, depth=depth, output_domain=domain)
        parts = parts_of(b.ring, value)
        for target in range(depth, config.max_depth + 1):
            assert_residues(b.ring, b.engine.mod_switch_to_depth(value, target), parts)
            if target == depth:
                continue
            factor = config.scale_at(target) * config.q_primes[target - 1] / value.scale
            rows = [b.ring.residues([round(factor) * x for x in p], "Q", target - 1) for p in parts]
            scaled = [oracle.centred_crt(r, b.ring.moduli("Q", target - 1)) for r in rows]
            expected = [b.ring.rescale(part, target - 1) for part in scaled]
            assert_residues(b.ring, b.engine.align_to_depth(value, target), expected)


def crafted(b: Bench, depth: int, components: int, near: int, modulus: int) -> Ciphertext:
    """Make a ciphertext whose integers modulo `modulus` lie around `near`, and at the ends."""
    ring, config = b.ring, b.engine.config
    whole = math.prod(ring.moduli("Q", depth))
    offsets = [0, 1, -1, 2, -2, 3, -3]
    values = [
        (near + offsets[i % len(offsets)] + (i // len(offsets)) % 5 * modulus) % whole
        for i in range(ring.degree)
    ]
    values[:4] = [0, whole - 1, (whole - 1) // 2, (whole + 1) // 2]
    rows = torch.tensor(ring.residues(values, "Q", depth), dtype=config.dtype)
    # A rescale leaves a scale of at least 1; where none can follow, any scale is as good.
    scale = 2.0 * config.q_primes[depth] if depth < config.max_depth else 2.0
    state = CkksState.fresh(
        config, depth=depth, components=components, scale=scale, key_id=b.secret_key.key_id
    )
    return Ciphertext(rows.expand(components, -1, -1).clone(), state)


@pytest.mark.parametrize("shape", SHAPES)
def test_digits_around_one_half_of_their_modulus_bit_for_bit(shape):
    """x next to D/2 decides on which side the centred representative lies."""
    b = bench(shape)
    for depth in range(b.engine.config.max_depth + 1):
        for _, ids in b.ring.digits(depth):
            product = math.prod(b.ring.primes[i] for i in ids)
            value = crafted(b, depth, 3, (product - 1) // 2, product)
            found = b.engine.relinearize(value, b.relinearization)
            c0, c1, c2 = parts_of(b.ring, value)
            k0, k1 = b.ring.switch_key(c2, b.pairs["relinearization"], depth)
            assert_residues(b.ring, found, [plus(c0, k0), plus(c1, k1)])


@pytest.mark.parametrize("shape", SHAPES)
def test_rescaling_around_one_half_of_the_prime_bit_for_bit(shape):
    b = bench(shape)
    for depth in range(b.engine.config.max_depth):
        q = b.ring.primes[depth]
        value = crafted(b, depth, 2, (q - 1) // 2, q)
        found = b.engine.rescale_to_next_depth(value)
        expected = [b.ring.rescale(part, depth) for part in parts_of(b.ring, value)]
        assert_residues(b.ring, found, expected)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_batch_switches_as_its_items_do(domain):
    b = bench("2+2+1")
    messages = uniform(2, 2, b.engine.config.num_slots, seed=6)
    batch = b.encrypt(messages, depth=1, output_domain=domain)
    found = b.engine.rotate_with_key(batch, b.rotation)
    assert found.batch_shape == (2, 2)
    g = b.ring.rotation(3)
    for i in range(2):
        for j in range(2):
            c0, c1 = (oracle.automorphism(p, g) for p in parts_of(b.ring, batch[i, j]))
            k0, k1 = b.ring.switch_key(c1, b.pairs["rotation"], 1)
            assert_residues(b.ring, found[i, j], [plus(c0, k0), k1])


def test_the_default_preset_bit_for_bit(default):
    """One relinearization with four digits and one rotation with three, at N = 2^14."""
    ring = oracle_ring(default.config)
    engine = default.engine
    x, y = engine.encrypt_message(
        uniform(2, default.config.num_slots, seed=7), default.public_key, output_domain="ntt"
    ).unbind()
    product = engine.multiply(x, y)
    c0, c1, c2 = parts_of(ring, product)
    k0, k1 = ring.switch_key(c2, pairs_of(ring, engine.keys.relinearization()), 0)
    linear = engine.relinearize(product)
    assert_residues(ring, linear, [plus(c0, k0), plus(c1, k1)])
    rescaled = engine.rescale_to_next_depth(linear)
    parts = parts_of(ring, linear)
    assert_residues(ring, rescaled, [ring.rescale(part, 0) for part in parts])

    deep = engine.ntt_domain_to_coefficient_domain(engine.mod_switch_to_depth(rescaled, 3))
    assert len(ring.digits(3)) == 3
    g = ring.rotation(1)
    c0, c1 = (oracle.automorphism(part, g) for part in parts_of(ring, deep))
    k0, k1 = ring.switch_key(c1, pairs_of(ring, engine.keys.rotation(1)), 3)
    assert_residues(ring, engine.rotate_by_step(deep, 1), [plus(c0, k0), k1])
