"""The demo's job: train a classifier in the clear, then score a test set that stays encrypted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fhelium.config import CkksConfig, Preset
from fhelium.eager import DecryptPolicy, Engine
from fhelium.values import Ciphertext, EvaluationKeys

PRESET = Preset.slots8192_scale40_depth7_int64
BLOCK = 32
"""Slots of one sample: its 30 features and two zeros, a power of two for the slot sum."""

Progress = Callable[[str, int, int], None]
"""Called with (step, parts done, parts in all) when a step starts, moves on and ends."""


@dataclass(frozen=True)
class Model:
    """A trained logistic regression whose sigmoid is a polynomial of degree 3.

    The linear score is z = weights x + bias; with t = z / interval the polynomial is
    p(t) = 1/2 + slope t + cubic t^3.

    Args:
        weights: One weight a feature, float64.
        bias: Added to the weighted sum.
        interval: The polynomial was fitted for z in [-interval, interval].
        slope: Coefficient of t.
        cubic: Coefficient of t^3.
    """

    weights: np.ndarray
    bias: float
    interval: float
    slope: float
    cubic: float

    def exact_score(self, features: np.ndarray) -> np.ndarray:
        """Return the sigmoid of the linear score, in float64."""
        return 1 / (1 + np.exp(-(features @ self.weights + self.bias)))

    def polynomial_score(self, features: np.ndarray) -> np.ndarray:
        """Return what the encrypted computation should give, in float64."""
        t = (features @ self.weights + self.bias) / self.interval
        return 0.5 + self.slope * t + self.cubic * t**3


@dataclass(frozen=True)
class Scaling:
    """How a measurement becomes a feature in [-1, 1], so that every message obeys a bound of 1.

    Args:
        mean: Of each measurement over the training data.
        deviation: Its standard deviation there.
    """

    mean: np.ndarray
    deviation: np.ndarray

    def features(self, measurements: np.ndarray) -> np.ndarray:
        """Centre by the mean, divide by two deviations and clip to [-1, 1]."""
        return np.clip((measurements - self.mean) / (2 * self.deviation), -1, 1)


@dataclass(frozen=True)
class Study:
    """A trained model and the test set it has not seen.

    Args:
        model: Trained on the other part of the data.
        scaling: From measurements to features, by the training data.
        names: Of the measurements.
        measurements: [sample, feature], as in the data set.
        labels: [sample], 1 for benign.
    """

    model: Model
    scaling: Scaling
    names: tuple[str, ...]
    measurements: np.ndarray
    labels: np.ndarray

    @property
    def features(self) -> np.ndarray:
        """Return what is encrypted: [sample, feature], each in [-1, 1]."""
        return self.scaling.features(self.measurements)


def train() -> Study:
    """Train on 60 % of scikit-learn's breast-cancer data and keep the rest for the test.

    The polynomial is the least-squares fit of the sigmoid over a quarter more than the training
    scores need.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    data: Any = load_breast_cancer()
    labels = np.asarray(data.target)
    train_x, test_x, train_y, test_y = map(
        np.asarray,
        train_test_split(data.data, labels, test_size=0.4, stratify=labels, random_state=0),
    )
    scaling = Scaling(train_x.mean(axis=0), train_x.std(axis=0))
    features = scaling.features(train_x)
    fitted = LogisticRegression(C=0.03, max_iter=1000).fit(features, train_y)

    interval = 1.25 * float(np.abs(fitted.decision_function(features)).max())
    t = np.linspace(-1, 1, 2001)
    target = 1 / (1 + np.exp(-interval * t)) - 0.5
    (slope, cubic), *_ = np.linalg.lstsq(np.stack([t, t**3], axis=1), target, rcond=None)
    model = Model(
        fitted.coef_[0], float(fitted.intercept_[0]), interval, float(slope), float(cubic)
    )
    return Study(model, scaling, tuple(data.feature_names), test_x, test_y)


