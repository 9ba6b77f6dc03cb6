"""Whole key switches of a device give the bits of the CPU's, in eight launches at most."""

from __future__ import annotations

import ctypes
from functools import cache

import pytest
import torch

from tests.cuda.emulator import DeviceRows, Emulator, Guarded, rows, word_bits
from tests.native.ntt_cases import primitive_root
from tests.native.rns_oracle import INT32, INT64, ckks, primes
from tests.native.rns_oracle import parameters as rns_parameters

# Sizes of the primes of Q by digit, then of P: digits of one limb and of several, uneven ones,
# primes on both sides of 2^50, sums of primes beyond R.
CHAINS = {
    "two digits": (INT64, [[50, 45, 45], [45, 45, 50]], [51, 50, 51]),
    "last digit of two": (INT64, [[45, 45, 50]], [51, 50, 51]),
    "a digit each": (INT64, [[45], [45], [62]], [62]),
    "uneven digits": (INT64, [[58, 62], [45, 30], [62]], [62, 61]),
    "one digit": (INT64, [[45, 45, 45, 45, 45]], [45, 45, 45, 50, 50]),
    "large into small": (INT64, [[62, 62, 62, 62, 62], [45]], [62, 62, 62, 62, 62]),
    "int32": (INT32, [[31, 30], [28, 25], [31]], [31, 30]),
    "int32, a digit each": (INT32, [[25], [25], [28]], [31]),
}
DEGREES = [2**k for k in range(4, 14)]


class KeySwitchCall(ctypes.Structure):
    """The structure of this name in csrc/ckks/cuda_kernels.h."""

    _fields_ = (
        ("tables", ctypes.c_void_p),
        ("limbs", ctypes.c_int64),
        ("specials", ctypes.c_int64),
        ("digits", ctypes.c_int64),
        ("twiddles", ctypes.c_void_p),
        ("twiddle_stride", ctypes.c_int64),
        ("degree", ctypes.c_int64),
        ("batches", ctypes.c_int64),
        ("from_ntt", ctypes.c_int64),
        ("to_ntt", ctypes.c_int64),
        ("rescale", ctypes.c_int64),
        ("workspace", ctypes.c_void_p),
    )


class Ring:
    """Everything that a key switch reads, and operands without meaning."""

    def __init__(self, name: str, degree: int) -> None:
        word, digits, special = CHAINS[name]
        bits = [b for digit in digits for b in digit] + special
        stock = {b: list(primes(b, 12, degree)) for b in set(bits)}
        self.word, self.degree, self.specials = word, degree, len(special)
        self.moduli = [stock[b].pop() for b in bits]
        roots = torch.tensor([primitive_root(q, degree) for q in self.moduli], dtype=word.dtype)
        self.params = rns_parameters(self.moduli, degree, word)
        bounds = torch.tensor([0, *map(len, digits)]).cumsum(0)
        self.digits = len(digits)
        self.tables = ckks.key_switch_tables(bounds, self.specials, self.params, word.dtype)
        ntt = torch.ops.fhelium_ntt_ops
        self.ntt_tables = ntt.ntt_tables(roots, degree, self.params)
        self.pairs = ntt.compact_twiddles(roots, degree, self.params)

    @property
    def q_limbs(self) -> int:
        return len(self.moduli) - self.specials

    def residues(self, *batch: int, seed: int = 0, special: bool = False) -> torch.Tensor:
        limbs = len(self.moduli) if special else self.q_limbs
        generator = torch.Generator().manual_seed(seed)
        q = torch.tensor(self.moduli[:limbs])[:, None]
        x = torch.randint(0, 2**62, (*batch, limbs, self.degree), generator=generator) % q
        x[..., 0, :2] = q[0] // 2
        return x.to(self.word.dtype)

    def key(self, seed: int) -> torch.Tensor:
        """Random words in the order in which keys are stored."""
        key = self.residues(self.digits, 2, seed=seed, special=True)
        return key.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3)


@cache
def ring(name: str, degree: int) -> Ring:
    return Ring(name, degree)


