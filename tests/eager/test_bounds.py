"""Bounds: close to the largest error there is, never below it, and raised before garbage."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Plaintext
from fhelium.errors import BoundError, DecryptionError, StateError
from fhelium.ir import noise
from fhelium.values import half_modulus
from tests.eager.support import PRIVATE, KeyedEngine


@pytest.fixture(scope="module", params=["small", "default"])
def ring(request, small, default) -> KeyedEngine:
    return {"small": small, "default": default}[request.param]


def message_on_bound(ring: KeyedEngine, seed: int, bound: float = 1.0) -> torch.Tensor:
    """Give a batch of messages, 32768 slots, each of them on the bound in every slot."""
    slots = ring.config.num_slots
    generator = torch.Generator().manual_seed(seed)
    turns = torch.rand(2**15 // slots, slots, dtype=torch.float64, generator=generator)
    return torch.polar(torch.full_like(turns, bound), turns * 2 * math.pi)


def encrypt(ring: KeyedEngine, message: torch.Tensor, **options) -> Ciphertext:
    return ring.encrypt(message, **{"output_domain": "ntt", **options})


def error_of(ring: KeyedEngine, value: Ciphertext | Plaintext, clear: Any) -> float:
    """Return the largest error of any slot."""
    is_clear = isinstance(value, Plaintext)
    found = ring.engine.decode(value) if is_clear else ring.decrypt(value)
    return float((found - clear).abs().max())


def slack(ring: KeyedEngine, value: Ciphertext | Plaintext, clear: Any) -> float:
    """Return how many bits the bound is above the largest error seen."""
    return math.log2(value.noise_bound / error_of(ring, value, clear))


# ---- the constants -------------------------------------------------------------------------------


def tail_of_one(t: mpmath.mpf) -> mpmath.mpf:
    """Bound P(|X|^2 > t) for E|X|^2 = 1 by Markov's inequality with the best exponent."""
    return t * mpmath.exp(1 - t) if t > 1 else mpmath.mpf(1)


def tail_of_product(t: mpmath.mpf, power: int) -> mpmath.mpf:
    """Bound P(|X|^2 |Y|^(2 power) > t): the tail of X given Y, over the tail of Y, by parts."""

    def integrand(v: mpmath.mpf) -> mpmath.mpf:
        u = t / v**power
        slope = mpmath.exp(1 - u) * (1 - u)  # of the tail of X
        return slope * -power * u / v * tail_of_one(v)

    last = t ** (mpmath.mpf(1) / power)  # beyond it the tail of X is 1
    points = [mpmath.mpf(0), *(last * k / 24 for k in range(1, 25))]
    return mpmath.quad(integrand, sorted({*points, mpmath.mpf(1)})) + tail_of_one(last)


def test_constants_are_where_the_tails_reach_the_failure_probability() -> None:
    target = mpmath.mpf(2) ** -50
    for constant, tail in (
        (noise.TAIL, tail_of_one),
        (noise.PRODUCT_TAIL, lambda t: tail_of_product(t, 1)),
        (noise.TRIPLE_TAIL, lambda t: tail_of_product(t, 2)),
    ):
        assert tail(mpmath.mpf(constant) ** 2) < target
        assert tail((mpmath.mpf(constant) * 0.998) ** 2) > target


def test_coefficient_distributions_are_no_wider_than_gaussians() -> None:
    """The tails rest on E exp(z x) <= exp(z^2 v / 2) for every coefficient."""
    sigma = mpmath.mpf("3.19")
    gaussian = {k: mpmath.exp(-(k**2) / (2 * sigma**2)) for k in range(-41, 42)}
    uniform = {mpmath.mpf(k) / 101: mpmath.mpf(1) for k in range(-50, 51)}  # k / q for q = 101
    ternary = {k: mpmath.mpf(1) for k in (-1, 0, 1)}
    for weights, variance in (
        (gaussian, sigma**2),
        (uniform, mpmath.mpf(1) / 12),
        (ternary, mpmath.mpf(2) / 3),
    ):
        total = sum(weights.values())
        for z in (0.01, 0.1, 0.5, 1, 2, 5):
            moment = sum(w * mpmath.exp(z * x) for x, w in weights.items()) / total
            assert moment <= mpmath.exp(z**2 * variance / 2) * (1 + mpmath.mpf(2) ** -40)