def evaluation_steps() -> list[int]:
    """Return the rotations of a sum over a block of slots."""
    return [-(1 << k) for k in range(BLOCK.bit_length() - 1)]


def samples_per_message(config: CkksConfig) -> int:
    """Return how many samples fit into the slots of one ciphertext."""
    return config.num_slots // BLOCK


def pack(features: np.ndarray, config: CkksConfig) -> np.ndarray:
    """Return messages [batch, slot] with one sample a block, as few as hold all samples."""
    per_message = samples_per_message(config)
    batch = -(-len(features) // per_message)
    blocks = np.zeros((batch * per_message, BLOCK))
    blocks[: len(features), : features.shape[1]] = features
    return blocks.reshape(batch, -1)


def unpack(slots: torch.Tensor, count: int) -> np.ndarray:
    """Return the scores of the first samples: the first slot of each block."""
    return slots[..., ::BLOCK].reshape(-1)[:count].numpy()


class DataOwner:
    """The side that holds the secret key: it encrypts samples and decrypts scores."""

    def __init__(self, config: CkksConfig) -> None:
        self.engine = Engine(config)
        self.secret_key = self.engine.create_secret_key()
        self.public_key = self.engine.create_public_key(self.secret_key)

    def evaluation_keys(self, progress: Callable[[int, int], None] | None = None) -> EvaluationKeys:
        """Make what the evaluator needs: keys for products and for sums over a block of slots."""
        return self.engine.create_evaluation_keys(
            self.secret_key, steps=evaluation_steps(), progress=progress
        )

    def encrypt(self, features: np.ndarray) -> Ciphertext:
        """Pack one sample a block, as many ciphertexts in a batch as are needed, and encrypt."""
        message = pack(features, self.engine.config)
        return self.engine.encrypt_message(
            message, self.public_key, message_bound=1.0, output_domain="ntt"
        )

    def decrypt(
        self, scores: Ciphertext, count: int, policy: DecryptPolicy | None = None
    ) -> np.ndarray:
        """Decrypt the scores of the first samples."""
        slots = self.engine.decrypt_message(scores, self.secret_key, policy=policy, real=True)
        return unpack(slots, count)


class Evaluator:
    """The side that computes: it holds parameters, evaluation keys and the model, nothing else."""

    def __init__(self, config: CkksConfig, keys: EvaluationKeys, model: Model) -> None:
        self.engine = Engine(config)
        self.engine.add_keys(keys)
        self.model = model

    def linear_score(self, samples: Ciphertext) -> Ciphertext:
        """Compute t = (weights x + bias) / interval in the first slot of each block; depth 1."""
        engine, model = self.engine, self.model
        block = np.zeros(BLOCK)
        block[: len(model.weights)] = model.weights / model.interval
        weights = np.tile(block, engine.config.num_slots // BLOCK)
        factor = engine.prepare_plaintext(weights, like=samples, for_="multiply")
        products = engine.multiply_plaintext_and_rescale(samples, factor)
        bias = model.bias / model.interval
        t = engine.add_scalar(engine.sum_slots(products, size=BLOCK), bias)
        # Tracked is 32 times the largest weight. No feature is above 1, so the sum of the weights'
        # sizes is a bound as well, and a tighter one.
        return engine.assume_message_bound(t, float(np.abs(block).sum()) + abs(bias))

    def sigmoid(self, t: Ciphertext) -> Ciphertext:
        """Compute p(t) = 1/2 + slope t + (cubic t) t^2; two depths more."""
        engine, model = self.engine, self.model
        square = engine.rescale_to_next_depth(engine.relinearize(engine.square(t)))
        scaled = engine.rescale_to_next_depth(engine.multiply_scalar(t, model.cubic))
        cube = engine.relinearize(engine.multiply(square, scaled))
        cube = engine.rescale_to_next_depth(cube)
        aligned = engine.align_to_depth(t, square.depth)
        linear = engine.rescale_to_next_depth(engine.multiply_scalar(aligned, model.slope))
        return engine.add_scalar(engine.add(linear, cube), 0.5)


@dataclass(frozen=True)
class DemoReport:
    """The figures that the demo prints.

    Args:
        preset: Name of the parameters.
        samples: Size of the test set, all of it scored.
        clear_accuracy: Of the clear model on the test set.
        encrypted_accuracy: Of the decrypted scores.
        different_predictions: Samples that the two classify differently.
        error_to_polynomial: Largest difference to the same polynomial in float64.
        raw_error_to_polynomial: The same for a decryption without covering noise.
        error_to_sigmoid: Largest difference to the exact sigmoid; the polynomial's own error.
        seconds: Wall-clock time of each step.
        nbytes: Sizes of the encrypted samples, the encrypted scores and the keys.
        evaluation_keys: How many there are.
        log2_qp: Bits of the whole modulus, special primes included.
        log2_qp_limit: The security row's limit for this ring.
        security: Name of the level.
        threads: Threads that torch uses.
    """

    preset: str
    samples: int
    clear_accuracy: float
    encrypted_accuracy: float
    different_predictions: int
    error_to_polynomial: float
    raw_error_to_polynomial: float
    error_to_sigmoid: float
    seconds: dict[str, float]
    nbytes: dict[str, int]
    evaluation_keys: int
    log2_qp: float
    log2_qp_limit: int | None
    security: str
    threads: int


def run(progress: Progress = lambda step, done, total: None) -> DemoReport:
    """Run the whole job and return its figures."""
    seconds: dict[str, float] = {}

    @contextmanager
    def step(name: str, total: int = 1) -> Iterator[Callable[[int], None]]:
        progress(name, 0, total)
        start = time.perf_counter()
        yield lambda done: progress(name, min(done, total - 1), total)
        seconds[name] = time.perf_counter() - start
        progress(name, total, total)

    with step("train"):
        study = train()
    config = CkksConfig.parse(PRESET)
    with step("keys", 8) as advance:
        owner = DataOwner(config)
        advance(2)
        keys = owner.evaluation_keys(lambda made, _: advance(2 + made))
    evaluator = Evaluator(config, keys, study.model)
    with step("encrypt"):
        samples = owner.encrypt(study.features)
    with step("evaluate", 2) as advance:
        linear = evaluator.linear_score(samples)
        advance(1)
        scores = evaluator.sigmoid(linear)
    with step("decrypt"):
        found = owner.decrypt(scores, len(study.features))
    return _report(study, owner, keys, samples, scores, found, seconds)


def _report(
    study: Study,
    owner: DataOwner,
    keys: EvaluationKeys,
    samples: Ciphertext,
    scores: Ciphertext,
    found: np.ndarray,
    seconds: dict[str, float],
) -> DemoReport:
    exact = study.model.exact_score(study.features)
    polynomial = study.model.polynomial_score(study.features)
    raw = owner.decrypt(scores, len(found), DecryptPolicy.private())
    config = owner.engine.config
    return DemoReport(
        preset=PRESET.value,
        samples=len(found),
        clear_accuracy=float(np.mean((exact > 0.5) == study.labels)),
        encrypted_accuracy=float(np.mean((found > 0.5) == study.labels)),
        different_predictions=int(np.sum((found > 0.5) != (exact > 0.5))),
        error_to_polynomial=float(np.abs(found - polynomial).max()),
        raw_error_to_polynomial=float(np.abs(raw - polynomial).max()),
        error_to_sigmoid=float(np.abs(found - exact).max()),
        seconds=seconds,
        nbytes={
            "samples": samples.nbytes,
            "scores": scores.nbytes,
            "public_key": owner.public_key.nbytes,
            "evaluation_keys": keys.nbytes,
        },
        evaluation_keys=len(keys),
        log2_qp=config.log2_qp,
        log2_qp_limit=config.log2_qp_limit,
        security=config.security,
        threads=torch.get_num_threads(),
    )
