"""Rescaling of NTT values and sums of plaintext products give the bits of the CPU's."""

from __future__ import annotations

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.cuda.test_key_switch_kernels import DEGREES, Ring, ring
from tests.native.rns_oracle import INT32, ckks, each_word, radix, seen_as

RINGS = ["uneven digits", "int32", "one digit"]


def inverse_of_the_first(here: Ring) -> torch.Tensor:
    first, *others = here.moduli[: here.q_limbs]
    values = [pow(first, -1, q) * radix(q, here.word) % q for q in others]
    return torch.tensor(values, dtype=here.word.dtype)


@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("batch", [1, 3])
def test_values_are_rescaled(device: Emulator, name: str, degree: int, batch: int) -> None:
    here = ring(name, degree)
    limbs, inverse = here.q_limbs, inverse_of_the_first(here)
    params, tables = here.params[:, :limbs], here.ntt_tables[:limbs]
    x, plaintext = here.residues(2, batch), here.residues(batch, seed=1)
    spread = plaintext.expand(x.shape)
    workspace = Guarded((2 * batch, degree), x.dtype)
    for factor, wanted in (
        (None, ckks.rescale_ntt(x, inverse, tables, params)),
        (
            rows(spread),
            ckks.multiply_plaintext_rescale(x, plaintext, inverse, tables, params),
        ),
    ):
        out = Guarded((2, batch, limbs - 1, degree), x.dtype)
        before = device.launches()
        device(
            "fhelium_cuda_rescale_ntt",
            word_bits(x),
            rows(out.tensor),
            rows(x),
            factor,
            inverse,
            here.pairs,
            here.pairs.stride(0),
            parameters(params),
            workspace.tensor,
        )
        assert device.launches() - before <= 4
        workspace.check()
        assert torch.equal(out.check(), wanted)


@each_word
@pytest.mark.parametrize("count", [1, 3, 4, 8, 9, 21])
@pytest.mark.parametrize("view", ["contiguous", "every second"])
def test_sums_of_plaintext_products(device: Emulator, word, count: int, view: str) -> None:
    here = ring("int32" if word is INT32 else "large into small", 64)
    params = here.params[:, : here.q_limbs]
    x = [seen_as(here.residues(2, 3, seed=i), view) for i in range(count)]
    y = [here.residues(3, seed=100 + i) for i in range(count)]
    largest = torch.tensor(here.moduli[: here.q_limbs], dtype=word.dtype) - 1
    for term in (*x, *y):
        term[..., 3] = largest  # sums of the largest products
    out = Guarded((2, 3, here.q_limbs, 64), word.dtype)
    terms = [rows(t) for t in x]
    factors = [rows(t.expand(2, *t.shape)) for t in y]
    device(
        "fhelium_cuda_sum_plaintext_products",
        8 * word.dtype.itemsize,
        rows(out.tensor),
        (type(terms[0]) * count)(*terms),
        (type(terms[0]) * count)(*factors),
        count,
        parameters(params),
    )
    assert torch.equal(out.check(), ckks.sum_plaintext_products(x, y, params))
