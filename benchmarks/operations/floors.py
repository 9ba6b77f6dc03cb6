"""Hold whole operations of the Engine against what the machine allows, in one process.

    python -m benchmarks floors [--rings 14,15,16] [--rounds 15]

- product (multiply, relinearize, rescale) and rotation against the bare kernels of the same chain
  (skeleton.cpp), on NTT-domain inputs, after both have been found to give the same bits;
- eight hoisted rotations against one, and against the bare kernels of eight;
- a whole call on the smallest ring, which is checks and dispatch;
- an addition against a bare loop over its three streams, also in place;
- two threads against one, in what a user waits, by the best round of each.

Processor time of one thread, medians of ratios over rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from statistics import median

import torch

from benchmarks.native import bare_loop
from benchmarks.operations.skeleton import Skeleton
from benchmarks.rings import PRESETS, STEPS, Ring
from benchmarks.timing import interleaved, ratio
from fhelium.config import CkksConfig
from fhelium.config.rules import MIN_DEGREE
from fhelium.errors import InsecureWarning


class Bare:
    """The bare kernels on a ring's own ciphertexts and keys."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.relinearization = ring.engine.keys.relinearization().data
        self.rotations = [ring.engine.keys.rotation(step) for step in STEPS]
        self.skeleton = Skeleton(ring.config)
        limbs = len(ring.config.q_primes)
        self.shorter = torch.zeros(2, limbs - 1, ring.config.N, dtype=torch.int64)
        self.outs = [torch.zeros_like(ring.a.data) for _ in STEPS]

    def product(self) -> None:
        self.skeleton.multiply_relinearize_rescale(
            self.shorter, self.ring.a.data, self.ring.b.data, self.relinearization
        )

    def rotate(self) -> None:
        key = self.rotations[0]
        self.skeleton.rotate(self.outs[0], self.ring.a.data, key.data, key.galois_element)

    def rotate_many(self) -> None:
        keys, elements = zip(*((k.data, k.galois_element) for k in self.rotations), strict=True)
        self.skeleton.rotate_many(self.outs, self.ring.a.data, keys, elements)

    def require_equal_bits(self) -> None:
        """Stop where the Engine and the bare kernels differ."""
        ring = self.ring
        self.product()
        same = torch.equal(ring.product().data, self.shorter)
        self.rotate()
        same = same and torch.equal(ring.rotate().data, self.outs[0])
        self.rotate_many()
        for found, out in zip(ring.rotate_many(), self.outs, strict=True):
            same = same and torch.equal(found.data, out)
        if not same:
            raise SystemExit(f"{ring.name}: the Engine and the bare kernels give unequal bits")


def against_kernels(ring: Ring, rounds: int) -> None:
    """Print the Engine's operations beside the bare kernels."""
    bare = Bare(ring)
    bare.require_equal_bits()
    engine, own, other = ring.engine, ring.engine.add(ring.a, ring.b), ring.b.data
    calls: dict[str, Callable[[], object]] = {
        "product": ring.product,
        "bare product": bare.product,
        "rotate": ring.rotate,
        "bare rotate": bare.rotate,
        "8 rotations": ring.rotate_many,
        "bare 8 rotations": bare.rotate_many,
        "add": lambda: engine.add(ring.a, ring.b),
        "bare add": bare_loop([bare.outs[0]], [ring.a.data, other]),
        "add_": lambda: engine.add_(own, ring.b),
        "bare add_": bare_loop([bare.outs[0]], [bare.outs[0], other]),
    }
    times = interleaved(calls, rounds)
    for name in list(calls)[::2]:
        line = f"  {name:14}{median(times[name]) * 1e3:10.3f}"
        line += f"{median(times['bare ' + name]) * 1e3:10.3f}"
        line += f"{ratio(times, name, 'bare ' + name):8.2f}"
        if name == "8 rotations":
            line += f"   {ratio(times, name, 'rotate'):.2f} times one rotation"
        print(line, flush=True)


def call_overhead(rounds: int) -> None:
    """Print what a call costs on a ring so small that there is little to compute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)
        config = CkksConfig.create(depth=1, scale_bits=30, N=MIN_DEGREE, allow_insecure=True)
    ring = Ring(config)
    times = interleaved(
        {"add": lambda: ring.engine.add(ring.a, ring.b), "rotate": ring.rotate}, rounds
    )
    figures = (f"{name} {median(found) * 1e6:.1f}" for name, found in times.items())
    print(f"us of a whole call at N = {config.N}: {', '.join(figures)}", flush=True)


def two_threads(ring: Ring, rounds: int) -> None:
    """Print how much faster two threads are, by the best round: both cores have to be free."""
    calls = {"product": ring.product, "rotate": ring.rotate, "8 rotations": ring.rotate_many}
    times: dict[str, list[float]] = {f"{name} {count}": [] for name in calls for count in (1, 2)}
    for _ in range(rounds):
        for count in (1, 2):
            torch.set_num_threads(count)
            for name, figures in interleaved(calls, 1, time.perf_counter).items():
                times[f"{name} {count}"] += figures
    torch.set_num_threads(1)
    gains = (f"{name} {min(times[f'{name} 1']) / min(times[f'{name} 2']):.2f}" for name in calls)
    busy = f"{os.getloadavg()[0]:.1f} processes ran in the last minute"
    print(f"  two threads are faster by  {', '.join(gains)}   ({busy})", flush=True)


def main(arguments: list[str]) -> None:
    """Run the comparison and print a table for each ring."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks floors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rings", default="14,15,16", help="log2 of the ring degrees")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    call_overhead(options.rounds)
    for log_degree in options.rings.split(","):
        ring = Ring(PRESETS[int(log_degree)])
        print(f"{ring.name}: ms of the Engine, of the bare kernels, ratio")
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cores)})
        against_kernels(ring, options.rounds)
        os.sched_setaffinity(0, cores)
        if len(cores) > 1:
            two_threads(ring, options.rounds)
