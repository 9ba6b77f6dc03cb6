"""The demo's whole scoring function, written for torch and compiled, beside the demo's own."""

from __future__ import annotations

import numpy as np
import torch

from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.cli.logistic import BLOCK, PRESET, DataOwner, Evaluator, train


def test_the_demo_scores_compiled() -> None:
    study, config = train(), CkksConfig.parse(PRESET)
    model, owner = study.model, DataOwner(config)
    keys = owner.evaluation_keys()
    block = torch.zeros(BLOCK, dtype=torch.float64)
    block[: len(model.weights)] = torch.from_numpy(model.weights / model.interval)
    bias = model.bias / model.interval
    largest = float(block.abs().sum()) + abs(bias)

    @fc.compile(keys=[keys])
    def score(x):
        t = x * block
        for k in range(BLOCK.bit_length() - 1):
            t = t + torch.roll(t, -(1 << k))
        t = fc.assume_message_bound(t + bias, largest)
        return 0.5 + model.slope * t + model.cubic * t**3

    samples = owner.encrypt(study.features)
    by_hand = Evaluator(config, keys, model)
    expected = by_hand.sigmoid(by_hand.linear_score(samples))
    found = score(samples)
    assert found.depth == expected.depth
    assert found.noise_bound <= 1.01 * expected.noise_bound
    scores = owner.decrypt(found, len(study.features))
    polynomial = model.polynomial_score(study.features)
    assert float(np.abs(scores - polynomial).max()) < found.noise_bound
    assert np.array_equal(scores > 0.5, model.exact_score(study.features) > 0.5)
