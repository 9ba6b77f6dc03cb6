"""Coefficient-wise kernels give the bits of the CPU operators."""

from __future__ import annotations

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.native.rns_oracle import WORDS, Word, each_word, primes, seen_as
from tests.native.rns_oracle import parameters as rns_parameters

rns = torch.ops.fhelium_rns_ops
BINARY = ("add_standard", "subtract_standard", "multiply_montgomery")
UNARY = ("negate_standard", "to_montgomery", "from_montgomery")
VIEWS = ("contiguous", "offset", "every second", "coefficients outermost")


def moduli(word: Word, limbs: int) -> list[int]:
    return [word.mixed[i % len(word.mixed)] for i in range(limbs)]


def random_residues(shape: tuple[int, ...], word: Word, seed: int) -> torch.Tensor:
    """Uniform below each limb's modulus, with its ends at the first coefficients."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.tensor(moduli(word, shape[-2]))[:, None]
    x = torch.randint(0, 2**62, shape, generator=generator) % q
    x[..., :1], x[..., 1:2] = 0, q - 1
    return x.to(word.dtype)


@each_word
@pytest.mark.parametrize("shape", [(1, 16), (3, 3, 1000), (2, 3, 5, 64), (0, 3, 16), (7, 8192)])
@pytest.mark.parametrize("view", VIEWS)
def test_coefficient_wise_operators(device: Emulator, word: Word, shape, view) -> None:
    params = rns_parameters(moduli(word, shape[-2]), 64, word)
    lhs, rhs = (seen_as(random_residues(shape, word, seed), view) for seed in (1, 2))
    for name in (*BINARY, *UNARY):
        sources = (lhs, rhs) if name in BINARY else (lhs,)
        out = Guarded(shape, word.dtype)
        views = [rows(x) for x in (out.tensor, *sources)]
        device(f"fhelium_cuda_{name}", word_bits(lhs), *views, parameters(params))
        assert torch.equal(out.check(), getattr(rns, name)(*sources, params)), name


@each_word
@pytest.mark.parametrize("name", BINARY)
def test_the_destination_may_be_a_source(device: Emulator, word: Word, name: str) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    lhs, rhs = (random_residues((3, 3, 100), word, seed) for seed in (1, 2))
    wanted = getattr(rns, name)(lhs, rhs, params)
    device(
        f"fhelium_cuda_{name}", word_bits(lhs), rows(lhs), rows(lhs), rows(rhs), parameters(params)
    )
    assert torch.equal(lhs, wanted)


@each_word
def test_integers_are_reduced(device: Emulator, word: Word) -> None:
    params = rns_parameters(moduli(word, 5), 64, word)
    integers = torch.randint(-(2**63), 2**63 - 1, (3, 500))
    integers[0, :3] = torch.tensor([-(2**63), 2**63 - 1, 0])
    out = Guarded((3, 5, 500), word.dtype)
    source = rows(integers[:, None].expand(3, 5, 500))
    device(
        "fhelium_cuda_reduce_integers",
        word_bits(out.tensor),
        rows(out.tensor),
        source,
        parameters(params),
    )
    assert torch.equal(out.check(), rns.reduce_integers(integers, params, word.dtype))


@each_word
def test_words_that_are_no_residues_are_counted(device: Emulator, word: Word) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    x = random_residues((3, 3, 5000), word, 1)
    x[:, 1, ::7] = moduli(word, 3)[1]
    x[1, 2, 40:] = -1
    out = torch.zeros(3, dtype=torch.int64)
    device("fhelium_cuda_count_out_of_range", word_bits(x), out, rows(x), parameters(params))
    assert torch.equal(out, rns.count_out_of_range(x, params))


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS, ids=str)
def test_a_whole_ring(device: Emulator, word: Word) -> None:
    params = rns_parameters(list(primes(word.sizes[-2], 5, 2**16)), 2**16, word)
    q = params[0].min().item()
    lhs, rhs = (torch.randint(0, q, (3, 5, 2**16)).to(word.dtype) for _ in range(2))
    for name in BINARY:
        out = Guarded(tuple(lhs.shape), word.dtype)
        views = [rows(x) for x in (out.tensor, lhs, rhs)]
        device(f"fhelium_cuda_{name}", word_bits(lhs), *views, parameters(params))
        assert torch.equal(out.check(), getattr(rns, name)(lhs, rhs, params))
