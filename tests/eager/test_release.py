"""decrypt_for_release: enough noise, counted queries, and a refusal where too little would stay."""

from __future__ import annotations

import math
import threading

import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Engine
from fhelium.errors import (
    DecryptionError,
    FHEliumError,
    KeyMismatchError,
    ParameterError,
    ReleaseError,
    StateError,
)
from fhelium.values import SecretKey
from tests.eager.support import PRIVATE, insecure_config

N = 1024
SCALE = 2.0**60  # far above the error, so that a release keeps many bits


class Side:
    """An engine with fresh keys: each test has a count of its own."""

    def __init__(self, config: CkksConfig) -> None:
        self.engine = Engine(config)
        self.key: SecretKey = self.engine.create_secret_key()
        self.public_key = self.engine.create_public_key(self.key)

    def encrypt(self, seed: int = 0, rows: int = 0, **arguments) -> tuple[torch.Tensor, Ciphertext]:
        generator = torch.Generator().manual_seed(seed)
        shape = (rows, N // 2) if rows else (N // 2,)
        message = torch.rand(shape, dtype=torch.float64, generator=generator) * 2 - 1
        arguments = {"scale": SCALE, **arguments}
        return message, self.engine.encrypt_message(message, self.public_key, **arguments)

    def release(self, ciphertext: Ciphertext, **terms) -> torch.Tensor:
        terms = {"circuit": "test", "queries": 100, **terms}
        return self.engine.decrypt_for_release(ciphertext, self.key, **terms)

    def noise(self, ciphertext: Ciphertext, **terms) -> torch.Tensor:
        """Return what a release adds to the exact slots."""
        exact = self.engine.decrypt_message(ciphertext, self.key, policy=PRIVATE)
        return self.release(ciphertext, **terms) - exact


@pytest.fixture(scope="module")
def config() -> CkksConfig:
    return insecure_config(depth=2, scale_bits=40, N=N)


@pytest.fixture
def side(config) -> Side:
    return Side(config)


@pytest.mark.parametrize(("queries", "bits"), [(1, 30), (1000, 30), (7, 12.5), (1 << 20, 1)])
def test_the_noise_has_the_width_of_the_formula(side, queries: int, bits: float) -> None:
    message, ciphertext = side.encrypt(rows=16)
    added = side.noise(ciphertext, queries=max(queries, 16), statistical_bits=bits)
    queries = max(queries, 16)
    # A slot is a sum of N coefficients: complex, of variance N sigma^2.
    sigma = math.sqrt(12 * queries) * 2 ** (bits / 2) * ciphertext.noise_bound
    deviation = float(added.abs().square().mean().sqrt())
    count = added.numel()
    assert deviation == pytest.approx(sigma * math.sqrt(N), rel=5 / math.sqrt(count))
    assert float(added.mean().abs()) < 5 * deviation / math.sqrt(count)
    found = side.release(ciphertext, queries=queries, statistical_bits=bits, real=True)
    assert found.dtype == torch.float64
    assert float((found - message).abs().max()) < 6 * deviation


def test_the_error_norm_is_below_what_the_formula_hides(side) -> None:
    """t = scale noise_bound bounds the Euclidean norm of the N coefficients of the error."""
    message, ciphertext = side.encrypt(scale=2.0**40)
    exact = side.engine.decrypt_message(ciphertext, side.key, policy=PRIVATE)
    # By Parseval the norm of the coefficients is that of all N values over sqrt(N).
    norm = float((exact - message).abs().square().sum().mul(2 / N).sqrt())
    assert norm < ciphertext.noise_bound


def test_one_call_gives_one_answer_and_counts_once(side) -> None:
    _, ciphertext = side.encrypt()
    first = side.release(ciphertext, queries=1)
    for again in (ciphertext, side.engine.coefficient_domain_to_ntt_domain(ciphertext)):
        assert torch.equal(side.release(again, queries=1), first)
    same = side.engine.decrypt_for_release(ciphertext, side.key.clone(), circuit="test", queries=1)
    assert torch.equal(same, first)


def test_other_circuits_terms_and_values_have_independent_noise(side) -> None:
    _, ciphertext = side.encrypt()
    wider = ciphertext.state.replace(noise_bound=ciphertext.noise_bound * 4)
    noises = [
        side.noise(ciphertext),
        side.noise(ciphertext, circuit="test "),
        side.noise(ciphertext, circuit="more queries", queries=101),
        side.noise(ciphertext, circuit="more bits", statistical_bits=31),
        side.noise(Ciphertext(ciphertext.data, wider)),
        side.noise(side.engine.add_scalar(ciphertext, 2.0**-60)),
    ]
    rows = torch.stack([torch.cat([added.real, added.imag]) for added in noises])
    correlation = torch.corrcoef(rows) - torch.eye(len(rows))
    assert float(correlation.abs().max()) < 5 / math.sqrt(N)


def test_queries_are_counted_and_end(side) -> None:
    values = [side.encrypt(seed)[1] for seed in range(4)]
    answers = [side.release(value, queries=3) for value in values[:3]]
    with pytest.raises(ReleaseError, match="3 of 3 results of circuit 'test' are released"):
        side.release(values[3], queries=3)
    assert torch.equal(side.release(values[0], queries=3), answers[0])
    moved = side.key.clone()
    with pytest.raises(ReleaseError):
        side.engine.decrypt_for_release(values[3], moved, circuit="test", queries=3)
    side.release(values[3], circuit="another", queries=3)


def test_a_batch_spends_all_or_nothing(side) -> None:
    _, batch = side.encrypt(rows=3)
    with pytest.raises(ReleaseError, match="asked for are 3 more"):
        side.release(batch, queries=2)
    _, single = side.encrypt(9)
    side.release(single, queries=3)
    with pytest.raises(ReleaseError, match="1 of 3"):
        side.release(batch, queries=3)
    released = side.release(batch[:2], queries=3)
    assert torch.equal(side.release(batch[1], queries=3), released[1])


def test_a_circuit_keeps_its_terms(side) -> None:
    _, ciphertext = side.encrypt()
    side.release(ciphertext, queries=5)
    for change in ({"queries": 6}, {"queries": 5, "statistical_bits": 20}):
        with pytest.raises(ReleaseError, match="was first released with queries=5"):
            side.release(ciphertext, **change)
    # A release that was refused for another reason fixes nothing.
    with pytest.raises(ReleaseError, match="bits of the message would stay"):
        side.release(side.encrypt(scale=2.0**30)[1], circuit="later", queries=5)
    side.release(ciphertext, circuit="later", queries=6)


def test_threads_cannot_overspend(side) -> None:
    values = [side.encrypt(seed)[1] for seed in range(12)]
    released, refused = [], []

    def work(value: Ciphertext) -> None:
        try:
            released.append(side.release(value, queries=5))
        except ReleaseError:
            refused.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(released), len(refused)) == (5, 7)


