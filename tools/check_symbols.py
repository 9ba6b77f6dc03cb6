"""Check that the compiled kernels leave no weak symbol behind.

Usage: python tools/check_symbols.py [ROOT]

A weak symbol of a kernel that was compiled for a wider instruction set could be the copy that the
linker keeps for everyone, and then a machine without that set stops at an illegal instruction. A
kernel is a source below ROOT/csrc whose name ends in an instruction set; its objects below
ROOT/build are read with nm, but for those of `make sanitize`, which no user runs. Prints the
offenders, and the kernels that no build has compiled, and exits 1. A build for another processor
leaves out all kernels of an instruction set.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ISAS = ("portable", "avx2", "avx512")  # how a kernel's file name ends
WEAK_TYPES = set("WwVvu")  # weak, weak object, unique; see nm(1)


def weak_symbols(listing: str) -> list[str]:
    """Return the weak symbols in the output of `nm -P`: name, type, then value and size."""
    rows = [line.split() for line in listing.splitlines()]
    return [row[0] for row in rows if len(row) > 1 and row[1] in WEAK_TYPES]


def kernel_objects(root: Path, isa: str) -> dict[Path, list[Path]]:
    """Return the compiled objects of each kernel source of an instruction set."""
    build = root / "build"
    built = [p for p in build.rglob(f"*_{isa}.cpp.o") if build / "sanitize" not in p.parents]
    return {
        source: [
            path for path in built if path.parts[-2:] == (source.parent.name, source.name + ".o")
        ]
        for source in sorted((root / "csrc").glob(f"*/*_{isa}.cpp"))
    }


def offences(root: Path) -> Iterator[str]:
    """Yield each weak symbol of a kernel object, and each kernel that has no object."""
    for isa in ISAS:
        kernels = kernel_objects(root, isa)
        for source, objects in kernels.items():
            if not objects and (isa == ISAS[0] or any(kernels.values())):
                yield f"{source.relative_to(root)}: no object below build. Run make native first."
            for path in sorted(objects):
                listing = subprocess.run(
                    ["nm", "-P", str(path)], check=True, capture_output=True, text=True
                ).stdout
                for name in weak_symbols(listing):
                    yield f"{path.relative_to(root)}: weak symbol {name}"


def main(arguments: list[str]) -> int:
    """Print the offences below a checkout; return 1 if there is one."""
    found = list(offences(Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
