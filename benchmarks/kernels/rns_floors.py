"""Time the native operators on every instruction set of the machine, and against its limits.

    taskset -c 0 python -m benchmarks rns [--degree 14] [--rounds 15] [--only NAME]

One worker process for each instruction set, all on one core and with one thread. The parent asks
them in turn, round after round, so that a busy neighbour meets all; figures are medians of
processor time over the rounds, and `/ avx2` is how many times slower the portable kernels are than
those. `bare` is a loop that reads and writes the same streams and computes nothing. `ports` is the
time of a conversion's vector operations at the machine's own rate of 52-bit multiplications:
2 (sources + 1) + 7 for each target, 9 more where it divides, and for the centring 10 for each
source and 6. Its share is of the time less that of the same call at N = 16, which is checks and
constants.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from benchmarks.kernels.operators import Operator, operators
from benchmarks.native import ROOT, bare_loop, streams, usable_isas

LEAST_SECONDS = 0.004  # of one measurement


def bare_call(operator: Operator) -> Callable[[], object]:
    """Return a call that moves the operator's streams."""

    def blocks(count: int) -> list[torch.Tensor]:
        return [torch.zeros(operator.row, dtype=torch.int64) for _ in range(count)]

    inputs = blocks(operator.reads)
    return bare_loop(
        inputs[: operator.writes] if operator.in_place else blocks(operator.writes), inputs
    )


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of one call out of as many as make a measurement."""
    call()
    start, calls = time.thread_time(), 0
    while (passed := time.thread_time() - start) < LEAST_SECONDS or calls < 2:
        call()
        calls += 1
    return passed / calls


def work(log_n: int, only: str) -> None:
    """Answer each line `name` or `bare name` on the input with seconds."""
    torch.set_num_threads(1)
    library = streams()
    listed = [operator for operator in operators(log_n) if only in operator.name]
    calls = {operator.name: operator.call for operator in listed}
    for operator in listed:
        if operator.empty_call:
            calls["empty " + operator.name] = operator.empty_call
        if operator.row:
            calls["bare " + operator.name] = bare_call(operator)
    rounds = 2**16
    calls["multiply"] = lambda: library.multiply_rounds(ctypes.c_int64(rounds), ctypes.c_uint64(3))
    about = [(o.name, bool(o.row), o.vector_operations) for o in listed]
    print(json.dumps({"operators": about, "multiplications": 16 * rounds}), flush=True)
    for line in sys.stdin:
        print(seconds(calls[line.strip()]), flush=True)


class Worker:
    """A process with one instruction set."""

    def __init__(self, isa: str, arguments: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks", "rns", "--worker"]
        command += ["--degree", str(arguments.degree)]
        self.process = subprocess.Popen(
            [*command, "--only", arguments.only],
            cwd=ROOT, env=os.environ | {"FHELIUM_CPU_ISA": isa},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdin
        assert self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        self.about = json.loads(self.output.readline())

    def ask(self, name: str) -> float:
        print(name, file=self.input, flush=True)
        return float(self.output.readline())


def main(command_line: list[str]) -> None:
    """Measure in turn and print one line for each operator."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks rns",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--degree", type=int, default=14, help="log2 of the ring degree")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="operators whose name holds this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(command_line)
    if arguments.worker:
        work(arguments.degree, arguments.only)
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    isas = usable_isas()
    workers = {isa: Worker(isa, arguments) for isa in isas}
    fast = workers[isas[-1]]
    rate = fast.about["multiplications"] / statistics.median(fast.ask("multiply") for _ in range(9))
    print(f"N = 2^{arguments.degree}, one thread, {rate / 1e9:.2f} vector multiplications a ns")
    titles = (*isas, *(f"/ {isa}" for isa in isas[1:]), "bare", "/ bare", "ports", "share")
    print(f"{'us':32}{''.join(f'{title:>10}' for title in titles)}")
    for name, has_streams, operations in fast.about["operators"]:
        times: dict[str, list[float]] = {key: [] for key in (*isas, "bare", "empty")}
        for _ in range(arguments.rounds):
            for isa in isas:
                times[isa].append(workers[isa].ask(name))
            if operations:
                times["empty"].append(fast.ask("empty " + name))
            if has_streams:
                times["bare"].append(fast.ask("bare " + name))
        median = {key: statistics.median(t) * 1e6 for key, t in times.items() if t}
        cells = [median[isa] for isa in isas]
        cells += [median["scalar"] / median[isa] for isa in isas[1:]]
        if has_streams:
            cells += [median["bare"], median[isas[-1]] / median["bare"]]
        if operations:
            bound = operations / rate * 1e6
            cells += [bound, bound / (median[isas[-1]] - median["empty"])]
        print(f"{name:32}{''.join(f'{cell:10.2f}' for cell in cells)}", flush=True)
