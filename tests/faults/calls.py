"""Every deterministic method of the Engine as a call that can be repeated and compared.

The calls come from ``tests/operation_samples.py``, so a new operation is under these tests without
a word here, and from the short list of methods that are no declared operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from fhelium import DecryptPolicy, Engine
from fhelium.values import CkksState, EvaluationKeys, TensorResident
from tests.operation_samples import SAMPLES

Parts = list[tuple[torch.Tensor, CkksState | None]]


@dataclass(frozen=True)
class Call:
    """One method with its arguments; calling it with any engine of the ring computes the same."""

    name: str
    method: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, engine: Engine) -> Any:
        return getattr(engine, self.method)(*self.arguments, **self.options)


def message(ring, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = (ring.config.num_slots,)
    return 1.4 * torch.rand(shape, dtype=torch.float64, generator=generator) - 0.7


def engine_calls(ring, *batch: int) -> list[Call]:
    """Make a call of every method, on values with the given batch axes."""
    engine = ring.engine
    clear = message(ring, 1).expand(*batch, -1)

    def encrypted(domain: str):
        return engine.encrypt_message(clear, ring.public_key, output_domain=domain)

    def operand(kind: str, domain: str):
        keys = {
            "relinearization": ring.keys.relinearization,
            "rotation": lambda: ring.keys.rotation(3),
            "conjugation": ring.keys.conjugation,
            "switching": lambda: engine.create_switching_key(
                ring.secret_key, engine.create_secret_key()
            ),
        }
        if kind in keys:
            return keys[kind]()
        if kind.startswith(("ciphertexts", "plaintexts")):
            return [operand(kind.replace("texts", "text"), domain) for _ in range(2)]
        ciphertext = encrypted(domain)
        if kind == "product":
            return engine.square(ciphertext)
        if kind.startswith("plaintext"):
            purpose = "add" if kind == "plaintext+" else "multiply"
            return engine.prepare_plaintext(clear, like=ciphertext, for_=purpose)
        return ciphertext

    calls = [
        Call(
            f"{sample.operation.name}-{domain}",
            sample.operation.ENGINE.name,
            tuple(operand(kind, domain) for kind in sample.operands),
            dict(sample.attributes),
        )
        for sample in SAMPLES
        for domain in sample.domains
    ]
    return calls + _other_calls(ring, clear, encrypted("ntt"))


def _other_calls(ring, clear: torch.Tensor, ciphertext) -> list[Call]:
    engine, secret_key = ring.engine, ring.secret_key
    private = {"policy": DecryptPolicy.private()}
    return [
        Call("rotate_by_step", "rotate_by_step", (ciphertext, -1)),
        Call("sum_slots", "sum_slots", (ciphertext, 4)),
        Call("encode", "encode", (clear,)),
        Call("prepare_plaintext", "prepare_plaintext", (clear,), {"like": ciphertext}),
        Call("decode", "decode", (engine.encode(clear),)),
        Call("decrypt", "decrypt", (ciphertext, secret_key)),
        Call("decrypt-private", "decrypt", (ciphertext, secret_key), private),
        Call("decrypt_message", "decrypt_message", (ciphertext, secret_key)),
        Call("decrypt_message-real", "decrypt_message", (ciphertext, secret_key), {"real": True}),
    ]


def parts(result: Any) -> Parts:
    """Take a result, or an argument, apart into its tensors, each with its state."""
    return list(_parts(result))


def _parts(result: Any) -> Iterator[tuple[torch.Tensor, CkksState | None]]:
    if isinstance(result, torch.Tensor):
        yield result, None
    elif isinstance(result, TensorResident):
        yield result.data, result.state
    elif isinstance(result, list | tuple | EvaluationKeys):
        for each in result:
            yield from _parts(each)


def same(left: Parts, right: Parts) -> bool:
    """Tell whether two results agree in every bit and in every axis of their states."""
    return len(left) == len(right) and all(
        torch.equal(mine, theirs) and mine.dtype == theirs.dtype and state == other
        for (mine, state), (theirs, other) in zip(left, right, strict=True)
    )


def copied(result: Parts) -> Parts:
    """Keep the bits of a result as they are now."""
    return [(tensor.clone(), state) for tensor, state in result]
