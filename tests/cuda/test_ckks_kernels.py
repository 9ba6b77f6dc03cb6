"""Automorphisms, inner products and rescaling on a device give the bits of the CPU's."""

from __future__ import annotations

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.native.rns_oracle import Word, ckks, each_word, radix, seen_as
from tests.native.rns_oracle import parameters as rns_parameters

VIEWS = ("contiguous", "offset", "every second", "coefficients outermost")
SHAPES = [(1, 3, 16), (3, 5, 64), (2, 3, 7, 32), (3, 8192)]
each_view = pytest.mark.parametrize("view", VIEWS)
each_shape = pytest.mark.parametrize("shape", SHAPES)


def moduli(word: Word, limbs: int) -> list[int]:
    return [word.mixed[i % len(word.mixed)] for i in range(limbs)]


def random_residues(shape: tuple[int, ...], word: Word, seed: int = 0) -> torch.Tensor:
    """Uniform below each limb's modulus, with the ends and the middle at the first coefficients."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.tensor(moduli(word, shape[-2]))[:, None]
    x = torch.randint(0, 2**62, shape, generator=generator) % q
    for k, value in enumerate((q * 0, q - 1, q // 2, q // 2 + 1)):
        x[..., k : k + 1] = value
    return x.to(word.dtype)


@each_word
@each_shape
@each_view
def test_automorphisms(device: Emulator, word: Word, shape: tuple[int, ...], view: str) -> None:
    n = shape[-1]
    params = rns_parameters(moduli(word, shape[-2]), 64, word)
    x = seen_as(random_residues(shape, word), view)
    for g in (1, 3, 5**7 % (2 * n), n + 1, 2 * n - 1):
        out = Guarded(shape, word.dtype)
        views = rows(out.tensor), rows(x)
        device("fhelium_cuda_automorphism_coefficient", word_bits(x), *views, g, parameters(params))
        assert torch.equal(out.check(), ckks.automorphism_coefficient(x, g, params))
        device("fhelium_cuda_automorphism_ntt", word_bits(x), *views, g)
        assert torch.equal(out.check(), ckks.automorphism_ntt(x, g))


@each_word
@pytest.mark.parametrize("count", [1, 3, 4, 5, 16, 17, 35])
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("g", [1, 5])
def test_inner_products(
    device: Emulator, word: Word, count: int, batch: tuple[int, ...], g: int
) -> None:
    params = rns_parameters(moduli(word, 5), 64, word)
    digits = random_residues((count, *batch, 5, 64), word)
    q = torch.tensor(moduli(word, 5))[:, None]
    digits[..., :1] = (q - 1).to(word.dtype)  # sums of the largest products
    key = random_residues((count, 2, 5, 64), word, 1)
    key[..., :1] = (q - 1).to(word.dtype)
    layout = key.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3)  # as keys are stored
    out = Guarded((2, *batch, 5, 64), word.dtype)
    device(
        "fhelium_cuda_key_switch_inner_product",
        word_bits(digits),
        rows(out.tensor),
        rows(digits),
        rows(layout),
        g,
        parameters(params),
    )
    moved = digits if g == 1 else ckks.automorphism_ntt(digits, g)
    assert torch.equal(out.check(), ckks.key_switch_inner_product(moved, key, params))


@each_word
@each_shape
@each_view
@pytest.mark.parametrize("rounding", ["nearest", "truncating"])
def test_rescaling(
    device: Emulator, word: Word, shape: tuple[int, ...], view: str, rounding: str
) -> None:
    q = moduli(word, shape[-2])
    q[0] = word.mixed[-2]
    params = rns_parameters(q, 64, word)
    x = torch.minimum(random_residues(shape, word), torch.tensor(q, dtype=word.dtype)[:, None] - 1)
    x[..., 0, 2:4] = torch.tensor([q[0] // 2, q[0] // 2 + 1], dtype=word.dtype)
    inverse = torch.tensor(
        [pow(q[0], -1, m) * radix(m, word) % m if m != q[0] else 1 for m in q[1:]],
        dtype=word.dtype,
    )
    x = seen_as(x, view)
    out = Guarded((*shape[:-2], shape[-2] - 1, shape[-1]), word.dtype)
    views = rows(out.tensor), rows(x)
    device(f"fhelium_cuda_rescale_{rounding}", word_bits(x), *views, inverse, parameters(params))
    assert torch.equal(out.check(), getattr(ckks, f"rescale_{rounding}")(x, inverse, params))
