"""Every CUDA operator gives the CPU's bits through its adapter, at every size and layout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from tests.cuda.emulator import SEEDS, emulator
from tests.cuda.operators import OPERATORS, ROWS, outcome, packet, wanted
from tests.native.rings import TYPES, Ring, ring_of
from tests.native.rns_oracle import VIEWS, seen_as

PREFIX = "emulated_"
LOG_DEGREES = range(4, 14)
TABLES = {"tables", "ntt_tables", "switch_tables", "twiddles"}
"""Arguments that an operator made, whose words lie as it left them."""

each_operator = pytest.mark.parametrize("name", OPERATORS)
each_type = pytest.mark.parametrize("dtype", TYPES, ids=str)


def relaid(name: str, arguments: tuple[Any, ...], view: str) -> tuple[Any, ...]:
    """Return the arguments with every tensor but tables in another memory layout."""
    schema = packet(name, PREFIX).default._schema.arguments
    return tuple(
        argument
        if declared.name in TABLES
        else pytree.tree_map_only(Tensor, lambda tensor: seen_as(tensor, view), argument)
        for argument, declared in zip(arguments, schema, strict=False)
    )


def check(name: str, ring: Ring, view: str) -> None:
    """Compare one call; operands that it does not write stay as they are."""
    given = ROWS[name](replace(ring, cuda_tables=True))
    arguments = relaid(name, given, view)
    found = outcome(packet(name, PREFIX), arguments)
    expected = wanted(name, ring)
    assert len(found) == len(expected)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    if not name.endswith("_"):
        before, after = (pytree.tree_leaves(x) for x in (given, arguments))
        pairs = zip(before, after, strict=True)
        assert all(torch.equal(a, b) for a, b in pairs if isinstance(a, Tensor))


def test_the_emulator_has_these_operators_and_no_others() -> None:
    emulator()
    kernels = [
        name.removeprefix(PREFIX)
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith(f"{PREFIX}fhelium_")
        and torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")
    ]
    assert sorted(name for name in kernels if ROWS[name](Ring())) == OPERATORS


@each_operator
@each_type
@pytest.mark.parametrize("log_degree", LOG_DEGREES)
def test_every_size(name: str, dtype: torch.dtype, log_degree: int) -> None:
    """Layouts and orders of the threads take turns over the sizes."""
    for batch in (1, 3):
        emulator().seed(SEEDS[(log_degree + batch) % len(SEEDS)])
        ring = ring_of(2**log_degree, dtype, batch=(batch,), seed=log_degree)
        check(name, ring, VIEWS[(log_degree + batch) // 2 % len(VIEWS)])


@each_operator
@each_type
@pytest.mark.parametrize("view", VIEWS)
def test_every_layout_in_every_order(name: str, dtype: torch.dtype, view: str) -> None:
    for seed, batch, limbs in zip(SEEDS, ((), (3,), (2, 3)), (3, 5, 7), strict=True):
        emulator().seed(seed)
        check(name, ring_of(64, dtype, limbs, batch=batch, seed=seed), view)


@pytest.mark.slow
@each_operator
@each_type
@pytest.mark.parametrize("batch", [(1,), (3,)], ids=str)
def test_a_whole_ring(name: str, dtype: torch.dtype, batch: tuple[int, ...]) -> None:
    emulator().seed(SEEDS[-1])
    check(name, ring_of(2**16, dtype, batch=batch), "contiguous")


@each_operator
def test_a_bad_first_operand_is_refused_in_the_same_words(name: str) -> None:
    """One operand of another type, and one without axes: the CPU's error is CUDA's."""
    for spoil in (lambda x: x.float(), lambda x: x.flatten()[0]):
        texts = []
        for prefix in ("", PREFIX):
            first, *others = ROWS[name](Ring())
            if not isinstance(first, Tensor):
                return
            with pytest.raises(RuntimeError) as caught:
                packet(name, prefix)(spoil(first), *others)
            texts.append(str(caught.value).splitlines()[0])
        assert texts[0] == texts[1] or "is on the CPU" in texts[0]
