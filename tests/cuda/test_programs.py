"""Programs of coefficient-wise steps, a launch a step, give the bits of the CPU's one pass."""

from __future__ import annotations

import random

import pytest
import torch

from tests.cuda.emulator import Emulator
from tests.native.rings import TYPES, ring_of
from tests.native.rns_oracle import VIEWS, ckks, seen_as
from tests.native.test_coefficient_program import RESULTS, random_program


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)], ids=str)
def test_random_programs(device: Emulator, dtype: torch.dtype, view: str, batch) -> None:
    ring = ring_of(64, dtype)
    first = seen_as(ring.residues(2, *batch), view)
    second = ring.residues(3, *batch, seed=1)
    plain, constant = seen_as(ring.residues(seed=2), view), ring.residues(seed=3)[..., :1]
    for seed in range(20):
        words = random_program(random.Random(seed), list(range(6)), [6])
        arguments = [first, second], [plain, constant], words, RESULTS, ring.parameters()
        wanted = ckks.coefficient_program(*arguments)
        assert torch.equal(device.ckks.coefficient_program(*arguments), wanted)


def test_wrong_programs_are_refused_in_the_same_words(device: Emulator) -> None:
    x, params = ring_of(64, torch.int64).residues(2), ring_of(64, torch.int64).parameters()
    for words, results in (([0, 0, 0, 2], 1), ([6, 0, 0, 1], 1), ([], 1), ([0, 0, 0, 1], 65)):
        texts = []
        for operator in (ckks.coefficient_program, device.ckks.coefficient_program):
            with pytest.raises(RuntimeError, match=r"^coefficient_program: it|result") as caught:
                operator([x], [], words, results, params)
            texts.append(str(caught.value).splitlines()[0])
        assert texts[0] == texts[1]
