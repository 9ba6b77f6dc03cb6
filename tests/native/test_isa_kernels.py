"""Every instruction set gives the same bits as the portable kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from isa_results import FAMILIES

SCRIPT = Path(__file__).with_name("isa_results.py")


@pytest.fixture(scope="module")
def results_on():
    """Return the function isa -> digests, which runs each instruction set once."""
    found = {}

    def run(isa: str) -> dict:
        if isa not in found:
            environment = os.environ | {
                "FHELIUM_CPU_ISA": isa,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            }
            done = subprocess.run(
                [sys.executable, str(SCRIPT)],
                env=environment, capture_output=True, text=True, timeout=280,
            )  # fmt: skip
            found[isa] = json.loads(done.stdout) if done.returncode == 0 else done.stderr
        if isinstance(found[isa], str):
            if isa != "scalar" and "FHELIUM_CPU_ISA: the value is" in found[isa]:
                pytest.skip(f"this machine or this build has no {isa}")
            pytest.fail(found[isa])
        assert found[isa]["isa"] == isa
        return found[isa]

    return run


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_every_instruction_set_gives_the_portable_bits(results_on, isa, family):
    wanted, found = results_on("scalar")[family], results_on(isa)[family]
    assert wanted.keys() == found.keys()
    assert len(wanted) >= 4
    assert [name for name in wanted if wanted[name] != found[name]] == []
