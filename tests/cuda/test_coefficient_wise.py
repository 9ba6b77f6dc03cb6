"""Coefficient-wise operators give the bits of the CPU's, at whatever strides operands lie."""

from __future__ import annotations

import pytest
import torch

from tests.cuda.emulator import Emulator, Guarded, parameters, rows, word_bits
from tests.native.rns_oracle import INT32, INT64, VIEWS, Word, each_word, primes, seen_as
from tests.native.rns_oracle import parameters as rns_parameters

rns = torch.ops.fhelium_rns_ops
ckks = torch.ops.fhelium_ckks_ops
BINARY = ("add_standard", "subtract_standard", "multiply_montgomery")
UNARY = ("negate_standard", "to_montgomery", "from_montgomery")
SHAPES = [(1, 16), (3, 3, 1000), (2, 3, 5, 64), (0, 3, 16), (7, 8192)]


def moduli(word: Word, limbs: int) -> list[int]:
    """Primes of every size that the word has a path for, in turn."""
    return [word.mixed[i % len(word.mixed)] for i in range(limbs)]


def uniform(shape: tuple[int, ...], word: Word, seed: int) -> torch.Tensor:
    """Uniform below each limb's modulus, with its ends at the first coefficients."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.tensor(moduli(word, shape[-2]))[:, None]
    x = torch.randint(0, 2**62, shape, generator=generator) % q
    x[..., :1], x[..., 1:2] = 0, q - 1
    return x.to(word.dtype)


@each_word
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_two_operands_and_one(device: Emulator, word: Word, shape, view) -> None:
    params = rns_parameters(moduli(word, shape[-2]), 64, word)
    lhs, rhs = (seen_as(uniform(shape, word, seed), view) for seed in (1, 2))
    for name in (*BINARY, *UNARY):
        sources = (lhs, rhs) if name in BINARY else (lhs,)
        wanted = getattr(rns, name)(*sources, params)
        assert torch.equal(getattr(device.rns, name)(*sources, params), wanted), name
        written = seen_as(lhs, view)
        getattr(device.rns, name + "_")(written, *sources[1:], params)
        assert torch.equal(written, wanted), name


@each_word
@pytest.mark.parametrize("shape", [(3, 64), (1, 3, 64), (2, 3, 1), (3, 1)], ids=str)
def test_the_right_operand_repeats(device: Emulator, word: Word, shape) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    lhs, rhs = (
        uniform((5, 2, 3, 64), word, 1),
        uniform((*shape[:-1], 64), word, 2)[..., : shape[-1]],
    )
    for name in BINARY:
        found = getattr(device.rns, name)(lhs, rhs, params)
        assert torch.equal(found, getattr(rns, name)(lhs, rhs, params)), name


@each_word
def test_a_column_slice_of_the_parameters(device: Emulator, word: Word) -> None:
    whole = rns_parameters(moduli(word, 7), 64, word)
    lhs = uniform((3, 7, 64), word, 1)
    found = device.rns.to_montgomery(lhs[:, 2:], whole[:, 2:])
    assert torch.equal(found, rns.to_montgomery(lhs[:, 2:], whole[:, 2:]))


@each_word
def test_integers_are_reduced(device: Emulator, word: Word) -> None:
    params = rns_parameters(moduli(word, 5), 64, word)
    integers = torch.randint(-(2**63), 2**63 - 1, (3, 500))
    integers[0, :3] = torch.tensor([-(2**63), 2**63 - 1, 0])
    for source in (integers, integers.mT, integers[1]):
        found = device.rns.reduce_integers(source, params, word.dtype)
        assert torch.equal(found, rns.reduce_integers(source, params, word.dtype))


@each_word
@pytest.mark.parametrize("view", VIEWS)
def test_words_that_are_no_residues_are_counted(device: Emulator, word: Word, view) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    x = uniform((3, 3, 5000), word, 1)
    x[:, 1, ::7] = moduli(word, 3)[1]
    x[1, 2, 40:] = -1
    x = seen_as(x, view)
    found = device.rns.count_out_of_range(x, params)
    assert torch.equal(found, rns.count_out_of_range(x, params))
    assert int(found[1]) == 3 * 715


@each_word
@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("batch", [(), (3,), (3, 2)], ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_plaintexts(device: Emulator, word: Word, components, batch, view) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    ciphertext = seen_as(uniform((components, *batch, 3, 100), word, 1), view)
    for shape in ((*batch, 3, 100), (3, 100)):
        plaintext = uniform(shape, word, 2)
        for name in ("add_plaintext", "multiply_plaintext"):
            wanted = getattr(ckks, name)(ciphertext, plaintext, params)
            assert torch.equal(getattr(device.ckks, name)(ciphertext, plaintext, params), wanted)
            written = seen_as(ciphertext, view)
            getattr(device.ckks, name + "_")(written, plaintext, params)
            assert torch.equal(written, wanted)


@each_word
@pytest.mark.parametrize("batch", [(), (3,), (3, 2), (0,)], ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_ciphertext_products(device: Emulator, word: Word, batch, view) -> None:
    params = rns_parameters(moduli(word, 7), 64, word)
    lhs, rhs = (seen_as(uniform((2, *batch, 7, 300), word, seed), view) for seed in (1, 2))
    wanted = ckks.ciphertext_product(lhs, rhs, params)
    assert torch.equal(device.ckks.ciphertext_product(lhs, rhs, params), wanted)
    wanted = ckks.ciphertext_square(lhs, params)
    assert torch.equal(device.ckks.ciphertext_square(lhs, params), wanted)


def test_lazy_int32_residues_of_the_largest_primes(device: Emulator) -> None:
    """The CPU refuses these; the host of a device does not see q, so its kernels are exact."""
    q = torch.tensor(primes(31, 3))[:, None]
    params = rns_parameters(q.flatten().tolist(), 64, INT32)
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randint(0, 2**62, (3, 64), generator=generator) % (2 * q) for _ in range(2))
    a[:, :3], b[:, :2] = torch.cat([2 * q - 1, 2 * q - 1, 0 * q], 1), 2 * q - 1
    lhs, rhs = a.int(), b.int()  # 32 bits of which the first is no sign

    def words(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.long() & 0xFFFFFFFF

    assert torch.equal(words(device.rns.add_lazy(lhs, rhs, params)), (a + b) % (2 * q))
    assert torch.equal(words(device.rns.subtract_lazy(lhs, rhs, params)), (a - b) % (2 * q))
    assert torch.equal(words(device.rns.negate_lazy(lhs, params)), -a % (2 * q))
    assert torch.equal(words(device.rns.reduce_lazy(lhs, params)), a % q)
    product = words(device.rns.multiply_montgomery_lazy(lhs, rhs, params))
    inverse = torch.tensor([pow(2**32, -1, prime) for prime in q.flatten().tolist()])[:, None]
    wanted = (a % q) * (b % q) % q * inverse % q
    assert torch.equal(product, wanted)


@each_word
def test_a_launch_writes_its_result_alone(device: Emulator, word: Word) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    lhs, rhs = (uniform((3, 3, 1000), word, seed) for seed in (1, 2))
    for name in BINARY:
        out = Guarded((3, 3, 1000), word.dtype)
        views = [rows(x) for x in (out.tensor, lhs, rhs)]
        device(f"fhelium_cuda_{name}", word_bits(lhs), *views, parameters(params))
        assert torch.equal(out.check(), getattr(rns, name)(lhs, rhs, params))


@each_word
def test_one_launch_an_operator(device: Emulator, word: Word) -> None:
    params = rns_parameters(moduli(word, 3), 64, word)
    lhs = uniform((2, 3, 3, 100), word, 1)
    before = device.launches()
    device.rns.add_standard(lhs, lhs, params)
    device.ckks.add_plaintext(lhs, lhs[0], params)
    device.ckks.ciphertext_product(lhs, lhs, params)
    assert device.launches() == before + 3
    device.rns.add_standard(lhs[:, :0], lhs[:, :0], params)  # nothing to do
    assert device.launches() == before + 3


def test_more_batch_axes_than_a_kernel_follows(device: Emulator) -> None:
    params = rns_parameters(moduli(INT64, 1), 64)
    lhs = uniform((4,) * 7 + (1, 2), INT64, 1)[(slice(0, 3),) * 7]
    with pytest.raises(RuntimeError, match=r"lie in memory as 7 axes.*Call \.contiguous\(\) first"):
        device.rns.negate_standard(lhs, params)
    found = device.rns.negate_standard(lhs.contiguous(), params)
    assert torch.equal(found, rns.negate_standard(lhs, params))
