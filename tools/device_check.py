"""Check every CUDA operator against the CPU's and time it against the memory it moves.

Usage: python tools/device_check.py [--degrees 13,16] [--seconds 300] [--json FILE]

For a machine with a GPU, where nothing is built: carry the checkout with a module that was compiled
with FHELIUM_NATIVE_BACKENDS=CPU+CUDA (FHELIUM_NATIVE_FOLDER names its folder) and the Python
packages that fhelium needs. Without a GPU the same cases run on the emulator, untimed.

Each case draws fresh residues, fills torch's free memory with a pattern, so that a result which a
kernel leaves out cannot be right by chance, and compares all bits with the CPU's. On a GPU it is
then captured as a CUDA graph and replayed on other residues, and timed: the floor is its operands
and results once over the memory's bandwidth, which a copy measures first. Prints a table last and
exits 1 where a result differs.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' samples

from fhelium.native.runtime import has_device, require_native
from fhelium.native.wrapper import ntt_ops, rns_ops
from tests.cuda.emulator import emulator
from tests.native.ntt_cases import primitive_root
from tests.native.rns_oracle import primes

LIMBS = 7
BATCHES = (1, 3)
TYPES = {torch.int64: 45, torch.int32: 30}
"""Residue types, and how many bits their primes have here."""


@dataclass
class Row:
    """One line of the table: times in microseconds, None where nothing is timed."""

    operator: str
    degree: int
    batch: int
    dtype: str
    equal: bool
    replayed: bool | None = None
    microseconds: float | None = None
    floor: float | None = None


class Device:
    """Where CUDA operators run: a GPU, or the emulator on CPU tensors."""

    def __init__(self) -> None:
        self.is_gpu = torch.cuda.is_available() and has_device("cuda")
        self.name = torch.cuda.get_device_name() if self.is_gpu else "emulator"
        if not self.is_gpu:
            emulator().seed(2)

    def put(self, tensor: Tensor) -> Tensor:
        """Return the tensor there."""
        return tensor.cuda() if self.is_gpu else tensor.clone()

    def operator(self, namespace: str, name: str) -> Callable[..., Tensor]:
        """Return an operator on tensors that are there."""
        found = namespace if self.is_gpu else f"emulated_{namespace}"
        return getattr(getattr(torch.ops, found), name)

    def poison(self, byte_count: int) -> None:
        """Leave no zeros in the memory that the next result comes from."""
        if self.is_gpu:
            torch.full((byte_count,), 0xA5, dtype=torch.uint8, device="cuda")

    def bandwidth(self) -> float:
        """Return the bytes a microsecond that a copy reads and writes."""
        source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        return 2 * source.numel() / timed(lambda: target.copy_(source))


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


class Ring:
    """Primes, parameters and tables of one degree, for both sides."""

    def __init__(self, device: Device, degree: int, dtype: torch.dtype) -> None:
        self.degree, self.dtype, self.device = degree, dtype, device
        self.moduli = primes(TYPES[dtype], LIMBS, degree)
        self.params = rns_ops.rns_parameters(torch.tensor(self.moduli, dtype=dtype), degree)
        roots = torch.tensor([primitive_root(q, degree) for q in self.moduli], dtype=dtype)
        self.tables = ntt_ops.ntt_tables(roots, degree, self.params)
        make = device.operator("fhelium_ntt_ops", "ntt_tables")
        self.device_tables = make(device.put(roots), degree, device.put(self.params))

    def residues(self, *batch: int) -> Tensor:
        """Return fresh uniform residues."""
        generator = torch.Generator().manual_seed(secrets.randbits(62))
        q = torch.tensor(self.moduli)[:, None]
        shape = (*batch, LIMBS, self.degree)
        return (torch.randint(0, 2**62, shape, generator=generator) % q).to(self.dtype)


@dataclass(frozen=True)
class Case:
    """One operator: its residue operands, then the others; `tables` stands for the ring's."""

    namespace: str
    name: str
    components: tuple[int, ...]
    rest: tuple[Any, ...]


