"""Transforms and key switches through their adapters: the CPU's bits, and what they refuse."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from tests.cuda.emulator import Emulator
from tests.cuda.test_key_switch_kernels import CHAINS, ring
from tests.native.rns_oracle import ckks, seen_as

ntt = torch.ops.fhelium_ntt_ops
device_ntt = torch.ops.emulated_fhelium_ntt_ops
device_ckks = torch.ops.emulated_fhelium_ckks_ops
VIEWS = ("contiguous", "every second", "coefficients outermost")


@pytest.mark.parametrize(
    ("operator", "schedule", "rule"),
    [
        ("ntt_compact", [4, 4], "The passes take all levels"),
        ("ntt_compact", [10, -1], "The passes take all levels"),
        ("ntt_compact", [], "The passes take all levels"),
        ("ntt_fixed_radix", [4, 3, 2], "Passes of one radix"),
        ("ntt_fixed_radix", [5, 4], "Passes of one radix"),
    ],
)
def test_wrong_schedules_are_refused(device: Emulator, operator: str, schedule, rule: str) -> None:
    here = ring("two digits", 512)
    x, levels = here.residues(), torch.tensor(schedule, dtype=torch.int64)
    params = here.params[:, : here.q_limbs]
    with pytest.raises(RuntimeError, match=rf"^{operator}: schedule is .* 9 levels\. {rule}"):
        getattr(device_ntt, operator)(x, levels, here.pairs[: here.q_limbs], params)


def test_wrong_tables_are_refused(device: Emulator) -> None:
    here = ring("two digits", 64)
    x, params = here.residues(), here.params[:, : here.q_limbs]
    pairs = here.pairs[: here.q_limbs]
    for wrong in (pairs[1:], pairs[:, 2:], pairs.int(), seen_as(pairs, "every second")):
        with pytest.raises(RuntimeError, match=r"^ntt_packed: tables (has|holds)"):
            device_ntt.ntt_packed(x, wrong, params)


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("view", VIEWS)
def test_key_switches(device: Emulator, name: str, view: str) -> None:
    here = ring(name, 64)
    x = seen_as(here.residues(3, 2), view)
    keys = [seen_as(here.key(seed), view) for seed in (1, 2)]
    host, own = (here.tables, here.ntt_tables), (here.tables, here.pairs)
    for ins, outs in ((True, True), (True, False), (False, True), (False, False)):
        before = device.launches()
        found = device_ckks.relinearize(x, keys[0], *own, ins, outs)
        assert device.launches() - before <= 8
        assert torch.equal(found, ckks.relinearize(x, keys[0], *host, ins, outs))
        before = device.launches()
        found = device_ckks.switch_galois(x[:2], 5, keys[0], *own, ins, outs)
        assert device.launches() - before <= 8
        assert torch.equal(found, ckks.switch_galois(x[:2], 5, keys[0], *host, ins, outs))
        many = device_ckks.switch_hoisted(x[:2], [1, 127], keys, *own, ins, outs)
        wanted = ckks.switch_hoisted(x[:2], [1, 127], keys, *host, ins, outs)
        assert all(torch.equal(a, b) for a, b in zip(many, wanted, strict=True))
    if here.q_limbs > 1:
        product = partial(device_ckks.multiply_relinearize_rescale, x[:2], x[1:], keys[0])
        wanted = ckks.multiply_relinearize_rescale(x[:2], x[1:], keys[0], *host)
        assert torch.equal(product(*own), wanted)


def test_a_key_of_the_full_chain_serves_a_deeper_ciphertext(device: Emulator) -> None:
    deeper = ring("last digit of two", 64)
    key, x = torch.full((2, 2, 9, 64), -1), deeper.residues(3)
    key[1:, :, 3:] = deeper.key(1)
    found = device_ckks.relinearize(x, key, deeper.tables, deeper.pairs, True, True)
    assert torch.equal(
        found, ckks.relinearize(x, key, deeper.tables, deeper.ntt_tables, True, True)
    )


def test_wrong_operands_of_a_key_switch_are_refused(device: Emulator) -> None:
    here, other = ring("two digits", 64), ring("a digit each", 64)
    x, key, flags = here.residues(3), here.key(1), (True, True)
    for arguments, fact in (
        ((x[:2], key, here.tables, here.pairs), "the input has 2 components, needed are 3"),
        ((x, key, other.tables, here.pairs), "switch_tables of shape"),
        ((x, key, here.tables, here.pairs[:-1]), "switch_tables of shape"),
        ((x, key, here.tables, here.ntt_tables), "ntt_tables has shape"),
        ((x, key[:1], here.tables, here.pairs), "the key has shape"),
        ((x, key.int(), here.tables, here.pairs), "the key has shape"),
    ):
        with pytest.raises(RuntimeError, match=f"^relinearize: {fact}"):
            device_ckks.relinearize(*arguments, *flags)
    for g in (0, 2, 129, -1):
        with pytest.raises(RuntimeError, match=f"^switch_galois: galois_element is {g} "):
            device_ckks.switch_galois(x[:2], g, key, here.tables, here.pairs, *flags)
