"""Replay a matrix-vector product as a CUDA Graph; without CUDA the same table, uncaptured.

The diagonals of the matrix and the rotation keys are fixed in a closure, the vector is what each
replay replaces. A 16 x 16 matrix acts on every block of 16 slots at once.
"""

import statistics
import time
from collections.abc import Callable

import torch
from common import print_table

from fhelium import Ciphertext, Engine
from fhelium.runtime import CudaGraphProgram, memory_snapshot
from fhelium.text import size_text

SIZE = 16
ROUNDS = 5


def diagonals(matrix: torch.Tensor, slots: int) -> list[torch.Tensor]:
    """Return the generalised diagonals: entry i of the k-th one is matrix[i, i - k]."""
    rows = torch.arange(SIZE)
    return [matrix[rows, (rows - k) % SIZE].repeat(slots // SIZE) for k in range(SIZE)]


def matrix_vector(engine: Engine, matrix: torch.Tensor, like: Ciphertext, keys: dict):
    """Return an evaluator with everything but the vector fixed."""
    factors = [
        engine.prepare_plaintext(diagonal, like=like.cpu()).to(like.device)
        for diagonal in diagonals(matrix, engine.config.num_slots)
    ]

    def evaluate(x: Ciphertext) -> Ciphertext:
        # Blocks are periodic with period 16, so a rotation of all slots turns every block.
        turned = [x] + [engine.rotate_with_key(x, keys[step]) for step in range(1, SIZE)]
        return engine.rescale_to_next_depth(engine.sum_plaintext_products(turned, factors))

    return evaluate


def seconds(call: Callable[[], object], device: torch.device) -> float:
    """Return the median time of a call with the device waited for."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    engine = Engine("slots4096_scale40_depth2_int64")
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    keys = {k: engine.create_rotation_key(k, secret_key).to(device) for k in range(1, SIZE)}

    generator = torch.Generator().manual_seed(2)
    matrix = 2 * torch.rand(SIZE, SIZE, generator=generator, dtype=torch.float64) - 1
    vectors = 2 * torch.rand(3, SIZE, generator=generator, dtype=torch.float64) - 1
    repeated = vectors.repeat(1, engine.config.num_slots // SIZE)
    encrypted = [engine.encrypt_message(v, public_key, output_domain="ntt") for v in repeated]
    inputs = [x.to(device) for x in encrypted]  # fresh requests would come from the host
    evaluate = matrix_vector(engine, matrix, inputs[0], keys)

    def error(result: Ciphertext, place: int) -> float:
        found = engine.decrypt_message(result.cpu(), secret_key, real=True)[:SIZE]
        return float((found - matrix @ vectors[place]).abs().max())

    worst = max(error(evaluate(x), place) for place, x in enumerate(inputs))
    result = evaluate(inputs[0])
    times = {"uncaptured": seconds(lambda: evaluate(encrypted[1].to(device)), device)}
    once = []
    if device.type == "cuda":
        program = CudaGraphProgram.capture(evaluate, example_inputs=(inputs[0],))
        kept = program.replay(encrypted[1], copy_output=True)  # survives the next replays
        last = program.replay(encrypted[2], synchronize=True)
        worst = max(worst, error(kept, 1), error(last, 2))
        times["staged replay"] = seconds(lambda: program.replay(encrypted[1]), device)
        times["replay, owned copy"] = seconds(
            lambda: program.replay(encrypted[1], copy_output=True), device
        )
        stats = program.stats
        once = [
            (f"once: {stats.warmup_iterations} warm-up calls", f"{stats.warmup_seconds:.4f} s"),
            ("once: capture", f"{stats.capture_seconds:.4f} s"),
            ("once: first replay", f"{stats.first_replay_seconds:.4f} s"),
        ]
        program.close()
    captured = ("staged replay", "replay, owned copy")
    memory = memory_snapshot()
    rows = [
        ("device", device),
        ("largest error", f"{worst:.1e}"),
        ("depth", result.depth),
        ("scale", f"{result.scale:.6g}"),
        ("domain", result.polynomial_domain),
        ("basis", f"{result.modulus_basis}, {len(result.prime_ids)} primes"),
        ("components", result.components),
        ("uncaptured", f"{times['uncaptured']:.4f} s"),
        *((name, f"{times[name]:.4f} s" if name in times else "no CUDA") for name in captured),
        ("peak allocated", size_text(memory.cuda_peak_allocated_bytes)),
        ("peak reserved", size_text(memory.cuda_peak_reserved_bytes)),
        *(once or [("once: warm-up, capture, first replay", "no CUDA")]),
    ]
    print_table(("fact", "value"), rows)


if __name__ == "__main__":
    main()
