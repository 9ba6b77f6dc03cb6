"""Check that the compiled kernels leave no weak symbol behind.

Usage: python tools/check_symbols.py [ROOT]

A weak symbol of a kernel that was compiled for a wider instruction set could be the copy that the
linker keeps for everyone, and then a machine without that set stops at an illegal instruction. The
objects below ROOT/build whose names end in an instruction set are read with nm; prints the
offenders and exits 1.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ISAS = ("portable", "avx2", "avx512")  # how a kernel's file name ends
WEAK_TYPES = set("WwVvu")  # weak, weak object, unique; see nm(1)


def weak_symbols(listing: str) -> list[str]:
    """Return the weak symbols in the output of `nm -P`: name, type, then value and size."""
    rows = [line.split() for line in listing.splitlines()]
    return [row[0] for row in rows if len(row) > 1 and row[1] in WEAK_TYPES]


def main(arguments: list[str]) -> int:
    """Print the weak symbols of the kernel objects; return 1 if there is one."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    objects = sorted(path for isa in ISAS for path in (root / "build").rglob(f"*_{isa}.cpp.o"))
    if not objects:
        print(f"no kernel objects below {root / 'build'}. Run make native first.")
        return 1
    failed = False
    for path in objects:
        listing = subprocess.run(
            ["nm", "-P", str(path)], check=True, capture_output=True, text=True
        ).stdout
        for name in weak_symbols(listing):
            failed = True
            print(f"{path.relative_to(root)}: weak symbol {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
