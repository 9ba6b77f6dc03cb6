"""The transforms of a device give the bits of the CPU's."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from fhelium.backend.ntt.schedules import compact_schedule, fixed_radix_schedule
from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.native.ntt_cases import primitive_root
from tests.native.rns_oracle import WORDS, Word, each_word, primes
from tests.native.rns_oracle import parameters as rns_parameters

ntt = torch.ops.fhelium_ntt_ops
DEGREES = [2**k for k in range(4, 14)]


class Ring:
    """Parameters and tables of three primes, the largest among them."""

    def __init__(self, degree: int, word: Word) -> None:
        bits = (word.sizes[-1], word.sizes[-2], 45 if word.dtype == torch.int64 else 27)
        self.degree, self.word = degree, word
        self.primes = [primes(b, 1, degree)[0] for b in bits]
        roots = [primitive_root(q, degree) for q in self.primes]
        arguments = torch.tensor(roots, dtype=word.dtype), degree
        self.params = rns_parameters(self.primes, degree, word)
        self.tables = ntt.ntt_tables(*arguments, self.params)
        self.pairs = ntt.compact_twiddles(*arguments, self.params)
        self.twiddles = ntt.radix2_twiddles(*arguments, self.params)

    def residues(self, batch: int) -> torch.Tensor:
        """Random ones, and in the first item those that drive lazy values to their bounds."""
        generator = torch.Generator().manual_seed(self.degree)
        q = torch.tensor(self.primes)[:, None]
        x = torch.randint(0, 2**62, (batch, 3, self.degree), generator=generator) % q
        x[0, :, : self.degree // 2] = q - 1
        return x.to(self.word.dtype)


@cache
def ring(degree: int, word: Word) -> Ring:
    return Ring(degree, word)


def transform(device: Emulator, ring: Ring, x, schedule: torch.Tensor, *, inverse: bool):
    out = Guarded(tuple(x.shape), x.dtype)
    device(
        "fhelium_cuda_ntt",
        word_bits(x),
        int(inverse),
        rows(out.tensor),
        rows(x),
        ring.pairs,
        ring.pairs.stride(0),
        schedule,
        len(schedule),
    )
    return out.check()


def check_both_ways(device: Emulator, ring: Ring, x, schedule: torch.Tensor) -> None:
    values = ntt.ntt_packed(x, ring.tables, ring.params)
    assert torch.equal(transform(device, ring, x, schedule, inverse=False), values)
    assert torch.equal(transform(device, ring, values, schedule, inverse=True), x)


@each_word
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("batch", [1, 3])
def test_compact_passes(device: Emulator, word: Word, degree: int, batch: int) -> None:
    here = ring(degree, word)
    check_both_ways(device, here, here.residues(batch), compact_schedule(degree))


@each_word
@pytest.mark.parametrize("radix", [2, 4, 8, 16, 32, 64, 128, 256])
@pytest.mark.parametrize("degree", [16, 64, 512, 2**11])
def test_passes_of_one_radix(device: Emulator, word: Word, degree: int, radix: int) -> None:
    here = ring(degree, word)
    check_both_ways(device, here, here.residues(1), fixed_radix_schedule(degree, radix))


def test_indices_outside_the_ring_reach_no_foreign_memory(device: Emulator) -> None:
    here = ring(64, WORDS[0])
    out = Guarded((1, 3, 64), torch.int64)
    wild = torch.randint(-(2**62), 2**62, (3, 6, 32))
    x = here.residues(1)
    views = rows(out.tensor), rows(x)
    arguments = (*wild, here.twiddles[0], parameters(here.params))
    device("fhelium_cuda_ntt_indexed", 64, 0, *views, *arguments)
    out.check()


@pytest.mark.slow
@each_word
@pytest.mark.parametrize("degree", [2**14, 2**15, 2**16, 2**17, 2**18])
def test_large_rings(device: Emulator, word: Word, degree: int) -> None:
    here = ring(degree, word)
    check_both_ways(device, here, here.residues(1), compact_schedule(degree))


def test_two_passes_serve_the_sizes_of_production(device: Emulator) -> None:
    here = ring(2**13, WORDS[0])
    before = device.launches()
    transform(device, here, here.residues(1), compact_schedule(2**13), inverse=False)
    assert device.launches() - before == 2
    assert [len(compact_schedule(2**k)) for k in range(13, 18)] == [2] * 5
