"""Time the NTT kernels of every instruction set of this machine, without torch in between.

    python -m benchmarks ntt [--bits 45,50,60] [--rounds 31] [--isa avx2,avx512] [--cpu 1]
        [--prototype FOLDER] [--operators]

Links the kernels of the last build to a small harness and runs it pinned to one CPU.
Microseconds of CPU time a transform, in place, rows and tables on huge pages: `hot` is the same
row again and again, `sweep` goes over 24 limbs. Every figure is the median over rounds in which all
candidates take turns; the lower decile stands in brackets, as what a quiet machine would give.

--prototype names a folder with `ntt512_v3p.hpp`, a hand-written transform for primes up to 45
bits; then a column holds the ratio to it. --operators also times the sweep through torch's
dispatcher, on every instruction set and each of its paths in turn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.native import ROOT, WIDE, compile_program, usable_isas

# A folder beside the checkout may hold the prototype.
PROTOTYPES = ROOT.parent / "shared/prototypes/cpu"
LIMBS = 24


def compile_harness(folder: Path, prototype: Path | None) -> Path:
    """Build the harness and return its path."""
    flags = [] if prototype is None else [*WIDE, "-w", "-DWITH_PROTOTYPE", f"-I{prototype}"]
    source = Path(__file__).with_name("ntt_harness.cpp")
    return compile_program(source, folder / "ntt_harness", *flags)


def measurements(
    program: Path, isas: list[str], bits: str, rounds: int, cpu: int
) -> Iterator[tuple[str, int, int, list[float]]]:
    """Yield kernel and direction, log2 N, prime bits, and hot and sweep as median and decile."""
    command = ["taskset", "-c", str(cpu), str(program), str(rounds), ",".join(isas)]
    result = subprocess.run([*command, *bits.split(",")], check=True, stdout=subprocess.PIPE)
    for line in result.stdout.decode().splitlines():
        name, log_degree, prime_bits, *times = line.split()
        yield name, int(log_degree), int(prime_bits), [float(t) for t in times]


def print_table(rows: list[tuple[str, int, int, list[float]]]) -> None:
    """Print one line a measurement, with the ratio to the prototype where there is one."""
    base = {(n.split("-")[1], d, b): t for n, d, b, t in rows if n.startswith("prototype")}
    print(f"{'kernel':20}{'N':>6}{'bits':>5}{'hot us':>18}{'sweep us':>20}   ratio to prototype")
    for name, log_degree, bits, (hot, hot_low, sweep, sweep_low) in rows:
        line = f"{name:20}{f'2^{log_degree}':>6}{bits:>5}"
        line += f"{hot:9.2f} [{hot_low:6.2f}]{sweep:10.2f} [{sweep_low:7.2f}]"
        reference = base.get((name.split("-")[1], log_degree, bits))
        if reference and not name.startswith("prototype"):
            line += f"   {hot / reference[0]:.2f} [{hot_low / reference[1]:.2f}]"
            line += f" / {sweep / reference[2]:.2f} [{sweep_low / reference[3]:.2f}]"
        print(line)


def time_variants(bits: str, rounds: int) -> None:
    """Print a transform's share of a sweep through the operators, for each variant that takes it.

    A variant is an instruction set, or one of the paths between which a prime's size chooses.
    """
    import torch

    from benchmarks.kernels.operators import primes_below, root_of
    from fhelium.native.wrapper import ntt_diagnostic_ops as diagnostic
    from fhelium.native.wrapper import rns_ops

    torch.set_num_threads(1)
    active = rns_ops.cpu_isa()
    print(f"operators, {LIMBS} limbs, microseconds a limb; the ratio is to {active}")
    for log_degree, prime_bits in product(range(13, 17), map(int, bits.split(","))):
        degree = 1 << log_degree
        chain = primes_below(prime_bits, LIMBS)
        roots = torch.tensor([root_of(q, degree) for q in chain])
        params = rns_ops.rns_parameters(torch.tensor(chain), degree)
        x = torch.randint(0, min(chain), (LIMBS, degree))
        tables = {}
        for name in diagnostic.variant_names().split(", "):
            with suppress(RuntimeError):  # primes that a path does not take
                tables[name] = diagnostic.variant_tables(name, roots, degree, params)
        for direction in ("ntt", "intt"):
            call = getattr(diagnostic, f"variant_{direction}")
            times: dict[str, list[float]] = {name: [] for name in tables}
            for name in [*tables] * rounds:
                start = time.thread_time()
                call(name, x, tables[name], params)
                times[name].append((time.thread_time() - start) * 1e6 / LIMBS)
            for name, found in times.items():
                ratio = median(found) / median(times[active])
                row = f"{name + ' ' + direction:26}{f'2^{log_degree}':>6}{prime_bits:>5}"
                print(f"{row}{median(found):10.2f} [{min(found):7.2f}]{ratio:8.2f}")


def main(command_line: list[str]) -> None:
    """Run the harness and print its figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks ntt",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--bits", default="45,48,50,56,60")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--isa", default=",".join(["portable", *usable_isas()[1:]]))
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--prototype", type=Path, default=PROTOTYPES)
    parser.add_argument("--operators", action="store_true")
    arguments = parser.parse_args(command_line)
    prototype = arguments.prototype
    if not (prototype / "ntt512_v3p.hpp").exists() or "avx512" not in usable_isas():
        prototype = None
    with tempfile.TemporaryDirectory() as name:
        program = compile_harness(Path(name), prototype)
        isas = arguments.isa.split(",")
        rows = measurements(program, isas, arguments.bits, arguments.rounds, arguments.cpu)
        print_table(list(rows))
    if arguments.operators:
        sys.stdout.flush()
        os.sched_setaffinity(0, {arguments.cpu})
        time_variants(arguments.bits, arguments.rounds)