def test_too_few_bits_are_refused_with_their_number(side) -> None:
    _, ciphertext = side.encrypt(scale=2.0**40)
    with pytest.raises(ReleaseError) as caught:
        side.release(ciphertext)
    error = caught.value
    assert f"{error.bits_left:.1f} bits of the message would stay" in error.fact
    # 22 bits are there; the release takes (log2(12 100 N) + 30) / 2 and the tail 2.7.
    expected = -math.log2(ciphertext.noise_bound) - (math.log2(1200 * N) + 30) / 2 - 2.65
    assert error.bits_left == pytest.approx(expected, abs=0.05)
    assert "lower queries or statistical_bits" in error.remedy
    side.release(ciphertext, statistical_bits=6)


def test_zero_and_wrong_results_are_not_released(side) -> None:
    engine, (_, ciphertext) = side.engine, side.encrypt()
    nothing = engine.multiply_scalar(ciphertext, 0, scale=1.0)
    with pytest.raises(ReleaseError, match="-inf bits"):
        side.release(nothing)
    with pytest.raises(DecryptionError):
        side.release(engine.assume_message_bound(ciphertext, 0.5))
    unknown = Ciphertext(ciphertext.data, ciphertext.state.replace(message_bound=None))
    with pytest.raises(StateError, match="message_bound is unknown"):
        side.release(unknown)
    other = engine.create_secret_key()
    with pytest.raises(KeyMismatchError):
        engine.decrypt_for_release(ciphertext, other, circuit="test", queries=1)


def test_noise_wider_than_the_sampler_is_refused(side) -> None:
    engine, (_, ciphertext) = side.engine, side.encrypt(scale=2.0**40)
    product = engine.multiply_scalar(ciphertext, 1.0, scale=2.0**40)
    with pytest.raises(StateError, match=r"2\^57 is the widest.*Rescale first"):
        side.release(product)


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        ({"circuit": ""}, "circuit is empty"),
        ({"circuit": 5}, "circuit is a int"),
        ({"queries": 0}, "queries is 0"),
        ({"queries": 1.5}, "queries is 1.5"),
        ({"queries": True}, "queries is True"),
        ({"queries": 1 << 41}, "queries is 2199023255552"),
        ({"statistical_bits": 0}, "statistical_bits is 0"),
        ({"statistical_bits": math.nan}, "statistical_bits is nan"),
        ({"statistical_bits": 129}, "statistical_bits is 129"),
        ({"statistical_bits": "30"}, "statistical_bits is '30'"),
    ],
)
def test_terms_that_mean_nothing_are_refused(side, terms, match) -> None:
    _, ciphertext = side.encrypt()
    with pytest.raises(ParameterError, match=match):
        side.release(ciphertext, **terms)
    with pytest.raises(FHEliumError):
        side.engine.decrypt_for_release("text", side.key, circuit="test", queries=1)
