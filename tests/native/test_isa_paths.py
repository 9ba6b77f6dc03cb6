"""The machine runs the best instruction set that it has; transforms on it are evaluations."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import torch

from tests.native import ntt_cases
from tests.programs import run_python

X86 = platform.machine() in {"x86_64", "AMD64"}
NEEDED = {
    "scalar": set[str](),
    "avx2": {"avx2", "fma"},
    "avx512": {"avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512ifma", "fma"},
}


def machine_flags() -> set[str]:
    """Return what the kernel of the operating system says the processor has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    flags = next((line for line in lines if line.startswith("flags")), ":")
    return set(flags.split(":", 1)[1].split())


def has(isa: str) -> bool:
    return isa == "scalar" or (X86 and machine_flags() >= NEEDED[isa])


ISAS = [isa for isa in NEEDED if has(isa)]


@pytest.mark.parametrize("log_degree", ntt_cases.LOG_DEGREES)
def test_in_place_strided_and_round_trip(log_degree: int) -> None:
    x, found = ntt_cases.inputs(log_degree), ntt_cases.results(log_degree)
    assert torch.equal(found["round trip"], x)
    for name in ("forward", "inverse"):
        assert torch.equal(found[f"{name} in place"], found[name])
        assert torch.equal(found[f"{name} strided"], found[name][:1])


@pytest.mark.parametrize("log_degree", ntt_cases.LOG_DEGREES)
def test_the_bits_are_the_evaluations(log_degree: int) -> None:
    """Python integers at a few points, on the instruction set that all others are compared with."""
    found = ntt_cases.results(log_degree)
    x, bits = ntt_cases.inputs(log_degree), log_degree
    roots, _, _ = ntt_cases.ring(log_degree)
    degree = 1 << log_degree
    rows = x.shape[0] if log_degree < 10 else 1
    for limb, (q, root) in enumerate(zip(ntt_cases.primes(log_degree), roots, strict=True)):
        index = (limb * 2654435761) % degree
        point = pow(root, 2 * int(f"{index:0{bits}b}"[::-1], 2) + 1, q)
        for row in range(rows):
            value = 0
            for coefficient in reversed(x[row, limb].tolist()):
                value = (value * point + coefficient) % q
            assert found["forward"][row, limb, index].item() == value


def test_the_best_instruction_set_is_the_default() -> None:
    program = """
        import os
        os.environ.pop("FHELIUM_CPU_ISA", None)
        from fhelium.native.wrapper import rns_ops
        print(rns_ops.cpu_isa())
    """
    assert run_python(program) == ISAS[-1]


@pytest.mark.parametrize("isa", sorted({*NEEDED, "sse"} - set(ISAS)))
def test_an_instruction_set_that_cannot_run_is_refused(isa: str) -> None:
    program = """
        from fhelium.native import native_status
        print(native_status().reason)
    """
    text = run_python(program, {"FHELIUM_CPU_ISA": isa})
    assert text.startswith(f"FHELIUM_CPU_ISA: the value is '{isa}', this build has scalar")
    assert "this machine can run scalar" in text
    assert "Unset the variable" in text


@pytest.mark.parametrize("maker", ISAS)
def test_tables_of_another_instruction_set_are_refused(maker: str, tmp_path: Path) -> None:
    make = """
        import sys, torch
        from fhelium.native import require_native
        require_native()
        params = torch.ops.fhelium_rns_ops.rns_parameters(torch.tensor([12289]), 1024)
        tables = torch.ops.fhelium_ntt_ops.ntt_tables(torch.tensor([7]), 1024, params)
        torch.save((params, tables), "{path}")
    """
    path = tmp_path / "tables.pt"
    run_python(make.format(path=path), {"FHELIUM_CPU_ISA": maker})
    params, tables = torch.load(path)
    active = torch.ops.fhelium_rns_ops.cpu_isa()
    x = torch.zeros(1, 1024, dtype=torch.int64)
    call = torch.ops.fhelium_ntt_ops.ntt_packed
    if maker == active:
        assert torch.equal(call(x, tables, params), x)
        return
    with pytest.raises(RuntimeError, match=f"^ntt_packed: .* of other kernels, needed is {active}"):
        call(x, tables, params)
