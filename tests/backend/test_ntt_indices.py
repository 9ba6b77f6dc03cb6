"""The index tensors of the validation transform."""

import pytest
import torch

from fhelium.backend.ntt.indices import radix2_indices
from fhelium.errors import ParameterError
from tests.native.samples import butterflies


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("degree", [2, 4, 16, 256])
def test_indices_are_those_of_the_three_loops(degree: int, inverse: bool) -> None:
    found = radix2_indices(degree, inverse=inverse)
    for tensor, expected in zip(found, butterflies(degree, inverse), strict=True):
        assert tensor.dtype == torch.int64
        assert tensor.is_contiguous()
        assert torch.equal(tensor, expected)


@pytest.mark.parametrize("inverse", [False, True])
def test_each_stage_touches_every_position_once(inverse: bool) -> None:
    even, odd, schedule = radix2_indices(256, inverse=inverse)
    positions = torch.cat([even, odd], 1).sort(dim=1).values
    assert torch.equal(positions, torch.arange(256).expand_as(positions))
    assert schedule.unique().tolist() == list(range(1, 256))


@pytest.mark.parametrize("degree", [0, 1, 3, 48, -4])
def test_the_degree_is_a_power_of_two(degree: int) -> None:
    with pytest.raises(ParameterError, match=f"degree is {degree}"):
        radix2_indices(degree)