class Switch:
    """The two steps on a device."""

    def __init__(self, device: Emulator, ring: Ring, switched: torch.Tensor, **flags: bool) -> None:
        self.device, self.ring, self.switched = device, ring, switched
        self.bits, self.batch = word_bits(switched), switched.shape[:-2]
        self.call = KeySwitchCall(
            ring.tables.data_ptr(),
            len(ring.moduli),
            ring.specials,
            ring.digits,
            ring.pairs.data_ptr(),
            ring.pairs.stride(0),
            ring.degree,
            self.batch.numel(),
            **{name: int(value) for name, value in flags.items()},
        )
        words = device.result("fhelium_cuda_key_switch_words", self.bits, self.call)
        self.workspace = Guarded((words,), switched.dtype)
        self.call.workspace = self.workspace.tensor.data_ptr()

    def raise_digits(self) -> Switch:
        arguments = self.bits, self.call, rows(self.switched)
        self.device("fhelium_cuda_key_switch_raise", *arguments)
        return self

    def finish(self, key: torch.Tensor, g: int, *kept: torch.Tensor) -> torch.Tensor:
        limbs = self.ring.q_limbs - self.call.rescale
        out = Guarded((2, *self.batch, limbs, self.ring.degree), key.dtype)
        added: list[DeviceRows | None] = [*map(rows, kept), None][:2]
        arguments = (rows(out.tensor), rows(self.switched), rows(key), *added, g)
        self.device("fhelium_cuda_key_switch_finish", self.bits, self.call, *arguments)
        self.workspace.check()
        return out.check()


def check_all(device: Emulator, ring: Ring, batch: tuple[int, ...], *, ins: bool, outs: bool):
    flags = {"from_ntt": ins, "to_ntt": outs}
    tables = ring.tables, ring.ntt_tables
    key, other = ring.key(1), ring.key(2)
    x = ring.residues(3, *batch)
    before = device.launches()
    found = Switch(device, ring, x[2], **flags).raise_digits().finish(key, 1, x[0], x[1])
    assert device.launches() - before <= 8
    assert torch.equal(found, ckks.relinearize(x, key, *tables, ins, outs))
    g = pow(5, 3, 2 * ring.degree)
    elements = [g, 2 * ring.degree - 1]
    hoisted = Switch(device, ring, x[1], **flags).raise_digits()
    for element, used, wanted in zip(
        elements,
        (key, other),
        ckks.switch_hoisted(x[:2], elements, [key, other], *tables, ins, outs),
        strict=True,
    ):
        assert torch.equal(hoisted.finish(used, element, x[0]), wanted)
        assert torch.equal(wanted, ckks.switch_galois(x[:2], element, used, *tables, ins, outs))


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("ins", [True, False], ids=["from ntt", "from coefficients"])
@pytest.mark.parametrize("outs", [True, False], ids=["to ntt", "to coefficients"])
def test_every_chain_and_domain(device: Emulator, name: str, ins: bool, outs: bool) -> None:
    check_all(device, ring(name, 512), (), ins=ins, outs=outs)
    check_all(device, ring(name, 32), (3,), ins=ins, outs=outs)


@pytest.mark.parametrize("name", ["two digits", "int32"])
@pytest.mark.parametrize("degree", DEGREES)
def test_every_degree(device: Emulator, name: str, degree: int) -> None:
    check_all(device, ring(name, degree), (1,), ins=True, outs=True)


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("degree", [16, 512, 2**13])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_are_relinearized_and_rescaled(
    device: Emulator, name: str, degree: int, batch: tuple[int, ...]
) -> None:
    here = ring(name, degree)
    if here.q_limbs < 2:
        return
    a, b = here.residues(2, *batch, seed=1), here.residues(2, *batch, seed=2)
    key = here.key(3)
    product = Guarded((3, *a.shape[1:]), a.dtype)
    switch = Switch(device, here, product.tensor[2], from_ntt=True, to_ntt=True, rescale=True)
    operands = rows(product.tensor), rows(a), rows(b)
    device("fhelium_cuda_key_switch_product", switch.bits, switch.call, *operands)
    switch.raise_digits()
    found = switch.finish(key, 1, product.check()[0], product.tensor[1])
    wanted = ckks.multiply_relinearize_rescale(a, b, key, here.tables, here.ntt_tables)
    assert torch.equal(found, wanted)
