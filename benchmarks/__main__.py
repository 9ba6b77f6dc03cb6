"""The benchmarks' command line: python -m benchmarks COMMAND [--help].

compare  two results of make bench
floors   whole operations of the Engine against the bare kernels of the same chain
ntt      transforms of every instruction set, and their ratio to a prototype
peers    FHElium beside other CKKS libraries (make bench-peers)
rns      residue, ciphertext, sampler and codec kernels against bare loops and portable ones
"""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "compare": "benchmarks.compare",
    "floors": "benchmarks.operations.floors",
    "ntt": "benchmarks.kernels.ntt_floors",
    "peers": "benchmarks.peers.run",
    "rns": "benchmarks.kernels.rns_floors",
}


def main() -> None:
    """Run one command."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        raise SystemExit(__doc__)
    import_module(COMMANDS[sys.argv[1]]).main(sys.argv[2:])


if __name__ == "__main__":
    main()
