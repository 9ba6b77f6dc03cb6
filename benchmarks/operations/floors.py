"""Hold whole operations of the Engine against what the machine allows, in one process.

    THP_MEM_ALLOC_ENABLE=1 python -m benchmarks floors [--rings 14,15,16] [--rounds 15]

- product (multiply, relinearize, rescale) and rotation against the bare kernels of the same chain
  (skeleton.cpp), on NTT-domain inputs, after both have been found to give the same bits;
- eight hoisted rotations against one, and against the bare kernels of eight;
- an addition against a bare loop over its three streams, also in place;
- two threads against one, in what a user waits.

Processor time of one thread, medians of ratios over rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median

import torch
from benchmarks.native import bare_loop
from benchmarks.operations.presets import PRESETS
from benchmarks.operations.skeleton import Skeleton
from benchmarks.timing import interleaved, ratio

from fhelium import Engine
from fhelium.values import Ciphertext

STEPS = tuple(range(1, 9))


class Ring:
    """Keys, inputs and the bare kernels at one preset."""

    def __init__(self, preset: str) -> None:
        self.engine = engine = Engine(preset)
        self.config = config = engine.config
        secret_key = engine.create_secret_key()
        public_key = engine.create_public_key(secret_key)
        engine.add_keys(engine.create_evaluation_keys(secret_key, steps=STEPS))
        message = torch.rand(config.num_slots, dtype=torch.float64)
        self.a, self.b = (
            engine.encrypt_message(message, public_key, output_domain="ntt") for _ in range(2)
        )
        self.relinearization = engine.keys.relinearization().data
        self.rotations = [engine.keys.rotation(step) for step in STEPS]
        self.skeleton = Skeleton(config)
        limbs = len(config.q_primes)
        self.shorter = torch.zeros(2, limbs - 1, config.N, dtype=torch.int64)
        self.outs = [torch.zeros_like(self.a.data) for _ in STEPS]

    def product(self) -> Ciphertext:
        engine = self.engine
        return engine.rescale_to_next_depth(engine.relinearize(engine.multiply(self.a, self.b)))

    def rotate(self) -> Ciphertext:
        return self.engine.rotate_by_step(self.a, 1)

    def rotate_many(self) -> list[Ciphertext]:
        return list(self.engine.rotate_many_by_steps(self.a, STEPS))

    def bare_product(self) -> None:
        self.skeleton.multiply_relinearize_rescale(
            self.shorter, self.a.data, self.b.data, self.relinearization
        )

    def bare_rotate(self) -> None:
        key = self.rotations[0]
        self.skeleton.rotate(self.outs[0], self.a.data, key.data, key.galois_element)

    def bare_rotate_many(self) -> None:
        keys, elements = zip(*((k.data, k.galois_element) for k in self.rotations), strict=True)
        self.skeleton.rotate_many(self.outs, self.a.data, keys, elements)

    def require_equal_bits(self) -> None:
        """Stop where the Engine and the bare kernels differ."""
        self.bare_product()
        same = torch.equal(self.product().data, self.shorter)
        self.bare_rotate()
        same = same and torch.equal(self.rotate().data, self.outs[0])
        self.bare_rotate_many()
        for found, out in zip(self.rotate_many(), self.outs, strict=True):
            same = same and torch.equal(found.data, out)
        if not same:
            raise SystemExit(f"{self.config}: the Engine and the bare kernels give unequal bits")


def against_kernels(ring: Ring, rounds: int) -> None:
    """Print the Engine's operations beside the bare kernels."""
    ring.require_equal_bits()
    engine, own, other = ring.engine, ring.engine.add(ring.a, ring.b), ring.b.data
    calls: dict[str, Callable[[], object]] = {
        "product": ring.product,
        "bare product": ring.bare_product,
        "rotate": ring.rotate,
        "bare rotate": ring.bare_rotate,
        "8 rotations": ring.rotate_many,
        "bare 8 rotations": ring.bare_rotate_many,
        "add": lambda: engine.add(ring.a, ring.b),
        "bare add": bare_loop([ring.outs[0]], [ring.a.data, other]),
        "add_": lambda: engine.add_(own, ring.b),
        "bare add_": bare_loop([ring.outs[0]], [ring.outs[0], other]),
    }
    times = interleaved(calls, rounds)
    for name in list(calls)[::2]:
        line = f"  {name:14}{median(times[name]) * 1e3:10.3f}"
        line += f"{median(times['bare ' + name]) * 1e3:10.3f}"
        line += f"{ratio(times, name, 'bare ' + name):8.2f}"
        if name == "8 rotations":
            line += f"   {ratio(times, name, 'rotate'):.2f} times one rotation"
        print(line, flush=True)


def two_threads(ring: Ring, rounds: int) -> None:
    """Print how much faster two threads are."""
    calls = {"product": ring.product, "rotate": ring.rotate, "8 rotations": ring.rotate_many}
    times: dict[str, list[float]] = {f"{name} {count}": [] for name in calls for count in (1, 2)}
    for _ in range(rounds):
        for count in (1, 2):
            torch.set_num_threads(count)
            for name, figures in interleaved(calls, 1, time.perf_counter).items():
                times[f"{name} {count}"] += figures
    torch.set_num_threads(1)
    gains = (f"{name} {ratio(times, f'{name} 1', f'{name} 2'):.2f}" for name in calls)
    print(f"  two threads are faster by  {', '.join(gains)}", flush=True)


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
    for log_degree in options.rings.split(","):
        ring = Ring(PRESETS[int(log_degree)])
        print(f"{PRESETS[int(log_degree)]}: ms of the Engine, of the bare kernels, ratio")
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cores)})
        against_kernels(ring, options.rounds)
        os.sched_setaffinity(0, cores)
        if len(cores) > 1:
            two_threads(ring, options.rounds)