def test_encoding_bound_is_the_worst_case(small) -> None:
    """|sum r_k zeta^k| with |r_k| <= 1/2 is largest where every r_k has the sign of its cosine."""
    powers = torch.exp(1j * torch.pi * torch.arange(1024, dtype=torch.float64) / 1024)
    phases = torch.exp(1j * torch.linspace(0, math.pi, 4097, dtype=torch.float64))
    largest = max(float((powers * phase).real.abs().sum() / 2) for phase in phases)
    bound = noise.encoding(small.config, 1.0, 0.0).bound
    assert largest == pytest.approx(bound, rel=1e-12)


# ---- at most 4 bits above the largest error ------------------------------------------------------


def check(slack: float) -> None:
    assert 0 <= slack <= 4


def test_encode(ring) -> None:
    """The largest error is that of a message whose coefficients are all rounded to zero."""
    config = ring.engine.config
    number = 0.999 * config.N / 4 / config.scale_at(0)
    one_slot = torch.zeros(config.num_slots, dtype=torch.float64)
    one_slot[0] = number
    encoded = ring.engine.encode(one_slot)
    assert not encoded.data.any()
    check(slack(ring, encoded, one_slot))
    # Of messages that fill their slots the error is smaller: a bound that depended on the message
    # would tell about it.
    message = message_on_bound(ring, 0)
    usual = slack(ring, ring.engine.encode(message), message)
    assert 0 <= usual <= math.log2(config.N) / 2 - 1


def test_encrypt(ring) -> None:
    message = message_on_bound(ring, 1)
    check(slack(ring, encrypt(ring, message), message))
    check(slack(ring, ring.engine.encrypt(ring.engine.encode(message), ring.public_key), message))


def test_add_chains(ring) -> None:
    engine, messages = ring.engine, [message_on_bound(ring, seed) for seed in range(8)]
    fresh = [encrypt(ring, message) for message in messages]
    total = fresh[0]
    for other in fresh[1:]:
        total = engine.add(total, other)
    check(slack(ring, total, sum(messages)))
    check(slack(ring, engine.add_many(fresh), sum(messages)))
    # One value added to itself: the errors are one error, and the sum of bounds is what it takes.
    doubled = fresh[0]
    for _ in range(6):
        doubled = engine.add(doubled, doubled)
    check(slack(ring, doubled, 64 * messages[0]))
    assert abs(slack(ring, doubled, 64 * messages[0]) - slack(ring, fresh[0], messages[0])) < 0.01
    check(slack(ring, engine.subtract(fresh[0], fresh[1]), messages[0] - messages[1]))


def test_products(ring) -> None:
    engine, (a, b) = ring.engine, (message_on_bound(ring, 1), message_on_bound(ring, 2))
    x, y = encrypt(ring, a), encrypt(ring, b)
    product = engine.multiply(x, y)
    check(slack(ring, product, a * b))
    check(slack(ring, engine.square(x), a * a))
    check(slack(ring, engine.relinearize(product), a * b))
    check(slack(ring, engine.rescale_to_next_depth(engine.relinearize(product)), a * b))
    # The third component's rounding error meets s^2.
    check(slack(ring, engine.rescale_to_next_depth(product), a * b))


