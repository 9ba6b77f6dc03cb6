"""The values that the tensors of a file become, once all of its bytes were verified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch

from fhelium.backend.memory import require_memory
from fhelium.serialization.container import TensorEntry
from fhelium.serialization.expansion import Expander
from fhelium.serialization.layout import TORCH_DTYPES, memory_bytes
from fhelium.serialization.manifest import CONFIG, SECRET_KEY, SLOT_TYPES, Manifest, Seeded, Stored
from fhelium.serialization.strict_json import refuse
from fhelium.serialization.tensors import file_order, halves
from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    PublicKey,
    SecretKey,
    SwitchingKey,
    switching_key_storage,
    value_type,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A tensor to be filled from the file, and what then makes a value of it.

    Args:
        destination: Gets the stored bytes, in the order of its indices.
        finish: Checks the bytes and makes the value; called once all of the file was verified.
    """

    destination: torch.Tensor
    finish: Callable[[], Stored]


def prepare_parts(
    manifest: Manifest,
    entries: Sequence[TensorEntry],
    path: str,
    unseal: Callable[[bytes], bytes],
) -> list[Part]:
    """Allocate what the file's tensors will be read into."""
    _require_memory(manifest, entries, path)
    state = manifest.state
    if state is None:
        assert manifest.type_name == CONFIG
        return []
    expander = Expander(manifest.config)
    if manifest.type_name == SECRET_KEY:
        sealed = manifest.seal is not None
        return [_secret_part(state, entries[0], expander, unseal if sealed else None)]
    if manifest.type_name in SLOT_TYPES:
        if manifest.seeded:
            return [_seeded_part(state, manifest.seeded[0], entries[0], expander)]
        kind = Ciphertext if manifest.type_name == "Ciphertext" else Plaintext
        return [_slots_part(kind, state, entries[0], expander)]
    return [_key_part(state, key, expander) for key in manifest.seeded]


def _require_memory(manifest: Manifest, entries: Sequence[TensorEntry], path: str) -> None:
    # A file with holes takes no room on disk: its size says nothing about good faith.
    needed = memory_bytes(manifest, entries)
    what = f"the {manifest.type_name} in {path!a} would"
    require_memory("load_value", what, needed, "cpu", "Load it where there is more memory")


def _check_residues(data: torch.Tensor, state: CkksState, expander: Expander) -> None:
    counts = expander.strangers(data, state)
    if counts.any():
        refuse(
            f"holds {int(counts.sum())} words that are no residues, the first in limb "
            f"{int(counts.nonzero()[0])}",
            "Every residue of a prime q is in [0, q)",
        )


def _slots_part(
    kind: type[Ciphertext | Plaintext], state: CkksState, entry: TensorEntry, expander: Expander
) -> Part:
    data = torch.empty(entry.shape, dtype=TORCH_DTYPES[entry.dtype])

    def finish() -> Stored:
        _check_residues(data, state, expander)
        return kind(data, state)

    return Part(data, finish)


def _seeded_part(state: CkksState, seeded: Seeded, entry: TensorEntry, expander: Expander) -> Part:
    seed = seeded.details["public_seed"]
    data = torch.empty(2, *entry.shape, dtype=TORCH_DTYPES[entry.dtype])

    def finish() -> Stored:
        _check_residues(data[0], state, expander)
        data[1].copy_(expander.public_component(seed, entry.shape[:-2], state))
        return Ciphertext(data, state, public_seed=seed)

    return Part(data[0], finish)


def _secret_part(
    state: CkksState,
    entry: TensorEntry,
    expander: Expander,
    unseal: Callable[[bytes], bytes] | None,
) -> Part:
    stored = torch.empty(entry.shape, dtype=TORCH_DTYPES[entry.dtype])

    def finish() -> Stored:
        plain = stored
        if unseal is not None:
            plain = torch.frombuffer(bytearray(unseal(stored.numpy().tobytes())), dtype=torch.int8)
        if not bool((plain.to(torch.int16).abs() <= 1).all()):
            refuse("holds a secret that is not ternary", "Its coefficients are -1, 0 or 1")
        return SecretKey(expander.secret(plain.to(torch.int64)), state)

    return Part(stored, finish)


def _key_part(state: CkksState, key: Seeded, expander: Expander) -> Part:
    config = state.config
    limbs = len(config.primes)
    if key.type_name == "PublicKey":
        data = torch.empty(2, limbs, config.N, dtype=config.dtype)
    else:
        data = switching_key_storage(config.dnum, limbs, config.N, dtype=config.dtype)
    hidden, uniform = halves(data)

    def finish() -> Stored:
        _check_residues(hidden, state, expander)
        uniform.copy_(expander.uniform_half(key.details["public_seed"], uniform))
        kind = value_type(key.type_name).value_class
        made = kind(data, state.replace(insecure=key.insecure), **key.details)
        return cast(PublicKey | SwitchingKey, made)

    return Part(file_order(hidden), finish)
