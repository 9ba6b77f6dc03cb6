"""A key set that cannot fit is refused before anything of it is made."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from fhelium import CkksConfig, Engine
from fhelium.backend import memory
from fhelium.backend.memory import OVERRIDE, available_memory, require_memory
from fhelium.errors import FHEliumError, InsufficientMemoryError, ParameterError
from tests.programs import run_python

GIB = 1 << 30


def system(root: Path, available_kib: int | None = 64 << 20, **files: str) -> Path:
    """Write the files of /proc and /sys that the estimate reads; '__' stands for a slash."""
    proc = root / "proc"
    (proc / "self").mkdir(parents=True, exist_ok=True)
    if available_kib is not None:
        lines = f"MemTotal:  99 kB\nMemFree:  98 kB\nMemAvailable: {available_kib} kB\n"
        (proc / "meminfo").write_text(lines)
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_what_the_system_says(tmp_path):
    assert available_memory("cpu", system(tmp_path)) == 64 * GIB
    assert available_memory(root=tmp_path / "elsewhere") is None
    assert available_memory("meta") is None
    here = available_memory()
    if here is not None:
        assert 1 << 20 < here < 1 << 50


V2 = "sys__fs__cgroup__job__step__memory"
V1 = "sys__fs__cgroup__memory__job__memory"


@pytest.mark.parametrize(
    ("files", "left"),
    [
        # version 2: the limit, less what is used, but for files that can be dropped
        ({f"{V2}_dot_max": str(8 * GIB), f"{V2}_dot_current": str(3 * GIB)}, 5 * GIB),
        (
            {
                f"{V2}_dot_max": f"{8 * GIB}\n",
                f"{V2}_dot_current": str(7 * GIB),
                f"{V2}_dot_stat": f"anon 5\ninactive_file {2 * GIB}\nactive_file 7\n",
            },
            3 * GIB,
        ),
        # the group above is stricter
        (
            {
                f"{V2}_dot_max": "max",
                f"{V2}_dot_current": "9",
                "sys__fs__cgroup__job__memory_dot_max": str(2 * GIB),
                "sys__fs__cgroup__job__memory_dot_current": str(GIB),
            },
            GIB,
        ),
        # a container that sees its own group at the mount
        (
            {
                "sys__fs__cgroup__memory_dot_max": str(4 * GIB),
                "sys__fs__cgroup__memory_dot_current": "0",
            },
            4 * GIB,
        ),
        # more than the machine has; nothing left; unreadable
        ({f"{V2}_dot_max": str(999 * GIB), f"{V2}_dot_current": "0"}, 64 * GIB),
        ({f"{V2}_dot_max": str(GIB), f"{V2}_dot_current": str(2 * GIB)}, 0),
        ({f"{V2}_dot_max": str(GIB)}, 64 * GIB),
        # version 1
        (
            {
                f"{V1}_dot_limit_in_bytes": str(8 * GIB),
                f"{V1}_dot_usage_in_bytes": str(7 * GIB),
                f"{V1}_dot_stat": f"inactive_file 3\ntotal_inactive_file {GIB}\n",
            },
            2 * GIB,
        ),
        ({f"{V1}_dot_limit_in_bytes": str(2**63 - 4096), f"{V1}_dot_usage_in_bytes": "5"}, None),
    ],
)
def test_what_a_control_group_leaves(tmp_path, files, left):
    groups = "12:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/\n0::/job/step\n"
    root = system(tmp_path, proc__self__cgroup=groups, **files)
    assert available_memory("cpu", root) == (64 * GIB if left is None else left)


def test_what_the_address_space_leaves():
    program = """
        import resource
        from fhelium.backend.memory import available_memory
        before = available_memory()
        used = int(open("/proc/self/statm").read().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), -1))
        print(before > 64 << 20, 32 << 20 < available_memory() <= 64 << 20)
    """
    assert run_python(program) == "True True"


def test_the_override(monkeypatch, tmp_path):
    root = system(tmp_path, available_kib=1)
    for text, expected in (("123456789", 123456789), ("", 1024), ("0", 0)):
        monkeypatch.setenv(OVERRIDE, text)
        assert available_memory("cpu", root) == expected
    for text in ("12GiB", "-1", "1e9", " 5", "\u0665"):
        monkeypatch.setenv(OVERRIDE, text)
        with pytest.raises(ParameterError, match=OVERRIDE):
            available_memory("cpu", root)


def test_memory_of_a_cuda_device(monkeypatch):
    """The driver's free memory, and what torch holds of it without using it."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 * GIB, 80 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 3 * GIB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 1 * GIB)
    assert available_memory("cuda:0") == 7 * GIB