def test_plaintexts_and_scalars(ring) -> None:
    engine, (a, b) = ring.engine, (message_on_bound(ring, 1), message_on_bound(ring, 2))
    x = encrypt(ring, a)
    factor = engine.prepare_plaintext(b, like=x)
    term = engine.prepare_plaintext(b, like=x, for_="add")
    check(slack(ring, engine.multiply_plaintext(x, factor), a * b))
    check(slack(ring, engine.add_plaintext(x, term), a + b))
    check(slack(ring, engine.sum_plaintext_products([x, x], [factor, factor]), 2 * a * b))
    for scalar in (0.7, -3.0):
        check(slack(ring, engine.multiply_scalar(x, scalar), a * scalar))
        check(slack(ring, engine.add_scalar(x, scalar), a + scalar))
    check(slack(ring, engine.multiply_scalar(x, -3, scale=1.0), a * -3))
    # At scale 2 the factor 0.75 is rounded by the largest amount there is.
    coarse = engine.multiply_scalar(x, 0.75, scale=2.0)
    check(slack(ring, coarse, a * 0.75))


def test_rotations(ring) -> None:
    engine, message = ring.engine, message_on_bound(ring, 1)
    x = encrypt(ring, message)
    moved = torch.roll(message, 1, dims=-1)
    check(slack(ring, engine.rotate_by_step(x, 1), moved))
    check(slack(ring, engine.rotate_many_by_steps(x, [1])[0], moved))
    check(slack(ring, engine.conjugate(x), message.conj()))
    other = engine.create_secret_key()
    switched = engine.switch_key(x, engine.create_switching_key(ring.secret_key, other))
    found = engine.decrypt_message(switched, other, policy=PRIVATE)
    check(math.log2(switched.noise_bound / float((found - message).abs().max())))


def test_levels(ring) -> None:
    engine, message = ring.engine, message_on_bound(ring, 1)
    x = encrypt(ring, message)
    for depth in (1, engine.config.max_depth):
        check(slack(ring, engine.align_to_depth(x, depth), message))
        check(slack(ring, engine.mod_switch_to_depth(x, depth), message))
    check(slack(ring, engine.reinterpret_at_scale(x, x.scale / 3), 3 * message))


def test_large_messages_meet_float64(small) -> None:
    """Beyond 2^20 the float64 transforms are what limits a slot, and the bound knows."""
    engine = small.engine
    for bound in (2.0**25, 2.0**50):
        message = message_on_bound(small, 3, bound)
        encoded = engine.encode(message, message_bound=bound)
        check(slack(small, encoded, message))
        x = encrypt(small, message, message_bound=bound)
        assert 0 <= slack(small, x, message) <= 4
        assert 0 <= slack(small, engine.add_scalar(x, bound), message + bound) <= 4


