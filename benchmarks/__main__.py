"""The benchmarks' command line: python -m benchmarks COMMAND [--help].

time     the three floors: kernels, operations, circuits; takes what pytest takes (make bench)
compare  two results of that
floors   whole operations of the Engine against the bare kernels of the same chain
compiled compiled functions against the Engine, by hand and by the same calls
ntt      transforms of every instruction set, and their ratio to a prototype
rns      the native operators on every instruction set, against bare loops
peers    FHElium beside other CKKS libraries (make bench-peers)
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from benchmarks.machine import MEMORY, has_memory_settings

COMMANDS = {
    "time": "benchmarks.run",
    "compare": "benchmarks.compare",
    "floors": "benchmarks.operations.floors",
    "compiled": "benchmarks.circuits.compiled",
    "ntt": "benchmarks.kernels.ntt_floors",
    "rns": "benchmarks.kernels.rns_floors",
    "peers": "benchmarks.peers.run",
}


def main() -> None:
    """Run one command, in a process that has the memory settings from its start."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        raise SystemExit(__doc__)
    if not has_memory_settings():
        os.execve(
            sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]], os.environ | MEMORY
        )
    import_module(COMMANDS[sys.argv[1]]).main(sys.argv[2:])


if __name__ == "__main__":
    main()
