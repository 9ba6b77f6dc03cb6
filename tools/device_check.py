"""Check every CUDA operator against the CPU's and time it against the memory it moves.

Usage: python tools/device_check.py [--degrees 4,10,13,16] [--limbs 7] [--specials 2]
       [--seconds 300] [--json FILE]

For a machine with a GPU, where nothing is built: carry src, tests, tools and the folder of a module
that was compiled with FHELIUM_NATIVE_BACKENDS=CPU+CUDA, which FHELIUM_NATIVE_FOLDER names. No
package but torch is needed. Without a GPU the same cases run on the emulator, untimed.

The operators are those of the tests' samples. Each case draws fresh residues, fills torch's free
memory with a pattern, so that a result which a kernel leaves out cannot be right by chance, and
compares all bits with the CPU's. On a GPU it is then captured as a CUDA graph, replayed on other
residues, and timed by graph replays: the floor is its operands and results once over the memory's
bandwidth, which a copy measures first. An operator that makes tables waits for the device, so it is
compared alone. Prints a table last, a line an operator at the largest degree and batch, and exits 1
where a result differs.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' samples

from fhelium.native.runtime import has_device, require_native
from tests.cuda.emulator import emulator
from tests.cuda.operators import MAKERS, OPERATORS, ROWS, Operator, outcome, packet, wanted
from tests.native.rings import TYPES, Ring, ring_of
from tests.native.samples import CUDA_ONLY

BATCHES = (1, 3)


@dataclass
class Row:
    """One case: times in microseconds, None where nothing is timed."""

    operator: str
    degree: int
    batch: int
    dtype: str
    equal: bool
    replayed: bool | None = None
    microseconds: float | None = None
    floor: float | None = None

    @property
    def right(self) -> bool:
        """Return whether no bit differs, from the call or from the replay."""
        return self.equal and self.replayed is not False


class Emulated:
    """The emulator, on CPU tensors."""

    name = "emulator"

    def __init__(self) -> None:
        emulator().seed(2)

    def put(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of an operator there."""
        return arguments

    def operator(self, name: str) -> Operator:
        """Return the operator on what is there."""
        return packet(name, "emulated_")

    def poison(self, results: list[Tensor]) -> None:
        """Leave no zeros in the memory that the next results come from."""

    def measure(self, row: Row, operator: Operator, there: tuple[Any, ...], ring: Ring) -> None:
        """Replay a case as a graph and time it: not here."""


class Gpu(Emulated):
    """A GPU; the first thing it does is to measure its memory."""

    def __init__(self) -> None:
        self.name = torch.cuda.get_device_name()
        source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        self.bandwidth = 2 * source.numel() / timed(lambda: target.copy_(source))

    def put(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        def move(tensor: Tensor) -> Tensor:
            return tensor.cuda()

        moved = pytree.tree_map_only(Tensor, move, arguments)
        if name in CUDA_ONLY:  # its schedule is read by the host
            return (moved[0], arguments[1], *moved[2:])
        return moved

    def operator(self, name: str) -> Operator:
        return packet(name)

    def poison(self, results: list[Tensor]) -> None:
        for result in results:
            size = result.numel() * result.element_size()
            torch.full((size,), 0xA5, dtype=torch.uint8, device="cuda")

    def measure(self, row: Row, operator: Operator, there: tuple[Any, ...], ring: Ring) -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = outcome(operator, there)
        fresh = self.put(row.operator, arguments_of(row.operator, ring))
        for old, new in zip(pytree.tree_leaves(there), pytree.tree_leaves(fresh), strict=True):
            if isinstance(old, Tensor):
                old.copy_(new)
        graph.replay()
        row.replayed = same(captured, wanted(row.operator, ring))
        tensors = [x for x in pytree.tree_leaves((there, captured)) if isinstance(x, Tensor)]
        moved = {x.data_ptr(): x.numel() * x.element_size() for x in tensors}
        row.floor = sum(moved.values()) / self.bandwidth
        row.microseconds = timed(graph.replay)


def timed(call: Callable[[], Any], rounds: int = 20) -> float:
    """Return the median microseconds of a call on the GPU, by events."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(rounds + 1)]
    for _ in range(3):
        call()
    marks[0].record()
    for mark in marks[1:]:
        call()
        mark.record()
    torch.cuda.synchronize()
    found = sorted(a.elapsed_time(b) for a, b in pairwise(marks))
    return 1000 * found[rounds // 2]


def arguments_of(name: str, ring: Ring) -> tuple[Any, ...]:
    """Return an operator's row, its tables in the format of CUDA."""
    return ROWS[name](replace(ring, cuda_tables=True))


def same(found: list[Tensor], expected: list[Tensor]) -> bool:
    """Return whether all bits agree."""
    pairs = zip(found, expected, strict=True)
    return all(torch.equal(a.cpu(), b) for a, b in pairs)


def seeded(ring: Ring) -> Ring:
    """Return the ring with residues that nobody has seen."""
    return replace(ring, seed=secrets.randbits(62))


def check(device: Emulated, name: str, ring: Ring) -> Row:
    """Compare one case; on a GPU replay it as a graph and time it, too."""
    ring = seeded(ring)
    expected = wanted(name, ring)
    there = device.put(name, arguments_of(name, ring))
    device.poison(expected)
    found = outcome(device.operator(name), there)
    dtype = str(ring.dtype).removeprefix("torch.")
    row = Row(name, ring.degree, ring.batch[0], dtype, same(found, expected))
    if not MAKERS.fullmatch(name):
        device.measure(row, device.operator(name), there, seeded(ring))
    return row


def rows(device: Emulated, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows that fit into the time, large rings last."""
    end = time.monotonic() + options.seconds
    degrees = sorted(int(text) for text in options.degrees.split(","))
    for log_degree, dtype, batch in product(degrees, TYPES, BATCHES):
        chain = options.limbs, options.specials
        ring = ring_of(2**log_degree, dtype, *chain, batch=(batch,))
        for name in OPERATORS:
            if time.monotonic() < end:
                yield check(device, name, ring)


def line(row: Row) -> str:
    """Write one line of the table."""
    verdict = "equal" if row.right else "DIFFERS"
    place = f"2^{row.degree.bit_length() - 1:<2} x{row.batch} {row.dtype:5}"
    text = f"{row.operator.partition('::')[2]:30} {place} {verdict}"
    if row.microseconds is None or row.floor is None:
        return text
    return f"{text} {row.microseconds:>9.1f} us, floor {row.floor:.1f} us"


def main() -> int:
    """Run the cases; return 1 where one differs."""
    parser = argparse.ArgumentParser(description="Check CUDA operators against the CPU's.")
    parser.add_argument("--degrees", default="4,10,13,16", help="logarithms of N")
    parser.add_argument("--limbs", type=int, default=7, help="primes of Q")
    parser.add_argument("--specials", type=int, default=2, help="primes of P")
    parser.add_argument("--seconds", type=float, default=300.0, help="start no case after these")
    parser.add_argument("--json", type=Path, help="write the rows there")
    options = parser.parse_args()
    require_native()
    device = Gpu() if torch.cuda.is_available() and has_device("cuda") else Emulated()
    found = list(rows(device, options))
    if options.json:
        text = json.dumps({"device": device.name, "rows": [asdict(r) for r in found]}, indent=2)
        options.json.write_text(text + "\n")
    last = {row.operator: row for row in found}
    wrong = [row for row in found if not row.right]
    for row in [*last.values(), *wrong]:
        print(line(row))
    print(f"{device.name}: {len(found) - len(wrong)} equal, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
