"""The samplers of a device draw the values of the CPU, byte for byte."""

from __future__ import annotations

import math

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows
from tests.native.rns_oracle import Word, each_word
from tests.native.rns_oracle import parameters as rns_parameters

random_ops = torch.ops.fhelium_random_ops
KEY = torch.arange(7, 39, dtype=torch.uint8)
DEGREES = [2**k for k in range(1, 14)]
COUNTS = [1, 3]


@pytest.mark.parametrize("blocks", [0, 1, 3, 300])
@pytest.mark.parametrize("counter", [0, 1, 2**32 - 1])
def test_blocks(device: Emulator, blocks: int, counter: int) -> None:
    blocks = min(blocks, 2**32 - counter)
    nonce = torch.arange(12, dtype=torch.uint8)
    key = torch.cat([KEY[:1], KEY])[1:]  # at an odd address
    out = Guarded((16 * blocks,), torch.int32)
    device("fhelium_cuda_chacha20_blocks", out.tensor, key, nonce, counter, blocks)
    wanted = random_ops.chacha20_blocks(KEY, nonce, counter, blocks)
    assert torch.equal(out.check().view(torch.uint8), wanted)


@each_word
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("count", COUNTS)
def test_uniform_residues(device: Emulator, word: Word, degree: int, count: int) -> None:
    params = rns_parameters(word.mixed, degree, word)
    ids = torch.arange(3, 3 + len(word.mixed))
    out = Guarded((count, len(word.mixed), degree), word.dtype)
    device(
        "fhelium_cuda_sample_uniform",
        8 * word.dtype.itemsize,
        rows(out.tensor),
        KEY,
        ids,
        5,
        2,
        parameters(params),
    )
    wanted = random_ops.sample_uniform(KEY, ids, 5, 2, count, degree, params, word.dtype)
    assert torch.equal(out.check(), wanted)


@each_word
def test_a_wrong_prime_id_or_modulus_draws_no_residues(device: Emulator, word: Word) -> None:
    """Nothing repeats another stream, loops for ever, or stays as the memory was."""
    params = rns_parameters(word.mixed[:5], 64, word)
    wrong = params.clone()
    names = torch.ops.fhelium_rns_ops.parameter_row_names().split(",")
    wrong[names.index("reciprocal"), 4] = 0
    ids = torch.tensor([2**32 + 1, -1, 2**32 - 1, 7, 8])
    found = device.random.sample_uniform(KEY, ids, 1, 0, 3, 64, wrong, word.dtype)
    assert device.rns.count_out_of_range(found, params).tolist() == [192, 192, 192, 0, 192]
    right = random_ops.sample_uniform(KEY, ids[3:4], 1, 0, 3, 64, params[:, 3:4], word.dtype)
    assert torch.equal(found[:, 3:4], right)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["ternary", "gaussian"])
def test_small_integers(device: Emulator, name: str, degree: int, count: int) -> None:
    out = Guarded((count, degree), torch.int64)
    device(f"fhelium_cuda_sample_{name}", out.tensor, KEY, 4, count, degree)
    wanted = getattr(random_ops, f"sample_{name}")(KEY, 4, count, degree)
    assert torch.equal(out.check(), wanted)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("sigma", [1.0, 36.1, 2.0**47, 2.0**52 * 1.7, 2.0**57])
def test_rounded_gaussians(device: Emulator, sigma: float, degree: int) -> None:
    shift = max(0, math.frexp(sigma)[1] - 48)
    out = Guarded((3, degree), torch.int64)
    scaled = math.ldexp(sigma, -shift)
    device("fhelium_cuda_sample_rounded_gaussian", out.tensor, KEY, 0, 3, degree, scaled, shift)
    wanted = random_ops.sample_rounded_gaussian(KEY, sigma, 3, degree)
    assert torch.equal(out.check(), wanted)
