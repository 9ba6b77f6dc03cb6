"""Arguments at the ends of what a tensor can be: no limb, more bytes than there are, no memory."""

from __future__ import annotations

import pytest
import torch

from tests.native.rings import DEGREE, PRIMES, SPECIAL, TYPES, Ring
from tests.native.samples import SAMPLES
from tests.programs import run_python

LIMBS = (len(PRIMES), len(PRIMES + SPECIAL))


def without_limbs(argument: object) -> object:
    """The argument with every axis that may count limbs emptied."""
    if isinstance(argument, list):
        return [without_limbs(element) for element in argument]
    if isinstance(argument, torch.Tensor) and argument.dtype in TYPES:
        for axis, size in enumerate(argument.shape):
            if size in LIMBS:
                argument = argument.narrow(axis, 0, 0)
    return argument


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", SAMPLES)
def test_residues_without_a_limb(name: str, dtype: torch.dtype) -> None:
    """They are refused by name, or give a result that has no number in it."""
    namespace, _, base = name.partition("::")
    arguments = [without_limbs(argument) for argument in SAMPLES[name](Ring(dtype))]
    try:
        result = getattr(getattr(torch.ops, namespace), base)(*arguments)
    except RuntimeError as error:
        assert str(error).startswith(f"{base}: ")  # noqa: PT017
        return
    if isinstance(result, torch.Tensor) and any(map(is_emptied, arguments)):
        assert result.numel() == 0


def is_emptied(argument: object) -> bool:
    return isinstance(argument, torch.Tensor) and argument.numel() == 0


@pytest.mark.parametrize("name", ["residues_to_real", "decode_residues"])
def test_numbers_of_no_residue(name: str) -> None:
    families = torch.ops.fhelium_rns_ops, torch.ops.fhelium_ckks_ops
    family = next(f for f in families if f"{f.name}::{name}" in SAMPLES)
    residues, *rest, params = SAMPLES[f"{family.name}::{name}"](Ring())
    with pytest.raises(RuntimeError, match=f"{name}: the residues have 0 limbs, needed is at le"):
        getattr(family, name)(residues[:, :0], *rest, params[:, :0])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_more_bytes_than_can_be_counted(dtype: torch.dtype) -> None:
    """2^61 elements and a few: in 64 bits their bytes are those of a small result."""
    rns, ckks = torch.ops.fhelium_rns_ops, torch.ops.fhelium_ckks_ops
    params = rns.rns_parameters(torch.tensor([97], dtype=dtype), DEGREE)
    width = 2**39 + 1 if dtype == torch.int64 else 2**40 + 2
    huge = torch.zeros(1, 1, 1, dtype=dtype).expand(width, 1, 2**22)
    rns.release_workspace()
    for call in (
        lambda: rns.negate_standard(huge, params),
        lambda: rns.add_standard(huge, huge, params),
        lambda: ckks.automorphism_ntt(huge, 5),
        lambda: ckks.multiply_plaintext(huge, huge[0], params),
    ):
        with pytest.raises(MemoryError, match="native operator: there is no memory for"):
            call()
    assert rns.workspace_bytes() == 0


def test_memory_that_ends_inside_a_loop_over_threads() -> None:
    """The error of an item is that of the call: int32 transforms by vectors need scratch."""
    program = f"""
        import resource
        import torch
        from fhelium.native import require_native
        require_native()
        torch.set_num_threads(1)
        rns, ntt = torch.ops.fhelium_rns_ops, torch.ops.fhelium_ntt_ops
        params = rns.rns_parameters(torch.tensor([97], dtype=torch.int32), {DEGREE})
        tables = ntt.ntt_tables(torch.tensor([19], dtype=torch.int32), {DEGREE}, params)
        x = torch.zeros(1, {DEGREE}, dtype=torch.int32)
        ntt.ntt_packed(x, tables, params)
        rns.release_workspace()
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + (1 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            ntt.ntt_packed(x, tables, params)
        except BaseException as error:
            print(type(error).__name__, error)
        else:
            print("a result on", rns.cpu_isa())
    """
    said = run_python(program)
    no_memory = "MemoryError native operator: there is no memory for 2097152 bytes"
    assert said.startswith(no_memory) or said == "a result on scalar"
