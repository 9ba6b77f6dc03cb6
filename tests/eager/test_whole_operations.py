"""Whole operations give the bits of their compositions: shapes, depths, domains, thread counts."""

from __future__ import annotations

import warnings

import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Engine
from fhelium.backend import OperationBackend, builtin_registry
from fhelium.errors import InsecureWarning

# Digits of one, two and three limbs, uneven last digits, primes beyond 2^50, 32-bit words.
RINGS = {
    "two limbs a digit": {"depth": 4, "scale_bits": 40, "alpha": 2},
    "one digit": {"depth": 2, "scale_bits": 40, "alpha": 3},
    "a digit each": {"depth": 3, "scale_bits": 40, "alpha": 1},
    "wide base": {"depth": 3, "scale_bits": 50, "alpha": 2},
    "int32": {"depth": 4, "scale_bits": 25, "dtype_name": "int32"},
}
COMPOSED = (
    "native-ckks-key-switch",
    "native-ckks-hoisted-rotation",
    "native-ckks-product-rescale",
    "native-ckks-plaintext-product-rescale",
    "native-ckks-rescale",
)


@pytest.fixture(scope="module", params=RINGS)
def routes(request: pytest.FixtureRequest) -> tuple[Engine, Engine, dict[str, Ciphertext]]:
    """The two engines, and ciphertexts by domain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(N=512, allow_insecure=True, **RINGS[request.param])
    whole = Engine(config)
    names = [name for name in COMPOSED if name in builtin_registry().names]
    composed = Engine(config, backend=OperationBackend(builtin_registry().preferring(*names)))
    secret_key = whole.create_secret_key()
    public_key = whole.create_public_key(secret_key)
    whole.add_keys(whole.create_evaluation_keys(secret_key, steps=(1, 5, -3), conjugation=True))
    composed.add_keys(whole.keys)
    message = torch.linspace(-0.5, 0.5, 3 * config.num_slots).reshape(3, config.num_slots)
    values = {
        domain: whole.encrypt_message(message, public_key, output_domain=domain)
        for domain in ("ntt", "coefficient")
    }
    return whole, composed, values


def assert_equal(found, expected) -> None:
    many = isinstance(found, list)
    for one, other in zip(
        found if many else [found], expected if many else [expected], strict=True
    ):
        assert one.state == other.state
        assert one.data.is_contiguous()
        assert torch.equal(one.data, other.data)


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
@pytest.mark.parametrize("output_domain", ["ntt", "coefficient"])
def test_key_switches(routes, domain, output_domain) -> None:
    whole, composed, values = routes
    key = whole.keys.rotation(5)
    for depth in range(whole.config.max_depth + 1):
        x = whole.mod_switch_to_depth(values[domain], depth)
        for value in (x, x[1], x[:1], x[::2]):
            for run in (
                lambda engine, v=value: engine.rotate_with_key(v, key, output_domain=output_domain),
                lambda engine, v=value: engine.conjugate(v, output_domain=output_domain),
                lambda engine, v=value: engine.rotate_many_by_steps(
                    v, [5, 0, -3], output_domain=output_domain
                ),
            ):
                assert_equal(run(whole), run(composed))
        if depth < whole.config.max_depth:
            product = composed.square(x)
            assert_equal(
                whole.relinearize(product, output_domain=output_domain),
                composed.relinearize(product, output_domain=output_domain),
            )


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
def test_a_product_is_its_three_steps(routes, domain) -> None:
    whole, composed, values = routes
    for depth in range(whole.config.max_depth):
        x = whole.mod_switch_to_depth(values[domain], depth)
        y = whole.rotate_by_step(x, 1)
        for lhs, rhs in ((x, y), (x, x), (x[0], y[1]), (x[:1], y)):
            three = composed.multiply(lhs, rhs)
            three = composed.rescale_to_next_depth(composed.relinearize(three))
            assert_equal(whole.multiply_and_rescale(lhs, rhs), three)
            assert_equal(composed.multiply_and_rescale(lhs, rhs), three)


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
@pytest.mark.parametrize("output_domain", ["ntt", "coefficient"])
def test_a_rescaling_is_that_of_coefficients(routes, domain, output_domain) -> None:
    whole, composed, values = routes
    for depth in range(whole.config.max_depth):
        x = whole.mod_switch_to_depth(values[domain], depth)
        product = whole.multiply(x, x)  # three components
        for value in (product, product[1], product[:1], product[::2]):
            found = whole.rescale_to_next_depth(value, output_domain=output_domain)
            expected = composed.rescale_to_next_depth(value, output_domain=output_domain)
            assert_equal(found, expected)


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
def test_a_plaintext_product_is_its_two_steps(routes, domain) -> None:
    whole, composed, values = routes
    for depth in range(whole.config.max_depth):
        x = whole.mod_switch_to_depth(values[domain], depth)
        weights = torch.linspace(-1, 1, 3 * whole.config.num_slots).reshape(3, -1)
        many = whole.prepare_plaintext(weights, like=x)
        one = whole.prepare_plaintext(weights[0], like=x[0])
        for ciphertext, plaintext in ((x, many), (x, one), (x[0], one), (x[:1], many)):
            two = composed.rescale_to_next_depth(composed.multiply_plaintext(ciphertext, plaintext))
            assert_equal(whole.multiply_plaintext_and_rescale(ciphertext, plaintext), two)
            assert_equal(composed.multiply_plaintext_and_rescale(ciphertext, plaintext), two)


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
def test_a_sum_of_plaintext_products_is_that_of_its_terms(routes, domain) -> None:
    whole, _, values = routes
    x, y = values[domain], whole.rotate_by_step(values[domain], 1)
    weights = torch.linspace(-1, 1, 4 * whole.config.num_slots).reshape(4, -1)
    plaintexts = [whole.prepare_plaintext(w, like=x[0]) for w in weights]
    terms = [x, y, x[1], y]
    total = whole.sum_plaintext_products(terms, plaintexts)
    pairs = zip(terms, plaintexts, strict=True)
    products = [whole.multiply_plaintext(term, plaintext) for term, plaintext in pairs]
    assert torch.equal(total.data, whole.add_many(products).data)


def test_another_secret_key(routes) -> None:
    whole, composed, _ = routes
    old = whole.create_secret_key()
    x = whole.encrypt_message(0.5, whole.create_public_key(old))
    key = whole.create_switching_key(old, whole.create_secret_key())
    assert_equal(whole.switch_key(x, key), composed.switch_key(x, key))


def test_any_number_of_threads_gives_the_same_bits(routes) -> None:
    whole, _, values = routes
    before = torch.get_num_threads()
    expected = whole.rotate_many_by_steps(values["ntt"], [1, 5])
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            assert_equal(whole.rotate_many_by_steps(values["ntt"], [1, 5]), expected)
    finally:
        torch.set_num_threads(before)
