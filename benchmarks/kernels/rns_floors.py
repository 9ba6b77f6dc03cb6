"""Time the residue, ciphertext, sampler and codec kernels: portable against AVX-512, and both
against the machine.

    taskset -c 0 python -m benchmarks rns [--degree 14] [--rounds 15] [--only NAME]

One worker process for each instruction set, both on one core and with one thread. The parent asks
them in turn, round after round, so that a busy neighbour meets both; figures are medians of
processor time over the rounds. `bare` is a loop that reads and writes the same streams and computes
nothing. `ports` is the time of a conversion's vector operations at the machine's own rate of 52-bit
multiplications: 2 (sources + 1) + 7 for each target, 9 more where it divides, and for the centring
10 for each source and 6. Its share is of the time less that of the same call at N = 16, which is
checks and constants.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.native import ROOT, bare_loop, streams

ISAS = ("scalar", "avx512")
# Huge pages, and freed blocks stay mapped: kernels are measured, not page faults.
MEMORY = {
    "THP_MEM_ALLOC_ENABLE": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**26),
}
LEAST_SECONDS = 0.004  # of one measurement


@dataclass
class Operator:
    """One call to time, the rows it reads and writes, and the vector operations of its bound."""

    name: str
    call: Callable[[], object]
    reads: int = 0
    writes: int = 0
    row: int = 0  # words
    in_place: bool = False
    vector_operations: float = 0.0
    empty_call: Callable[[], object] | None = None


def operators(log_n: int) -> Iterator[Operator]:
    """Yield the operators at degree 2^log_n: 8 limbs of 40 bits and 2 special primes of 48."""
    yield from ciphertext_operators(log_n)
    q, special = primes_below(40, 8), primes_below(48, 2)
    eight = [primes_below(45, 8)]
    yield from conversions(log_n, "preset", [q[2 * j : 2 * j + 2] for j in range(4)], special)
    yield from conversions(log_n - 2, "8 sources", eight, primes_below(46, 8))
    yield from conversions(log_n - 3, "8 sources, in cache", eight, primes_below(46, 16))
    yield from message_operators(log_n)


def ciphertext_operators(log_n: int) -> Iterator[Operator]:
    """Yield what one row at a time computes."""
    import torch

    rns, ckks = torch.ops.fhelium_rns_ops, torch.ops.fhelium_ckks_ops
    n, q, special = 2**log_n, primes_below(40, 8), primes_below(48, 2)
    p, whole = (
        rns.rns_parameters(torch.tensor(q), n),
        rns.rns_parameters(torch.tensor(q + special), n),
    )
    limbs = len(q)

    def draw(*batch: int, moduli: list[int] = q) -> torch.Tensor:
        shape = (*batch, len(moduli), n)
        return torch.randint(0, 2**62, shape) % torch.tensor(moduli)[:, None]

    a, b, own = draw(2), draw(2), draw(2)
    for name in ("add_standard_", "subtract_standard_", "multiply_montgomery_"):
        f = getattr(rns, name)
        yield Operator(name, lambda f=f: f(own, b, p), 2, 1, 2 * limbs * n, True)
    for name in ("negate_standard_", "to_montgomery_", "from_montgomery_"):
        f = getattr(rns, name)
        yield Operator(name, lambda f=f: f(own, p), 1, 1, 2 * limbs * n, True)
    yield Operator("add_standard", lambda: rns.add_standard(a, b, p), 2, 1, 2 * limbs * n)
    yield Operator("multiply_plaintext_", lambda: ckks.multiply_plaintext_(own, b[0], p), 2, 1,
                   2 * limbs * n, True)  # fmt: skip
    yield Operator("ciphertext_product", lambda: ckks.ciphertext_product(a, b, p), 4, 3, limbs * n)
    yield Operator("ciphertext_square", lambda: ckks.ciphertext_square(a, p), 2, 3, limbs * n)
    digits, key = draw(4, moduli=q + special), draw(4, 2, moduli=q + special)
    inner = ckks.key_switch_inner_product
    yield Operator("inner_product, 4 digits", lambda: inner(digits, key, whole), 12, 2, 10 * n)
    inverse = torch.tensor([pow(q[0], -1, m) * 2**52 % m for m in q[1:]])
    yield Operator("rescale_nearest", lambda: ckks.rescale_nearest(a, inverse, p), 2, 1,
                   2 * (limbs - 1) * n)  # fmt: skip
    yield Operator("automorphism_ntt", lambda: ckks.automorphism_ntt(a, 5), 1, 1, 2 * limbs * n)
    yield Operator("automorphism_coefficient", lambda: ckks.automorphism_coefficient(a, 5, p), 1, 1,
                   2 * limbs * n)  # fmt: skip
    yield Operator("count_out_of_range", lambda: rns.count_out_of_range(a, p), 1, 0, 2 * limbs * n)


def message_operators(log_n: int) -> Iterator[Operator]:
    """Yield the codec and the samplers."""
    import torch

    rns, sampler = torch.ops.fhelium_rns_ops, torch.ops.fhelium_random_ops
    n, q = 2**log_n, primes_below(40, 8)
    p, limbs, key_bytes = rns.rns_parameters(torch.tensor(q), n), len(q), torch.arange(32).byte()
    residues = torch.randint(0, min(q), (limbs, n))
    values = torch.randint(-(2**62), 2**62, (n,))
    yield Operator("reduce_integers", lambda: rns.reduce_integers(values, p), 1, 1, limbs * n)
    reals = torch.randn(n, dtype=torch.float64)
    yield Operator(
        "round_to_residues", lambda: rns.round_to_residues(reals, 2.0**40, p), 1, 1, limbs * n
    )
    for count in (2, 8):
        x, own_p = residues[:count].contiguous(), p[:, :count].contiguous()
        yield Operator(
            f"residues_to_real, {count} limbs", lambda x=x, o=own_p: rns.residues_to_real(x, o)
        )
    nonce = torch.zeros(12, dtype=torch.uint8)
    yield Operator("chacha20, 1 MiB", lambda: sampler.chacha20_blocks(key_bytes, nonce, 0, 2**14))
    ids = torch.arange(limbs)
    yield Operator("sample_uniform", lambda: sampler.sample_uniform(key_bytes, ids, 0, 0, 1, n, p))
    yield Operator("sample_ternary", lambda: sampler.sample_ternary(key_bytes, 0, 1, n))
    yield Operator("sample_gaussian", lambda: sampler.sample_gaussian(key_bytes, 0, 1, n))
    yield Operator(
        "sample_rounded_gaussian", lambda: sampler.sample_rounded_gaussian(key_bytes, 2.0**30, 1, n)
    )


def conversions(
    log_n: int, label: str, digits: list[list[int]], special: list[int]
) -> Iterator[Operator]:
    """Yield mod_up and mod_down of one chain; the primes are below 2^50, so R is 2^52."""
    q = [d for digit in digits for d in digit]
    limbs, rows, vectors = len(q), len(q) + len(special), 2**log_n / 8
    up = sum((rows - len(d)) * (2 * len(d) + 9) + 10 * len(d) + 6 for d in digits)
    down = limbs * (2 * len(special) + 18) + 10 * len(special) + 6
    (raise_it, lower_it), (raise_little, lower_little) = (
        conversion_calls(n, digits, special) for n in (2**log_n, 16)
    )
    yield Operator(
        f"mod_up, {label}", raise_it, limbs, len(digits) * rows, 2**log_n,
        vector_operations=up * vectors, empty_call=raise_little,
    )  # fmt: skip
    yield Operator(
        f"mod_down, {label}", lower_it, rows, limbs, 2**log_n,
        vector_operations=down * vectors, empty_call=lower_little,
    )  # fmt: skip


def conversion_calls(
    n: int, digits: list[list[int]], special: list[int]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return calls of mod_up and mod_down at degree n."""
    import torch

    rns = torch.ops.fhelium_rns_ops
    q = [d for digit in digits for d in digit]
    whole, limbs, P = q + special, len(q), math.prod(special)

    def form(value: int, m: int) -> int:
        return value * 2**52 % m

    bounds = torch.tensor([sum(map(len, digits[:j])) for j in range(len(digits) + 1)])
    cofactors = [(math.prod(digit) // d, d) for digit in digits for d in digit]
    scale = torch.tensor([form(pow(c, -1, d), d) for c, d in cofactors])
    matrix = torch.tensor([[form(c, m) for m in whole] for c, _ in cofactors])
    correction = torch.tensor([[form(math.prod(digit), m) for m in whole] for digit in digits])
    p = rns.rns_parameters(torch.tensor(whole), n)
    x = torch.randint(0, 2**62, (len(whole), n)) % torch.tensor(whole)[:, None]
    low = x[:limbs].contiguous()
    special_scale = torch.tensor([form(pow(P // s, -1, s), s) for s in special])
    down = torch.tensor([[form(P // s, m) for m in q] for s in special])
    product = torch.tensor([form(P, m) for m in q])
    division = torch.tensor([form(pow(P, -1, m), m) for m in q])
    return (
        lambda: rns.mod_up(low, bounds, scale, matrix, correction, p),
        lambda: rns.mod_down(x, special_scale, down, product, division, p),
    )


def primes_below(bits: int, count: int) -> list[int]:
    """Return the largest primes below 2^bits that are 1 modulo 2^17."""
    found, candidate = [], (2**bits - 1) // 2**17 * 2**17 + 1
    while len(found) < count:
        if all(pow(b, candidate - 1, candidate) == 1 for b in (2, 3, 5, 7, 11, 13)):
            found.append(candidate)
        candidate -= 2**17
    return found


def bare_call(operator: Operator) -> Callable[[], object]:
    """Return a call that moves the operator's streams."""
    import torch

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
    import torch

    from fhelium.native import require_native

    require_native()
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
        command = [
            sys.executable,
            "-m",
            "benchmarks",
            "rns",
            "--worker",
            "--degree",
            str(arguments.degree),
        ]
        self.process = subprocess.Popen(
            [*command, "--only", arguments.only],
            cwd=ROOT, env=os.environ | MEMORY | {"FHELIUM_CPU_ISA": isa},
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
    workers = {isa: Worker(isa, arguments) for isa in ISAS}
    fast = workers["avx512"]
    rate = fast.about["multiplications"] / statistics.median(fast.ask("multiply") for _ in range(9))
    print(f"N = 2^{arguments.degree}, one thread, {rate / 1e9:.2f} vector multiplications a ns")
    titles = ("portable", "avx512", "ratio", "bare", "/ bare", "ports", "share")
    print(
        f"{'us':32}{titles[0]:>10}{titles[1]:>10}{titles[2]:>8}{titles[3]:>10}{titles[4]:>8}",
        end="",
    )
    print(f"{titles[5]:>10}{titles[6]:>8}")
    for name, has_streams, operations in fast.about["operators"]:
        times: dict[str, list[float]] = {isa: [] for isa in ISAS} | {"bare": [], "empty": []}
        for _ in range(arguments.rounds):
            for isa in ISAS:
                times[isa].append(workers[isa].ask(name))
            if operations:
                times["empty"].append(fast.ask("empty " + name))
            if has_streams:
                times["bare"].append(fast.ask("bare " + name))
        median = {key: statistics.median(t) * 1e6 for key, t in times.items() if t}
        line = f"{name:32}{median['scalar']:10.1f}{median['avx512']:10.1f}"
        line += f"{median['scalar'] / median['avx512']:8.1f}"
        if has_streams:
            line += f"{median['bare']:10.1f}{median['avx512'] / median['bare']:8.2f}"
        if operations:
            bound = operations / rate * 1e6
            line += f"{bound:10.1f}{100 * bound / (median['avx512'] - median['empty']):7.0f}%"
        print(line, flush=True)