def test_the_refusal_names_both_sizes(small, monkeypatch):
    key = small.config.switching_key_nbytes()
    needed = (4 + 2) * key  # relinearization, conjugation, two rotations; room to make one
    arguments = {"steps": (1, 2, 513, 0), "conjugation": True}
    monkeypatch.setenv(OVERRIDE, str(needed))
    assert len(small.engine.create_evaluation_keys(small.secret_key, **arguments)) == 4
    monkeypatch.setenv(OVERRIDE, str(needed - 1))
    with pytest.raises(InsufficientMemoryError) as caught:
        small.engine.create_evaluation_keys(
            small.secret_key, progress=lambda *_: pytest.fail("made a key"), **arguments
        )
    error = caught.value
    assert isinstance(error, FHEliumError)
    assert isinstance(error, MemoryError)
    assert (error.needed, error.available) == (needed, needed - 1)
    assert f"4 keys of {key // 1024}.0 KiB and room to make them need" in str(error)
    assert f"need {needed / 2**20:.1f} MiB on cpu and" in str(error)
    assert "Make keys for fewer steps" in error.remedy
    assert OVERRIDE in error.remedy


def test_keys_that_are_kept_elsewhere_need_room_there(small, monkeypatch):
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(
        memory,
        "available_memory",
        lambda device: asked.append(str(device)) or 0 if str(device) == "meta" else 1 << 50,
    )
    with pytest.raises(InsufficientMemoryError) as caught:
        small.engine.create_evaluation_keys(small.secret_key, steps=(1, 2), device="meta")
    assert caught.value.needed == 3 * small.config.switching_key_nbytes()
    assert "on meta" in str(caught.value)


def test_a_set_that_no_machine_holds_is_refused_at_once():
    """Every rotation of the largest preset, refused before the first key is made."""
    config = CkksConfig.parse("slots32768_scale40_depth34_int64")
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    needed = 32768 * config.switching_key_nbytes()
    assert needed > 6e12
    start = time.monotonic()
    with pytest.raises(InsufficientMemoryError, match=r"6\.4 TiB on cpu"):
        engine.create_evaluation_keys(secret_key, steps=range(32768))
    assert time.monotonic() - start < 60


def test_the_estimate_covers_what_making_keys_takes():
    """The resident peak of a real run, large tensors given back to the system at once."""
    program = """
        import torch
        torch.set_num_threads(1)
        from fhelium import Engine

        def status(name):
            lines = open("/proc/self/status").read().splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

        engine = Engine("slots8192_scale40_depth7_int64")
        secret_key = engine.create_secret_key()
        engine.create_relinearization_key(secret_key)  # makes the tables
        size = engine.config.switching_key_nbytes()
        before = status("VmRSS")
        # Reach the peak of the start, so that the next peak is that of the keys.
        ballast = torch.ones((status("VmHWM") - before + size) // 4)
        before = status("VmRSS")
        keys = engine.create_evaluation_keys(secret_key, steps=range(1, 6))
        print((status("VmHWM") - before) / size, len(keys))
    """
    grown, count = run_python(program, {"MALLOC_MMAP_THRESHOLD_": "65536"}).split()
    assert int(count) == 6
    assert 6 < float(grown) < 6 + 2
    assert require_memory("test", "nothing", 0, "cpu", "Nothing") is None
