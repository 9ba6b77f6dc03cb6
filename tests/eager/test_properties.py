"""Laws of Eager's arithmetic on the small ring: exact ones bit for bit, others within bounds."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhelium import Ciphertext, Engine
from tests.eager.pool import COUNT, NAMES, ROTATIONS, SLOTS, same, unary
from tests.eager.support import insecure_config, largest_error, unchanged, uniform

indices = st.integers(0, COUNT - 1)
domains = st.sampled_from(["coefficient", "ntt"])
quick = settings(max_examples=15, deadline=None)


# ---- laws that hold for every residue ----------------------------------------------------------


@quick
@given(i=indices, j=indices, k=indices, domain=domains, depth=st.integers(0, 3))
def test_sums_are_a_commutative_group(pool, i, j, k, domain, depth):
    e = pool.engine
    x, y, z = (pool.value(n, domain, depth) for n in (i, j, k))
    with unchanged(x, y, z):
        assert same(e.add(x, y), e.add(y, x))
        assert same(e.add(e.add(x, y), z), e.add(x, e.add(y, z)))
        assert same(e.subtract(x, y), e.add(x, e.negate(y)))
        assert same(e.negate(e.negate(x)), x)
        assert same(e.subtract(e.add(x, y), y), x)
        assert not e.subtract(x, x).data.any()
        assert same(e.multiply_scalar(x, -3, scale=1.0), e.negate(e.add(e.add(x, x), x)))
        assert same(e.multiply_scalar(x, 1, scale=1.0), x)


@quick
@given(i=indices, j=indices, k=indices, domain=domains, depth=st.integers(0, 2))
def test_products_are_bilinear(pool, i, j, k, domain, depth):
    e = pool.engine
    x, y, z = (pool.value(n, domain, depth) for n in (i, j, k))
    with unchanged(x, y, z):
        assert same(e.multiply(x, y), e.multiply(y, x))
        assert same(e.multiply(x, e.add(y, z)), e.add(e.multiply(x, y), e.multiply(x, z)))
        assert same(e.multiply(e.negate(x), y), e.negate(e.multiply(x, y)))
        assert same(e.square(x), e.multiply(x, x))
        twice = e.multiply_scalar(e.multiply(x, y), 2, scale=1.0)
        assert same(e.subtract(e.square(e.add(x, y)), e.square(e.subtract(x, y))),
                    e.multiply_scalar(twice, 2, scale=1.0))  # fmt: skip


@quick
@given(i=indices, j=indices, domain=domains, depth=st.integers(0, 2), seed=st.integers(0, 99))
def test_clear_operands_are_linear(pool, i, j, domain, depth, seed):
    e = pool.engine
    x, y = pool.value(i, domain, depth), pool.value(j, domain, depth)
    message = uniform(SLOTS, seed=seed, complex_slots=True)
    factor, term = e.prepare_plaintext(message, x), e.prepare_plaintext(message, x, "add")
    with unchanged(x, y, factor, term):
        both = e.multiply_plaintext(e.add(x, y), factor)
        assert same(both, e.add(e.multiply_plaintext(x, factor), e.multiply_plaintext(y, factor)))
        assert same(e.subtract(e.add_plaintext(x, term), term_alone(e, x, term)), x)
        assert same(e.add_scalar(e.add_scalar(x, 0.5), -0.5), x)


def term_alone(engine: Engine, like: Ciphertext, term) -> Ciphertext:
    return engine.add_plaintext(engine.subtract(like, like), term)


@quick
@given(i=indices, j=indices, domain=domains, depth=st.integers(0, 3), target=st.integers(0, 3))
def test_dropping_primes_commutes_with_sums(pool, i, j, domain, depth, target):
    e = pool.engine
    depth, target = min(depth, target), max(depth, target)
    x, y = pool.value(i, domain, depth), pool.value(j, domain, depth)
    with unchanged(x, y):
        dropped = e.mod_switch_to_depth(e.add(x, y), target)
        assert same(
            dropped, e.add(e.mod_switch_to_depth(x, target), e.mod_switch_to_depth(y, target))
        )
        between = (depth + target) // 2
        assert same(
            e.mod_switch_to_depth(e.mod_switch_to_depth(x, between), target),
            e.mod_switch_to_depth(x, target),
        )


# ---- laws of the slots -------------------------------------------------------------------------


@quick
@given(
    i=indices, first=st.sampled_from(ROTATIONS), second=st.sampled_from(ROTATIONS), domain=domains
)
def test_rotations_compose(pool, i, first, second, domain):
    e, x, message = pool.engine, pool.value(i, domain), pool.messages[i]
    with unchanged(x):
        twice = e.rotate_by_step(e.rotate_by_step(x, first), second)
        expected = torch.roll(message, first + second)
        assert largest_error(pool.keyed.decrypt(twice), expected) < twice.noise_bound
    back = e.rotate_by_step(e.rotate_by_step(x, 1), -1)
    assert largest_error(pool.keyed.decrypt(back), message) < back.noise_bound
    # Steps count modulo the slots.
    assert same(e.rotate_by_step(x, first), e.rotate_by_step(x, first + 7 * SLOTS))
    assert same(e.rotate_by_step(x, first), e.rotate_by_step(x, first - 3 * SLOTS))
    assert same(e.rotate_by_step(x, SLOTS), x)


@quick
@given(i=indices, j=indices, step=st.sampled_from(ROTATIONS), domain=domains)
def test_slot_permutations_respect_arithmetic(pool, i, j, step, domain):
    e, keyed = pool.engine, pool.keyed
    x, y = pool.value(i, domain), pool.value(j, domain)
    m, w = pool.messages[i], pool.messages[j]
    product = e.rescale_to_next_depth(e.relinearize(e.multiply(x, y)))
    for value, expected in (
        (e.conjugate(e.conjugate(x)), m),
        (e.conjugate(e.rotate_by_step(x, step)), torch.roll(m, step).conj()),
        (e.rotate_by_step(e.conjugate(x), step), torch.roll(m, step).conj()),
        (e.rotate_by_step(product, step), torch.roll(m * w, step)),
        (e.rotate_by_step(e.add(x, y), step), torch.roll(m + w, step)),
        (e.add(x, e.conjugate(x)), 2 * m.real),
        (e.subtract(x, e.conjugate(x)), 2j * m.imag),
    ):
        assert largest_error(keyed.decrypt(value), expected) < value.noise_bound


@settings(max_examples=8, deadline=None)
@given(i=indices, power=st.integers(0, 9), domain=domains)
def test_sum_slots_adds_windows(pool, i, power, domain):
    e, x, message = pool.engine, pool.value(i, domain), pool.messages[i]
    size = 2**power
    with unchanged(x):
        total = e.sum_slots(x, size=size)
    windows = torch.cat((message, message)).unfold(0, size, 1)[:SLOTS].sum(-1)
    assert largest_error(pool.keyed.decrypt(total), windows) < total.noise_bound
    assert total.message_bound == size
    if size == SLOTS:
        assert same(e.sum_slots(x), total)


@quick
@given(bits=st.floats(16, 36), depth=st.integers(0, 2), domain=domains, seed=st.integers(0, 99))
def test_any_scale_becomes_canonical(pool, bits, depth, domain, seed):
    """A prepared factor, a scalar or an alignment leads from any scale to the canonical one."""
    e, keyed, config = pool.engine, pool.keyed, pool.keyed.config
    message, weights = uniform(2, SLOTS, seed=seed)
    x = keyed.encrypt(message, depth=depth, scale=2.0**bits, output_domain=domain)
    canonical = config.scale_at(depth + 1)
    with unchanged(x):
        for value, expected in (
            (e.rescale_to_next_depth(e.multiply_scalar(x, 0.75)), message * 0.75),
            (
                e.rescale_to_next_depth(e.multiply_plaintext(x, e.prepare_plaintext(weights, x))),
                message * weights,
            ),
            (e.align_to_depth(x, depth + 1), message),
        ):
            assert value.scale == canonical
            assert largest_error(keyed.decrypt(value), expected) < value.noise_bound
            doubled = e.add(value, keyed.encrypt(message, depth=depth + 1, output_domain=domain))
            assert largest_error(keyed.decrypt(doubled), expected + message) < doubled.noise_bound


def test_equal_parameters_are_one_world(pool):
    """Values go between engines whose configs are equal, not only between those that share one."""
    e = Engine(insecure_config(depth=3, scale_bits=30, N=1024))
    assert e.config is not pool.keyed.config
    e.add_keys(pool.keyed.keys)
    x, y = pool.value(0), pool.value(1)
    assert same(
        e.relinearize(e.multiply(x, y)), pool.engine.relinearize(pool.engine.multiply(x, y))
    )
    fresh = e.encrypt_message(0.5, pool.keyed.public_key, output_domain="ntt")
    assert (
        largest_error(pool.keyed.decrypt(pool.engine.add(fresh, x)), pool.messages[0] + 0.5) < 0.01
    )


# ---- batches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_items(pool, name, domain):
    operation = unary(pool.engine)[name]
    batch = pool.values[domain, 0].reshape_batch(2, 2)
    with unchanged(batch):
        results = operation(batch)
    assert results.batch_shape == (2, 2)
    for index in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert same(results[index], operation(batch[index]))


@quick
@given(domain=domains, left=st.sampled_from([(), (1,), (3,), (2, 1), (2, 3)]),
       right=st.sampled_from([(), (1,), (3,), (2, 1), (2, 3)]))  # fmt: skip
def test_batches_broadcast_as_tensors_do(pool, domain, left, right):
    e = pool.engine
    source = pool.values[domain, 0]
    picks = [torch.arange(math.prod(s)).reshape(s) * 7 % COUNT for s in (left, right)]
    x, y = (source[pick] if pick.dim() else source[int(pick)] for pick in picks)
    assert (x.batch_shape, y.batch_shape) == (left, right)
    m, w = (pool.messages[pick] for pick in picks)
    factor, term = (e.prepare_plaintext(w, x, kind) for kind in ("multiply", "add"))
    shape = torch.broadcast_shapes(left, right)
    with unchanged(x, y, factor, term):
        for value, expected in (
            (e.add(x, y), m + w),
            (e.subtract(x, y), m - w),
            (e.multiply(x, y), m * w),
            (e.multiply_plaintext(x, factor), m * w),
            (e.add_plaintext(x, term), m + w),
        ):
            assert value.batch_shape == shape
            found = pool.keyed.decrypt(value)
            assert found.shape == (*shape, SLOTS)
            assert largest_error(found, expected) < value.noise_bound


def test_indexing_stacking_and_views(pool):
    e, batch = pool.engine, pool.values["ntt", 0]
    stacked = Ciphertext.stack([batch[k] for k in range(COUNT)])
    assert same(stacked, batch)
    assert same(e.add(batch[1:3], batch[[1, 2]]), e.add(batch, batch)[1:3])
    assert same(e.negate(batch[::2]), e.negate(batch)[::2])
    strided = Ciphertext(batch.data.transpose(0, 1).contiguous().transpose(0, 1), batch.state)
    assert not strided.data.is_contiguous()
    for operation in unary(e).values():
        assert same(operation(strided), operation(batch))
