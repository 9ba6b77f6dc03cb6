"""The memory that everything is measured with, and what a result says about its machine."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path
from typing import Final

# Huge pages for torch's and for glibc's blocks, and freed blocks stay mapped: computing is
# measured, not the mapping and clearing of pages. glibc reads its settings when a process starts.
MEMORY: Final = {
    "THP_MEM_ALLOC_ENABLE": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824"
    ":glibc.malloc.trim_threshold=4294967296",
}


def has_memory_settings() -> bool:
    """Say whether this process began with them."""
    return MEMORY.items() <= os.environ.items()


def describe() -> dict[str, object]:
    """Return processor, cores, memory pages and day, in words and numbers."""
    fields = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "processor": fields.get("model name", platform.machine()),
        "family": f"{fields.get('cpu family', '?')}/{fields.get('model', '?')}",
        "cores": os.cpu_count(),
        "virtual": "hypervisor" in fields.get("flags", "").split(),
        "huge_pages": pages.read_text().strip() if pages.exists() else "none",
        "memory_settings": has_memory_settings(),
        "system": platform.platform(),
        "date": date.today().isoformat(),
    }
