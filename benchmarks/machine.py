"""What a measurement has to say about the machine it was made on."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path


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
        "torch_huge_pages": os.environ.get("THP_MEM_ALLOC_ENABLE") == "1",
        "system": platform.platform(),
        "date": date.today().isoformat(),
    }