CASES = (
    *(
        Case("fhelium_rns_ops", name, (0, 0), ("params",))
        for name in ("add_standard", "subtract_standard", "multiply_montgomery")
    ),
    *(
        Case("fhelium_rns_ops", name, (0,), ("params",))
        for name in ("negate_standard", "to_montgomery", "from_montgomery", "count_out_of_range")
    ),
    *(
        Case("fhelium_ntt_ops", name, (0,), ("tables", "params"))
        for name in ("ntt_packed", "intt_packed")
    ),
    Case("fhelium_ckks_ops", "automorphism_coefficient", (0,), (5, "params")),
    Case("fhelium_ckks_ops", "automorphism_ntt", (0,), (5,)),
    Case("fhelium_ckks_ops", "add_plaintext", (2, 0), ("params",)),
    Case("fhelium_ckks_ops", "multiply_plaintext", (2, 0), ("params",)),
    Case("fhelium_ckks_ops", "ciphertext_product", (2, 2), ("params",)),
    Case("fhelium_ckks_ops", "ciphertext_square", (2,), ("params",)),
    Case("fhelium_ckks_ops", "rescale_nearest", (2,), ("inverse", "params")),
    Case("fhelium_ckks_ops", "rescale_ntt", (2,), ("inverse", "tables", "params")),
)


def others(ring: Ring, case: Case, *, there: bool) -> list[Any]:
    """Return the operands that are no residues, on the CPU or on the device."""
    first, *left = ring.moduli
    radix = 2**32 if ring.dtype == torch.int32 else 2**52
    inverse = torch.tensor([pow(first, -1, q) * radix % q for q in left], dtype=ring.dtype)
    tables = ring.device_tables if there else ring.tables
    named = {"params": ring.params, "tables": tables, "inverse": inverse}
    found = [named[x] if isinstance(x, str) else x for x in case.rest]
    return [ring.device.put(x) if there and isinstance(x, Tensor) else x for x in found]


def check(ring: Ring, case: Case, batch: int, bandwidth: float | None) -> Row:
    """Compare one case, replay it as a graph, and time it."""
    device = ring.device
    shapes = [(n, batch) if n else (batch,) for n in case.components]
    host, rest = [ring.residues(*s) for s in shapes], others(ring, case, there=False)
    there, there_rest = [device.put(x) for x in host], others(ring, case, there=True)
    operator = device.operator(case.namespace, case.name)
    reference = getattr(getattr(torch.ops, case.namespace), case.name)
    wanted = reference(*host, *rest)
    device.poison(wanted.numel() * wanted.element_size())
    found = operator(*there, *there_rest)
    dtype = str(ring.dtype).removeprefix("torch.")
    row = Row(case.name, ring.degree, batch, dtype, torch.equal(found.cpu(), wanted))
    if bandwidth is not None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = operator(*there, *there_rest)
        for x, shape in zip(there, shapes, strict=True):
            x.copy_(ring.residues(*shape))
        graph.replay()
        again = reference(*(x.cpu() for x in there), *rest)
        row.replayed = torch.equal(captured.cpu(), again)
        row.microseconds = timed(lambda: operator(*there, *there_rest))
        moved = sum(x.numel() * x.element_size() for x in (*there, found))
        row.floor = moved / bandwidth
    return row


def rows(device: Device, degrees: list[int], seconds: float) -> Iterator[Row]:
    """Yield the rows that fit into the time."""
    end = time.monotonic() + seconds
    bandwidth = device.bandwidth() if device.is_gpu else None
    for log_degree in degrees:
        for dtype in TYPES:
            ring = Ring(device, 2**log_degree, dtype)
            for batch in BATCHES:
                for case in CASES:
                    if time.monotonic() < end:
                        yield check(ring, case, batch, bandwidth)


def line(row: Row) -> str:
    """Write one line of the table."""
    verdict = "equal" if row.equal and row.replayed is not False else "DIFFERS"
    text = f"{row.operator:26}{row.degree:>8}{row.batch:>4} {row.dtype:6} {verdict:8}"
    if row.microseconds is not None:
        text += f"{row.microseconds:>10.1f} us, floor {row.floor:.1f} us"
    return text


def main() -> int:
    """Run the cases; return 1 where one differs."""
    parser = argparse.ArgumentParser(description="Check CUDA operators against the CPU's.")
    parser.add_argument("--degrees", default="13,16", help="logarithms of N")
    parser.add_argument("--seconds", type=float, default=300.0, help="start no case after these")
    parser.add_argument("--json", type=Path, help="write the rows there")
    options = parser.parse_args()
    require_native()
    device = Device()
    degrees = [int(text) for text in options.degrees.split(",")]
    found = list(rows(device, degrees, options.seconds))
    if options.json:
        text = json.dumps({"device": device.name, "rows": [asdict(r) for r in found]}, indent=2)
        options.json.write_text(text + "\n")
    for row in found:
        print(line(row))
    wrong = sum(not row.equal or row.replayed is False for row in found)
    print(f"{device.name}: {len(found) - wrong} equal, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
