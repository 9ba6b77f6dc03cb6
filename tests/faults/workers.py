"""What the tests run in other processes; a worker imports this and nothing of pytest."""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any

import torch
from torch.utils.data import Dataset

from fhelium import Ciphertext, Engine, Plaintext, PublicKey
from fhelium.values import TensorResident
from tests.faults.calls import Call


def compute(
    engine: Engine, x: Ciphertext, y: Ciphertext, weights: Plaintext, key: PublicKey
) -> tuple[int, list[Ciphertext]]:
    """Use everything that was sent; return exact results, and the process that made them."""
    product = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(x, y)))
    results = [
        product,
        engine.add(product, engine.align_to_depth(engine.rotate_by_step(x, 1), 1)),
        engine.conjugate(x),
        engine.multiply_plaintext(y, weights),
        engine.encrypt_message(0.25, key),
    ]
    return os.getpid(), results


def run(calls: list[Call], engine: Engine) -> list[Any]:
    """Run calls on an engine that came along."""
    return [call(engine) for call in calls]


def digest(value: TensorResident) -> tuple[str, str]:
    """Describe a value by what it is and a digest of its residues."""
    content = value.data.contiguous().numpy().data
    return repr(value), hashlib.blake2b(content).hexdigest()


def identity(value: Any) -> Any:
    return value


def describe_engine(engine: Engine) -> tuple[str, tuple[int, ...], str, bool]:
    return repr(engine), engine.keys.steps, engine.config.context_id, engine.insecure


class Encrypted(Dataset):
    """Messages that become ciphertexts in the worker that loads them."""

    def __init__(self, engine: Engine, public_key: PublicKey, messages: torch.Tensor) -> None:
        self.engine, self.public_key, self.messages = engine, public_key, messages

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> tuple[int, Ciphertext]:
        encrypted = self.engine.encrypt_message(self.messages[index], self.public_key)
        return os.getpid(), self.engine.add_scalar(encrypted, 0.5)


def collate(samples: list[tuple[int, Ciphertext]]) -> tuple[set[int], Ciphertext]:
    return {process for process, _ in samples}, Ciphertext.stack([value for _, value in samples])


def draw(
    engine: Engine, key: PublicKey, threads: int, calls: int, batch: int
) -> tuple[int, list[bytes]]:
    """Encrypt from several threads; return a fingerprint of each ciphertext's random part."""
    message = torch.zeros(batch, engine.config.num_slots)
    found: list[list[bytes]] = [[] for _ in range(threads)]

    def work(mine: list[bytes]) -> None:
        for _ in range(calls):
            masked = engine.encrypt_message(message, key).data[1]
            rows = masked.numpy().tobytes()
            size = len(rows) // batch
            mine += [rows[start : start + size] for start in range(0, len(rows), size)]

    running = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    hashes = [hashlib.blake2b(row, digest_size=16).digest() for mine in found for row in mine]
    return os.getpid(), hashes


def seeded_draw(mapping: dict[str, Any], key: PublicKey, seed: int, rank: str) -> bytes:
    """Encrypt zero with a seeded engine as the process of a rank does."""
    os.environ["RANK"] = rank
    try:
        return Engine(mapping, rng_seed=seed).encrypt_message(0, key).data.numpy().tobytes()
    finally:
        del os.environ["RANK"]
