"""Basis conversions of a device give the bits of the CPU's, however close to one half."""

from __future__ import annotations

import math

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.native.basis_chains import CHAINS, MIXED, Chain, chain_of, crafted
from tests.native.rns_oracle import INT32, INT64, rns, seen_as
from tests.native.rns_oracle import parameters as rns_parameters
from tests.native.test_mixed_radix import inverses, radices


def mod_up(device: Emulator, x: torch.Tensor, chain: Chain) -> torch.Tensor:
    bounds, scale, matrix, correction, params = chain.up()
    digits = len(bounds) - 1
    out = Guarded((digits, *x.shape[:-2], len(chain.whole), x.shape[-1]), x.dtype)
    constants = bounds, digits, scale, matrix, correction
    device(
        "fhelium_cuda_mod_up",
        word_bits(x),
        rows(out.tensor),
        rows(x),
        *constants,
        parameters(params),
    )
    return out.check()


def mod_down(device: Emulator, x: torch.Tensor, chain: Chain) -> torch.Tensor:
    *constants, params = chain.down()
    out = Guarded((*x.shape[:-2], len(chain.q), x.shape[-1]), x.dtype)
    device(
        "fhelium_cuda_mod_down",
        word_bits(x),
        rows(out.tensor),
        rows(x),
        *constants,
        parameters(params),
    )
    return out.check()


def random_residues(batch: tuple[int, ...], moduli: list[int], n: int, chain: Chain):
    generator = torch.Generator().manual_seed(n)
    q = torch.tensor(moduli)[:, None]
    x = torch.randint(0, 2**62, (*batch, len(moduli), n), generator=generator) % q
    return x.to(chain.word.dtype)


def check_both(device: Emulator, chain: Chain, batch: tuple[int, ...], n: int, view: str) -> None:
    x = seen_as(random_residues(batch, chain.q, n, chain), view)
    assert torch.equal(mod_up(device, x, chain), rns.mod_up(x, *chain.up()))
    x = seen_as(random_residues(batch, chain.whole, n, chain), view)
    assert torch.equal(mod_down(device, x, chain), rns.mod_down(x, *chain.down()))


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_random_values(device: Emulator, name: str, batch: tuple[int, ...]) -> None:
    check_both(device, CHAINS[name], batch, 300, "contiguous")


@pytest.mark.parametrize("name", ["mixed sizes", "int32, mixed sizes"])
@pytest.mark.parametrize("n", [16, 64, 255, 256, 257, 2**13])
def test_lengths(device: Emulator, name: str, n: int) -> None:
    check_both(device, CHAINS[name], (1,), n, "contiguous")


@pytest.mark.parametrize("name", ["mixed sizes", "int32, mixed sizes"])
@pytest.mark.parametrize("view", ["offset", "every second", "coefficients outermost"])
def test_strided_values(device: Emulator, name: str, view: str) -> None:
    check_both(device, CHAINS[name], (2, 3), 40, view)


@pytest.mark.parametrize("name", CHAINS)
def test_values_near_one_half(device: Emulator, name: str) -> None:
    chain = CHAINS[name]
    hard = [crafted(math.prod(digit)) for digit in chain.digits]
    columns = [
        [xs[k % len(xs)] % d for xs, digit in zip(hard, chain.digits, strict=True) for d in digit]
        for k in range(max(map(len, hard)))
    ]
    x = chain.words(columns).T.contiguous()
    assert torch.equal(mod_up(device, x, chain), rns.mod_up(x, *chain.up()))
    special = [[x % p for p in chain.special] for x in crafted(math.prod(chain.special))]
    rest = random_residues((), chain.q, len(special), chain)
    x = torch.cat([rest, chain.words(special).T])
    assert torch.equal(mod_down(device, x, chain), rns.mod_down(x, *chain.down()))


@pytest.mark.parametrize("count", [2, 7, 16])
@pytest.mark.parametrize(("bits", "word"), [(45, INT64), (62, INT64), (31, INT32)])
def test_the_exact_comparison_decides(device: Emulator, bits: int, word, count: int) -> None:
    chain = chain_of([[bits] * count], [bits] * count, word)
    middle = math.prod(chain.q) // 2
    x = chain.words([[(middle + j) % d for j in range(-60, 62)] for d in chain.q])
    assert torch.equal(mod_up(device, x, chain), rns.mod_up(x, *chain.up()))


def test_wrong_borders_reach_no_foreign_memory(device: Emulator) -> None:
    bounds, *constants, params = MIXED.up()
    x = random_residues((1,), MIXED.q, 64, MIXED)
    out = Guarded((len(bounds) - 1, 1, len(MIXED.whole), 64), x.dtype)
    for wild in (bounds + 2**40, bounds - 5, bounds.flip(0)):
        views = rows(out.tensor), rows(x)
        arguments = (wild, len(bounds) - 1, *constants, parameters(params))
        device("fhelium_cuda_mod_up", 64, *views, *arguments)
        out.check()


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("view", ["contiguous", "every second"])
def test_mixed_radix(device: Emulator, name: str, view: str) -> None:
    chain = CHAINS[name]
    own, special = (rns_parameters(primes, word=chain.word) for primes in (chain.q, chain.special))
    n, count = 64, len(chain.q)
    x = random_residues((3,), chain.q, n, chain)
    middle = math.prod(chain.q) // 2
    for k in range(2):  # both sides of the middle
        x[0, :, k] = chain.words([(middle + k) % d for d in chain.q])
    x = seen_as(x, view)
    digits = Guarded((3, count, n), x.dtype)
    device(
        "fhelium_cuda_mixed_radix_digits",
        word_bits(x),
        rows(digits.tensor),
        rows(x),
        inverses(chain),
        parameters(own),
    )
    wanted = rns.mixed_radix_digits(x, inverses(chain), own)
    assert torch.equal(digits.check(), wanted)
    source, out = seen_as(wanted, view), Guarded((3, len(chain.special), n), x.dtype)
    device(
        "fhelium_cuda_mixed_radix_extend",
        word_bits(x),
        rows(out.tensor),
        rows(source),
        radices(chain),
        parameters(own),
        parameters(special),
    )
    assert torch.equal(out.check(), rns.mixed_radix_extend(wanted, radices(chain), own, special))
