"""Compiled functions against the Engine, in one process and by turns.

Four ways to one result: the circuit as a user writes it with the Engine, the Engine's calls that
the compiled Program consists of before anything is fused, the compiled function, and the same
lowered to residue operations. The last three are the same work, bit for bit; a ratio below 1 is
what fusion and linking gain, and constants that are encoded when a Program is linked instead of at
each run. The last ratio is what it costs to have each step of an operation to oneself.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.rings import PRESETS, STEPS, Ring
from benchmarks.timing import interleaved, ratio
from fhelium import compile as fc
from fhelium.values import Ciphertext, Plaintext

UNFUSED = {"HoistRotationsPass", "CollectSumsPass", "FuseOperationsPass"}
WEIGHTS = np.linspace(-0.5, 0.5, 64)

Pair = tuple[Callable[..., Any], Callable[[Ring], Ciphertext]]


def _cubic(engine: Any, x: Ciphertext) -> Ciphertext:
    square = engine.rescale_to_next_depth(engine.relinearize(engine.square(x)))
    scaled = engine.rescale_to_next_depth(engine.multiply_scalar(x, 0.0625))
    cube = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(square, scaled)))
    low = engine.align_to_depth(x, 1)
    linear = engine.rescale_to_next_depth(engine.multiply_scalar(low, 0.25))
    return engine.add_scalar(engine.add(linear, cube), 0.5)


def _product_plus_rotation(ring: Ring) -> Ciphertext:
    engine = ring.engine
    product = engine.relinearize(engine.multiply(ring.a, ring.b))
    low = engine.align_to_depth(ring.a, 1)
    return engine.add(engine.rescale_to_next_depth(product), engine.rotate_by_step(low, 1))


def _rotations(ring: Ring) -> Ciphertext:
    engine, total = ring.engine, ring.a
    for step in STEPS:
        total = engine.add(total, engine.rotate_by_step(ring.a, step))
    return total


@cache
def _factor(ring: Ring) -> Plaintext:
    weights = np.tile(WEIGHTS, ring.config.num_slots // len(WEIGHTS))
    return ring.engine.prepare_plaintext(weights, like=ring.a)


def _weighted(ring: Ring) -> Ciphertext:
    engine, factor = ring.engine, _factor(ring)
    return engine.rescale_to_next_depth(engine.multiply_plaintext(ring.a, factor))


def _products(ring: Ring) -> Ciphertext:
    engine, x, y = ring.engine, ring.a, ring.b
    mixed = engine.multiply(engine.add(x, y), engine.subtract(x, y))
    total = engine.add(engine.add(engine.square(x), engine.multiply(x, y)), mixed)
    return engine.rescale_to_next_depth(engine.relinearize(total))


def _combination(ring: Ring) -> Ciphertext:
    engine = ring.engine
    terms = [engine.multiply_scalar(v, w) for v, w in ((ring.a, 0.5), (ring.b, -0.25))]
    scaled = engine.rescale_to_next_depth(engine.add(*terms))
    return engine.add_scalar(scaled, 0.125)


def _sums(ring: Ring) -> Ciphertext:
    engine, x, y = ring.engine, ring.a, ring.b
    inner = engine.subtract(engine.add(x, y), engine.subtract(x, y))
    return engine.subtract(engine.add(inner, engine.subtract(engine.add(x, x), y)), y)


CIRCUITS: dict[str, Pair] = {
    "x y + roll(x)": (lambda x, y: x * y + torch.roll(x, 1), _product_plus_rotation),
    "a cubic": (lambda x, y: 0.5 + 0.25 * x + 0.0625 * x * x * x, lambda r: _cubic(r.engine, r.a)),
    "8 rotations": (lambda x, y: sum([torch.roll(x, s) for s in STEPS], x), _rotations),
    "x weights": (lambda x, y: x * WEIGHTS, _weighted),
    "3 products": (lambda x, y: x * x + x * y + (x + y) * (x - y), _products),
    "combination": (lambda x, y: 0.5 * x - 0.25 * y + 0.125, _combination),
    "sums": (lambda x, y: x + y - (x - y) + (x + x - y) - y, _sums),
    "x + y": (lambda x, y: x + y, lambda ring: ring.engine.add(ring.a, ring.b)),
}


def same_calls(ring: Ring, function: Callable[..., Any]) -> Callable[[], Any]:
    """Return the Engine's calls that a function is compiled to before anything is fused."""
    passes = fc.default_lower_and_fuse_pipeline().passes
    kept = [step for step in passes if type(step).__name__ not in UNFUSED]
    pipeline = fc.Pipeline((*kept, fc.EmitEagerPythonPass()))
    compilation = fc.compile(function, pipeline=pipeline).prepare(ring.a, ring.b).compilation
    source = compilation.workspace[fc.EagerPythonSource]
    namespace: dict[str, Any] = {}
    exec(source.source, namespace)
    fc.prepare_material_bindings(
        compilation,
        resources=ring.engine.dispatcher(ring.a.device).resources,
        keys=[ring.engine.keys],
    )
    entry, keys = namespace[source.entry_point], compilation.public_values
    return lambda: entry(ring.engine, ring.a, ring.b, materials=keys, resources={})


def candidates(ring: Ring, name: str) -> dict[str, Callable[[], Ciphertext]]:
    """Return the ways to compute a circuit, by name."""
    function, by_hand = CIRCUITS[name]
    compiled = fc.compile(function, keys=[ring.engine.keys])
    passes = fc.default_lower_and_fuse_pipeline().passes
    residues = fc.Pipeline((*passes, fc.LowerCkksToRnsNttPass()))
    lowered = fc.compile(function, keys=[ring.engine.keys], pipeline=residues)
    calls = {
        "engine": lambda: by_hand(ring),
        "same": same_calls(ring, function),
        "compiled": lambda: compiled(ring.a, ring.b),
        "lowered": lambda: lowered(ring.a, ring.b),
    }
    for kind in ("compiled", "lowered"):
        if not torch.equal(calls["same"]().data, calls[kind]().data):
            raise SystemExit(f"{name}: the {kind} function and the same calls differ")
    return calls


def measure(ring: Ring, rounds: int) -> None:
    """Print a line for each circuit."""
    for name in CIRCUITS:
        times = interleaved(candidates(ring, name), rounds)
        figures = "".join(f"{median(found) * 1e3:10.3f}" for found in times.values())
        pairs = (("compiled", "same"), ("compiled", "engine"), ("lowered", "compiled"))
        ratios = "".join(f"{ratio(times, *pair):8.2f}" for pair in pairs)
        print(f"  {name:14}{figures}{ratios}", flush=True)


def main(arguments: list[str]) -> None:
    """Run the comparison and print a table for each ring."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compiled",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rings", default="14", help="log2 of the ring degrees")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for log_degree in options.rings.split(","):
        ring = Ring(PRESETS[int(log_degree)])
        print(f"{ring.name}: ms by hand, of the same calls, compiled, lowered; ratios of compiled")
        print("  to the same calls and to those by hand, and of lowered to compiled")
        measure(ring, options.rounds)
