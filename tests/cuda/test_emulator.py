"""The emulator runs right kernels right and finds each fault of a wrong one."""

from __future__ import annotations

import ctypes
import os
import subprocess

import pytest
import torch

from tests.cuda.emulator import ROOT, SEEDS, Emulator, Guarded

THREADS = 96
SHARED = 4 * THREADS


@pytest.fixture(scope="module")
def faults(tmp_path_factory) -> Emulator:
    """Return kernels with one fault each."""
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    sources = [str(ROOT / "csrc/common/cuda_emulator.cpp"), "-xc++", "tests/cuda/faults.cu"]
    flags = ["-std=c++20", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Icsrc"]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, *flags, *sources, "-o", str(library)], check=True, cwd=ROOT)
    return Emulator(library)


def run(faults: Emulator, name: str, grid=(1, 1, 1), block=(THREADS, 1, 1), shared=SHARED):
    """Run a kernel on 0 .. THREADS - 1 and return what it writes."""
    out = Guarded((THREADS,), torch.int32)
    source = torch.arange(THREADS, dtype=torch.int32)
    three = ctypes.c_uint * 3
    faults("run_fault", name.encode(), three(*grid), three(*block), shared, out.tensor, source)
    return out


RIGHT = {
    "reverse": lambda i: THREADS - 1 - i,
    "rotate": lambda i: (i + 3) % THREADS,
    "sum": lambda i: sum(range(i // 32 * 32, i // 32 * 32 + 32)),
    "scan": lambda i: sum(range(i // 32 * 32, i + 1)) + (i % 2 == 0) * 65536 + 131072,
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_right_in_any_order(faults, name, seed):
    faults.seed(seed)
    assert run(faults, name).check().tolist() == [RIGHT[name](i) for i in range(THREADS)]


@pytest.mark.parametrize("name", ["reverse", "rotate"])
def test_a_deleted_barrier_is_found(faults, name):
    missing = {"reverse": "its barrier", "rotate": "its second barrier"}[name]
    wrong = []
    for seed in SEEDS:
        faults.seed(seed)
        found = run(faults, f"{name} without {missing}").check().tolist()
        wrong.append(found != [RIGHT[name](i) for i in range(THREADS)])
    assert any(wrong)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("half of the threads wait", "divergent barrier: 48 of 96 threads"),
        ("one thread leaves early", "divergent barrier: 95 of 96 threads"),
        ("threads wait at two places", "others at another"),
        ("half of a warp shuffles", "divergent warp operation"),
        ("an unnamed lane shuffles", "whose mask does not name its thread"),
        ("the source lane is absent", "reads a lane that takes no part"),
        ("shared overrun", "wrote outside its shared memory"),
    ],
)
def test_a_fault_ends_the_launch_with_its_reason(faults, name, reason):
    for seed in SEEDS:
        faults.seed(seed)
        with pytest.raises(RuntimeError, match=reason):
            run(faults, name)
    assert run(faults, "reverse").check()[0] == THREADS - 1  # the next launch is a fresh one


def test_an_overrun_is_found(faults):
    with pytest.raises(AssertionError, match="outside its output"):
        run(faults, "overrun").check()


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ({"grid": (0, 1, 1)}, "a grid of 0 x 1 x 1 blocks"),
        ({"grid": (1, 65536, 1)}, "a grid of 1 x 65536 x 1 blocks"),
        ({"grid": (1, 1, 65536)}, "a grid of 1 x 1 x 65536 blocks"),
        ({"block": (0, 1, 1)}, "a block of 0 x 1 x 1 threads"),
        ({"block": (2048, 1, 1)}, "a block of 2048 x 1 x 1 threads"),
        ({"block": (1, 1, 128)}, "a block of 1 x 1 x 128 threads"),
        ({"shared": 200 << 10}, "204800 bytes of shared memory"),
    ],
)
def test_an_invalid_launch_is_found(faults, shape, reason):
    with pytest.raises(RuntimeError, match=f"invalid launch: {reason}"):
        run(faults, "reverse", **shape)


def test_shared_memory_holds_no_zeros_at_the_start(faults):
    faults.seed(0)
    found = run(faults, "reverse without its barrier").check()
    assert torch.tensor(0xA5A5A5A5 - 2**32) in found


def test_blocks_run_in_another_order(faults):
    last = []
    for seed in (0, 1, 2, 3):
        faults.seed(seed)
        last.append(int(run(faults, "last block", grid=(50, 1, 1)).check()[0]))
    assert last[:2] == [49, 0]
    assert set(last[2:]) != {49, 0}


def test_launches_are_counted(faults):
    before = faults.launches()
    run(faults, "sum")
    assert faults.launches() == before + 1
