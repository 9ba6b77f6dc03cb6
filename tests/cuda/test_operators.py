"""Every CUDA operator that has a CPU twin gives its bits, through the adapters, and its errors."""

from __future__ import annotations

import re

import pytest
import torch
from torch.utils import _pytree as pytree

from tests.cuda.emulator import ROOT, SEEDS, emulator
from tests.native import samples
from tests.native.samples import INT64, SAMPLES, TYPES

PREFIX = "emulated_"
TABLES = ("tables", "ntt_tables")
"""Arguments in the format of the device that reads them; `ntt_tables` makes them."""


def registered() -> list[str]:
    """Return the operators that the adapters register for CUDA and the CPU has too."""
    found = []
    for path in (ROOT / "csrc").glob("*/*cuda.cpp"):
        for library in path.read_text().split("FHELIUM_LIBRARY_IMPL(")[1:]:
            names = re.findall(r'm\.impl\("(\w+)"', library)
            found += [f"{library.partition(',')[0]}::{name}" for name in names]
    own = {"fhelium_ntt_ops::ntt_tables"}  # of another format than the CPU's
    return sorted(name for name in found if name in SAMPLES and name not in own)


def sample(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> tuple:
    """Return the arguments of an emulated operator: its tables are the device's."""
    make = torch.ops.emulated_fhelium_ntt_ops.ntt_tables
    with monkeypatch.context() as patch:
        patch.setattr(samples.ntt_ops, "ntt_tables", make)
        return SAMPLES[name](dtype)


def packet(name: str):
    """Return the operator of a qualified name."""
    namespace, _, operator = name.partition("::")
    return getattr(getattr(torch.ops, namespace), operator)


def outcome(name: str, arguments: tuple) -> list[torch.Tensor]:
    """Return what an operator returns and the arguments as it leaves them."""
    operator = packet(name)
    result = operator(*arguments)
    names = [argument.name for argument in operator.default._schema.arguments]
    kept = [x for x, argument in zip(arguments, names, strict=False) if argument not in TABLES]
    leaves = pytree.tree_leaves([result, kept])
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", registered())
def test_samples(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = outcome(name, SAMPLES[name](dtype))
    for seed in SEEDS:
        emulator().seed(seed)
        found = outcome(PREFIX + name, sample(name, dtype, monkeypatch))
        assert len(found) == len(wanted)
        assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True)), seed


@pytest.mark.parametrize("name", registered())
def test_a_bad_first_operand_is_refused_in_the_same_words(name: str) -> None:
    """One operand of another type, and one without axes: the CPU's error is CUDA's."""
    for spoil in (lambda x: x.float(), lambda x: x.flatten()[0]):
        texts = []
        for operator in (name, PREFIX + name):
            arguments = list(SAMPLES[name](INT64))
            if not arguments or not isinstance(arguments[0], torch.Tensor):
                return
            arguments[0] = spoil(arguments[0])
            with pytest.raises(RuntimeError) as caught:
                packet(operator)(*arguments)
            texts.append(str(caught.value).splitlines()[0])
        assert texts[0] == texts[1]
