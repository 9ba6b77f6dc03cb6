"""What is observed is so: topology from the system's files, and memory that was taken."""

from __future__ import annotations

import mmap
import os
from dataclasses import FrozenInstanceError

import pytest
import torch

from fhelium.native import native_status
from fhelium.runtime import cpu_info, device_info, devices, memory_snapshot


def test_the_cpu_is_that_of_the_system():
    found = cpu_info()
    assert found.logical_cpus == os.cpu_count()
    assert found.kernel_isa == native_status().isa
    assert found.threads == torch.get_num_threads()
    with pytest.raises(FrozenInstanceError):
        found.threads = 3


def test_topology_is_read_from_the_systems_files(tmp_path):
    (tmp_path / "proc").mkdir()
    blocks = [
        f"processor : {n}\nmodel name : Test CPU\nphysical id : {n // 4}\ncore id : {n % 2}\n"
        for n in range(8)
    ]
    (tmp_path / "proc/cpuinfo").write_text("\n".join(blocks))
    for node in range(2):
        (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
    found = cpu_info(tmp_path)
    assert (found.name, found.sockets, found.cores, found.numa_nodes) == ("Test CPU", 2, 4, 2)
    unknown = cpu_info(tmp_path / "nothing")
    assert (unknown.sockets, unknown.cores, unknown.numa_nodes) == (None, None, None)
    assert "sockets       -" in str(unknown)


def test_memory_that_was_taken_is_seen():
    before = memory_snapshot()
    # Pages of its own: an allocator may hand out what it has held all along.
    held = torch.frombuffer(mmap.mmap(-1, 1 << 26), dtype=torch.int64).fill_(1)
    after = memory_snapshot()
    assert after.resident_bytes - before.resident_bytes > held.nbytes // 2
    assert after.peak_resident_bytes >= after.resident_bytes - (1 << 20)
    assert after.workspace_bytes >= 0
    assert "MiB" in str(after) or "GiB" in str(after)


def test_devices_are_listed():
    found = devices()
    assert len(found) == 1 + torch.cuda.device_count()
    assert found[0].device == torch.device("cpu")
    assert found[0].total_bytes > device_info().available_bytes // 2
    assert "processors" in str(found[0])