def test_demo_circuit_is_within_8_bits() -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("sklearn")
    from fhelium.cli import logistic

    study = logistic.train()
    model, block = study.model, logistic.BLOCK
    owner = logistic.DataOwner(CkksConfig.parse(logistic.PRESET))
    samples = owner.encrypt(study.features)
    evaluator = logistic.Evaluator(owner.engine.config, owner.evaluation_keys(), model)
    linear = evaluator.linear_score(samples)
    score = evaluator.sigmoid(linear)

    features = np.zeros((samples.batch_shape[0] * owner.engine.config.num_slots // block, block))
    features[: len(study.features), :30] = study.features
    slots = features.reshape(samples.batch_shape[0], -1)
    weights = np.resize(np.pad(model.weights / model.interval, (0, 2)), slots.shape[1])
    shifts = (np.roll(slots * weights, -k, axis=-1) for k in range(block))
    t = sum(shifts) + model.bias / model.interval
    expected = {linear: t, score: 0.5 + model.slope * t + model.cubic * t**3}
    for ciphertext, clear in expected.items():
        found = owner.engine.decrypt_message(ciphertext, owner.secret_key, policy=PRIVATE)
        error = float(np.abs(found.numpy() - clear).max())
        assert 0 <= math.log2(ciphertext.noise_bound / error) <= 8
        assert np.abs(clear).max() <= ciphertext.message_bound


# ---- overflow ------------------------------------------------------------------------------------


def wrapped(ring: KeyedEngine, ciphertext: Ciphertext, bound: float) -> Ciphertext:
    """Give a ciphertext whose tracked message bound is a lie."""
    return Ciphertext(ciphertext.data, ciphertext.state.replace(message_bound=bound))


def test_doubling_to_the_edge(small) -> None:
    """The last accepted sum decrypts right; the next one raises, and would have been garbage."""
    engine = small.engine
    one = torch.ones(engine.config.num_slots, dtype=torch.float64)  # coefficient 0 is on the bound
    value, clear = encrypt(small, one, depth=3), one
    while 2 * (value.message_bound + value.noise_bound) * value.scale < half_modulus(
        engine.config, "Q", 3
    ):
        value, clear = engine.add(value, value), clear * 2
    with pytest.raises(BoundError) as caught:
        engine.add(value, value)
    assert caught.value.operation == "add"
    assert "half the modulus at depth 3" in caught.value.fact
    assert 2.0**8 <= value.message_bound <= 2.0**10
    for policy in (PRIVATE, None):
        found = engine.decrypt_message(value, small.secret_key, policy=policy)
        limit = value.noise_bound if policy else 2 * value.noise_bound
        assert float((found - clear).abs().max()) <= limit

    hidden = wrapped(small, value, 1.0)
    overflow = engine.add(hidden, hidden)
    lied = wrapped(small, overflow, 2.0**12)
    with pytest.raises(BoundError):
        engine.negate(engine.add_scalar(lied, 0.0))
    found = torch.view_as_real(raw_slots(small, overflow))[..., 0]
    assert float((found - 2 * clear).abs().max()) > 1


def raw_slots(ring: KeyedEngine, ciphertext: Ciphertext) -> torch.Tensor:
    """Decrypt without the check of the result's size."""
    unbounded = Ciphertext(ciphertext.data, ciphertext.state.replace(message_bound=None))
    return ring.engine.decrypt_message(unbounded, ring.secret_key, policy=PRIVATE)


@pytest.mark.parametrize("depth", [0, 3])
def test_the_edge_is_sharp(small, depth: int) -> None:
    """Multiples of 1 up to the largest that is accepted are right; the next one is garbage."""
    engine, config = small.engine, small.engine.config
    one = torch.ones(config.num_slots, dtype=torch.float64)
    value = encrypt(small, one, depth=depth, output_domain="coefficient")
    room = half_modulus(config, "Q", depth) / value.scale
    low, high = 1.0, 2.0 * room
    while high - low > max(1.0, low * 2.0**-50):
        middle = float(math.floor((low + high) / 2))
        try:
            engine.multiply_scalar(value, middle, scale=1.0)
        except BoundError:
            high = middle
        else:
            low = middle
    last = engine.multiply_scalar(value, low, scale=1.0)
    assert error_of(small, last, low) <= last.noise_bound
    assert (1 - 2.0**-15) * room - 1 < low < room  # so close is what the noise leaves
    over = float(math.ceil(room * 1.001))
    beyond = engine.multiply_scalar(wrapped(small, value, 0.1), over, scale=1.0)
    assert float((raw_slots(small, beyond) - over).abs().max()) > room


def test_powers_to_the_edge(small) -> None:
    """Squares without a rescale: scale and size grow until the modulus is full."""
    engine = small.engine
    clear = torch.full((engine.config.num_slots,), 2.0, dtype=torch.float64)
    value = encrypt(small, clear, message_bound=2.0)
    refused = False
    while not refused:
        try:
            value, clear = engine.relinearize(engine.square(value)), clear**2
        except BoundError:
            refused = True
        assert error_of(small, value, clear) <= value.noise_bound
    assert value.scale >= 2.0**60


def test_depth_to_the_edge(small) -> None:
    """Dropping primes narrows the room."""
    engine = small.engine
    clear = torch.full((engine.config.num_slots,), 2.0**20, dtype=torch.float64)
    value = encrypt(small, clear, message_bound=2.0**20)
    accepted = []
    for depth in (1, 2, 3):
        try:
            moved = engine.mod_switch_to_depth(value, depth)
        except BoundError:
            break
        accepted.append(depth)
        assert error_of(small, moved, clear) <= moved.noise_bound
    assert accepted == [1, 2]


def test_covering_noise_is_refused_where_it_would_wrap(small) -> None:
    engine, config = small.engine, small.engine.config
    value = encrypt(small, torch.ones(config.num_slots, dtype=torch.float64), depth=3)
    room = half_modulus(config, "Q", 3) / value.scale
    full = Ciphertext(
        value.data, value.state.replace(message_bound=room - value.noise_bound - 2.0**-24)
    )
    with pytest.raises(BoundError, match="covering noise"):
        engine.decrypt_message(full, small.secret_key)
    assert engine.decrypt_message(full, small.secret_key, policy=PRIVATE).shape[-1] == 512


def test_covering_noise_of_an_unscaled_product_is_refused_by_name(small) -> None:
    engine = small.engine
    clear = torch.full((engine.config.num_slots,), 0.5, dtype=torch.float64)
    value = encrypt(small, clear)
    for _ in range(3):
        value = engine.multiply_scalar(value, 1.0, scale=2.0**30)
    with pytest.raises(StateError, match=r"2\^57 is the widest.*Rescale first"):
        engine.decrypt_message(value, small.secret_key)
    for _ in range(2):
        value = engine.rescale_to_next_depth(value)
    found = engine.decrypt_message(value, small.secret_key)
    assert float((found - clear).abs().max()) < 2.0**-10


# ---- the caller's word ---------------------------------------------------------------------------


def test_an_assumption_tightens_and_never_loosens(small) -> None:
    engine, message = small.engine, message_on_bound(small, 4, 0.25)
    x = encrypt(small, message)
    assumed = engine.assume_message_bound(x, 0.25)
    assert (assumed.message_bound, assumed.noise_bound) == (0.25, x.noise_bound)
    assert torch.equal(assumed.data, x.data)
    assert x.message_bound == 1.0
    assert engine.assume_message_bound(assumed, 3).message_bound == 0.25
    assert engine.square(assumed).noise_bound < engine.square(x).noise_bound / 3.9
    check(slack(small, engine.square(assumed), message**2))
    unknown = Ciphertext(x.data, x.state.replace(message_bound=None))
    assert engine.assume_message_bound(unknown, 2).message_bound == 2.0


def test_an_assumption_makes_room(small) -> None:
    """x - x^2 on [0, 1] is at most 1/4, which the bounds of its terms cannot know."""
    engine = small.engine
    clear = torch.rand(engine.config.num_slots, dtype=torch.float64)
    value = encrypt(small, clear, message_bound=1.0)
    for _ in range(3):
        square = engine.rescale_to_next_depth(engine.relinearize(engine.square(value)))
        lowered = engine.align_to_depth(value, square.depth)
        value = engine.multiply_scalar(engine.subtract(lowered, square), 4, scale=1.0)
        assert value.message_bound == 8.0
        value = engine.assume_message_bound(value, 1.0)
        clear = 4 * (clear - clear**2)
    assert error_of(small, value, clear) <= value.noise_bound < 2.0**-5


def test_a_false_assumption_is_found_at_decryption(small) -> None:
    x = encrypt(small, message_on_bound(small, 5))
    lied = small.engine.assume_message_bound(x, 0.5)
    with pytest.raises(DecryptionError, match="assumed message_bound"):
        small.engine.decrypt_message(lied, small.secret_key)


@pytest.mark.parametrize("bound", [0, -1.0, math.inf, math.nan, True, "1", None])
def test_an_assumption_is_a_positive_number(small, bound) -> None:
    x = encrypt(small, message_on_bound(small, 6))
    with pytest.raises(StateError, match="finite number above 0"):
        small.engine.assume_message_bound(x, bound)


def test_bounds_of_clear_factors_cover_them_exactly(small) -> None:
    """The power of two is found without rounding: just above 2^40, log2 gives 40."""
    x = encrypt(small, torch.zeros(small.engine.config.num_slots, dtype=torch.float64))
    just_above = math.nextafter(2.0**40, math.inf)
    for number, bound in ((2.0**40, 2.0**40), (just_above, 2.0**41), (0.0, 0.0), (0.75, 1.0)):
        assert small.engine.prepare_plaintext(number, like=x).message_bound == bound
