"""Every instruction set gives the same bits, and the machine runs the best one that it has."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
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


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, str]]:
    """Digests of all cases by instruction set, each from a process of its own."""
    found = {}
    for isa in ISAS:
        result = subprocess.run(
            [sys.executable, "-m", "tests.native.ntt_cases"],
            env={**os.environ, "FHELIUM_CPU_ISA": isa},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        assert report["isa"] == isa
        found[isa] = report["digests"]
    return found


@pytest.mark.parametrize("isa", ISAS)
def test_all_paths_give_the_same_bits(runs: dict[str, dict[str, str]], isa: str) -> None:
    different = [case for case, value in runs["scalar"].items() if runs[isa][case] != value]
    assert different == []
    assert len(runs[isa]) == 7 * len(ntt_cases.LOG_DEGREES)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("log_degree", ntt_cases.LOG_DEGREES)
def test_in_place_strided_and_round_trip(
    runs: dict[str, dict[str, str]], isa: str, log_degree: int
) -> None:
    x = ntt_cases.inputs(log_degree)
    case = runs[isa]
    assert case[f"2^{log_degree} round trip"] == ntt_cases.digest(x)
    for name in ("forward", "inverse"):
        assert case[f"2^{log_degree} {name} in place"] == case[f"2^{log_degree} {name}"]


@pytest.mark.parametrize("log_degree", ntt_cases.LOG_DEGREES)
def test_the_shared_bits_are_the_evaluations(
    runs: dict[str, dict[str, str]], log_degree: int
) -> None:
    """Python integers at a few points; the digest ties them to every instruction set."""
    found = ntt_cases.results(log_degree)
    assert ntt_cases.digest(found["forward"]) == runs["scalar"][f"2^{log_degree} forward"]
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
