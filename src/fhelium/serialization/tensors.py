"""Which tensors a file holds for a value, and the value that they and the manifest make.

Slots are stored as they are. Of a public or switching key the hidden half is stored; the uniform
half is expanded again from its seed. Of a secret key the ternary coefficients are stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

import torch

from fhelium.backend.ckks import CkksDeviceResources
from fhelium.backend.ckks.key_generation import (
    expand_public_half,
    expand_secret,
    secret_coefficients,
)
from fhelium.backend.ntt import DEFAULT_NTT_BACKEND
from fhelium.config import CkksConfig
from fhelium.errors import StateError
from fhelium.native.wrapper import rns_ops
from fhelium.serialization.container import TensorEntry
from fhelium.serialization.manifest import (
    CONFIG,
    KEY_SET,
    SECRET_KEY,
    SLOT_TYPES,
    KeyEntry,
    Manifest,
    Stored,
)
from fhelium.serialization.passphrase import TAG_BYTES
from fhelium.serialization.storage import refuse_access
from fhelium.serialization.strict_json import refuse, shown
from fhelium.values import (
    Ciphertext,
    CkksState,
    EvaluationKeys,
    Plaintext,
    PublicKey,
    SecretKey,
    SwitchingKey,
    switching_key_storage,
    value_type,
)

CHUNK_BYTES: Final = 4 << 20
_DTYPES: Final = {"I64": torch.int64, "I8": torch.int8, "U8": torch.uint8}
_WORDS: Final = {"int64": "I64"}

Keys = PublicKey | SwitchingKey


@dataclass(frozen=True, slots=True)
class Part:
    """A tensor to be filled from the file, and what then makes a value of it.

    Args:
        destination: Gets the stored bytes, in the order of its indices.
        finish: Checks the bytes and makes the value; called once all of the file was verified.
    """

    destination: torch.Tensor
    finish: Callable[[], Stored]


def stored_tensors(value: Stored) -> list[tuple[TensorEntry, torch.Tensor]]:
    """Return the tensors to write for a value, on the CPU, and how the header names them.

    Args:
        value: A value, key, key set or config.

    Raises:
        StateError: The payload is not what files hold: a word is no residue, a public half does
            not come from its seed, or a secret is not ternary.

    Example:
        >>> [(entry.name, entry.dtype, entry.shape) for entry, _ in stored_tensors(secret_key)]
        [('coefficients', 'I8', (1024,))]
    """
    if isinstance(value, CkksConfig):
        return []
    if isinstance(value, EvaluationKeys):
        resources = _resources(next(iter(value)).config)
        names = (_set_name(index) for index in range(len(value)))
        return [_named(n, _hidden_half(k, resources)) for n, k in zip(names, value, strict=True)]
    resources = _resources(value.config)
    if isinstance(value, SecretKey):
        return [_named("coefficients", _ternary(value, resources))]
    if isinstance(value, Ciphertext | Plaintext):
        data = value.data.cpu()
        _require_residues(data, resources, value.state)
        return [_named("data", data)]
    return [_named("hidden", _hidden_half(value, resources))]


def check_entries(manifest: Manifest, entries: Sequence[TensorEntry]) -> None:
    """Refuse tensors that are not exactly those that the manifest asks for.

    Args:
        manifest: What the file says it holds.
        entries: The tensors of its header.

    Raises:
        FileFormatError: A name, dtype or shape is another one.

    Example:
        >>> from fhelium.serialization.manifest import describe_value
        >>> check_entries(describe_value(x), [TensorEntry("data", "I64", (2, 4, 1024))])
    """
    needed = _needed_entries(manifest)
    if [entry.name for entry in entries] != [entry.name for entry in needed]:
        refuse(
            f"holds the tensors {shown([entry.name for entry in entries])}",
            f"This {manifest.type_name} has {shown([entry.name for entry in needed])}",
        )
    for entry, wanted in zip(entries, needed, strict=True):
        shape = entry.shape
        if manifest.type_name in SLOT_TYPES:  # any batch axes may stand before limb and N
            lead = len(wanted.shape) - 2
            fits = len(shape) >= lead + 2 and shape[:lead] + shape[-2:] == wanted.shape
        else:
            fits = shape == wanted.shape
        if not fits or entry.dtype != wanted.dtype:
            refuse(
                f"holds {entry.name!r} as {entry.dtype} {list(shape)}",
                f"Its state asks for {wanted.dtype} {list(wanted.shape)}"
                + (", batch axes before the last two" * (manifest.type_name in SLOT_TYPES)),
            )


def prepare_parts(
    manifest: Manifest,
    entries: Sequence[TensorEntry],
    path: str,
    unseal: Callable[[bytes], bytes],
) -> list[Part]:
    """Allocate what the file's tensors will be read into.

    Args:
        manifest: What the file holds; its entries were checked.
        entries: The tensors of its header.
        path: For the text of a refusal.
        unseal: Opens a sealed secret key.

    Raises:
        FileAccessError: The value takes more memory than this machine has.
    """
    _require_memory(manifest, entries, path)
    if manifest.type_name == CONFIG:
        return []
    resources = _resources(manifest.config)
    if manifest.type_name == SECRET_KEY:
        return [_secret_part(manifest, entries[0], resources, unseal)]
    if manifest.type_name in SLOT_TYPES:
        return [_slots_part(manifest, entries[0], resources)]
    return [_key_part(manifest, key, resources) for key in manifest.keys]


def byte_views(tensors: Iterable[torch.Tensor]) -> Iterator[memoryview]:
    """Yield the bytes of tensors in the order of their indices, a few MiB at a time.

    They are views of the tensors wherever the last axis is contiguous, so what is read into them
    arrives there.

    Example:
        >>> tensor = torch.arange(24, dtype=torch.int8).view(2, 3, 4)
        >>> [bytes(view) for view in byte_views([tensor[:, :1]])]
        [b'\\x00\\x01\\x02\\x03', b'\\x0c\\r\\x0e\\x0f']
    """
    for tensor in tensors:
        for block in _contiguous_blocks(tensor):
            for chunk in block.view(-1).view(torch.uint8).split(CHUNK_BYTES):
                yield chunk.numpy().data


def _contiguous_blocks(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    if tensor.is_contiguous():
        yield tensor
    elif tensor.dim() == 1:
        yield tensor.contiguous()
    else:
        for part in tensor.unbind(0):
            yield from _contiguous_blocks(part)


def _named(name: str, tensor: torch.Tensor) -> tuple[TensorEntry, torch.Tensor]:
    dtype = next(text for text, kind in _DTYPES.items() if kind == tensor.dtype)
    return TensorEntry(name, dtype, tuple(tensor.shape)), tensor


def _set_name(index: int) -> str:
    return f"{index:04d}.hidden"  # of fixed width, so that the order of names is that of the keys


def _needed_entries(manifest: Manifest) -> list[TensorEntry]:
    """Return the tensors without batch axes."""
    config, state = manifest.config, manifest.state
    if state is None:
        return []
    word, limbs, N = _WORDS[config.dtype_name], len(config.primes), config.N
    if manifest.type_name in SLOT_TYPES:
        lead = () if manifest.type_name == "Plaintext" else (state.components or 0,)
        return [TensorEntry("data", word, (*lead, state.limb_count or 0, N))]
    if manifest.type_name == SECRET_KEY:
        if manifest.seal is not None:
            return [TensorEntry("sealed", "U8", (N + TAG_BYTES,))]
        return [TensorEntry("coefficients", "I8", (N,))]
    if manifest.type_name == "PublicKey":
        return [TensorEntry("hidden", word, (limbs, N))]
    shape = (limbs, config.dnum, N)
    if manifest.type_name == KEY_SET:
        names = map(_set_name, range(len(manifest.keys)))
        return [TensorEntry(name, word, shape) for name in names]
    return [TensorEntry("hidden", word, shape)]


def _require_memory(manifest: Manifest, entries: Sequence[TensorEntry], path: str) -> None:
    # A file with holes takes no room on disk: its size says nothing about good faith.
    needed = sum(entry.nbytes for entry in entries) * (2 if manifest.keys else 1)
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return
    if needed > room:
        refuse_access(
            "load_value",
            f"{path!a} needs {needed} bytes and this machine has {room}",
            "A value is loaded into memory as a whole",
            "Load it on a larger machine, or save it in parts",
            needed_bytes=needed,
        )


def _resources(config: CkksConfig) -> CkksDeviceResources:
    return CkksDeviceResources(config=config)


def _residue_parameters(resources: CkksDeviceResources, state: CkksState) -> torch.Tensor:
    return resources.material(f"rns_parameters/{state.modulus_basis}/{state.depth}")


def _require_residues(data: torch.Tensor, resources: CkksDeviceResources, state: CkksState) -> None:
    """Refuse, before writing, words that a later load would refuse."""
    counts = rns_ops.count_out_of_range(data, _residue_parameters(resources, state))
    if counts.any():
        raise StateError(
            "save_value",
            f"{int(counts.sum())} words of the payload are no residues",
            "Every residue of a prime q is in [0, q)",
            "Make the value with an Engine; its payload was overwritten or never filled",
        )


def _check_residues(data: torch.Tensor, resources: CkksDeviceResources, state: CkksState) -> None:
    counts = rns_ops.count_out_of_range(data, _residue_parameters(resources, state))
    if counts.any():
        limb = int(counts.nonzero()[0])
        refuse(
            f"holds {int(counts.sum())} words that are no residues, the first in limb {limb}",
            "Every residue of a prime q is in [0, q)",
        )


def _halves(data: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return hidden and uniform half as [*digit, limb, N] views."""
    return (data[0], data[1]) if data.dim() == 3 else (data[:, 0], data[:, 1])


def _file_order(half: torch.Tensor) -> torch.Tensor:
    """Return a half as files hold it: [limb, N], or [limb, digit, N] like the storage in memory."""
    return half if half.dim() == 2 else half.transpose(0, 1)


def _uniform_half(resources: CkksDeviceResources, seed: bytes, like: torch.Tensor) -> torch.Tensor:
    count = like.shape[0] if like.dim() == 3 else 1
    uniform = expand_public_half(resources, seed, count)
    rns_ops.to_montgomery_(uniform, resources.material("rns_parameters/QP/0"))
    return uniform.reshape(like.shape)


def _hidden_half(key: Keys, resources: CkksDeviceResources) -> torch.Tensor:
    hidden, uniform = _halves(key.data.cpu())
    _require_residues(hidden, resources, key.state)
    if not torch.equal(uniform, _uniform_half(resources, key.public_seed, uniform)):
        raise StateError(
            "save_value",
            f"the uniform half of the {type(key).__name__} does not come from its public_seed",
            "Files keep the seed in place of that half",
            "Make the key with an Engine",
        )
    return _file_order(hidden)


def _ternary(key: SecretKey, resources: CkksDeviceResources) -> torch.Tensor:
    data = key.data.cpu()
    _require_residues(data, resources, key.state)
    coefficients = secret_coefficients(resources, DEFAULT_NTT_BACKEND, data)
    ternary = coefficients.abs().max() <= 1
    if not (ternary and torch.equal(_expanded(coefficients, resources), data)):
        raise StateError(
            "save_value",
            f"secret key {key.key_id} is not ternary",
            "Files keep the coefficients of a secret, each -1, 0 or 1",
            "Make the key with an Engine",
        )
    return coefficients.to(torch.int8)


def _expanded(coefficients: torch.Tensor, resources: CkksDeviceResources) -> torch.Tensor:
    return expand_secret(resources, DEFAULT_NTT_BACKEND, coefficients)


def _slots_part(manifest: Manifest, entry: TensorEntry, resources: CkksDeviceResources) -> Part:
    state = manifest.state
    assert state is not None
    data = _empty(entry)

    def finish() -> Stored:
        _check_residues(data, resources, state)
        kind = Ciphertext if manifest.type_name == "Ciphertext" else Plaintext
        return kind(data, state)

    return Part(data, finish)


def _secret_part(
    manifest: Manifest,
    entry: TensorEntry,
    resources: CkksDeviceResources,
    unseal: Callable[[bytes], bytes],
) -> Part:
    state = manifest.state
    assert state is not None
    stored = _empty(entry)

    def finish() -> Stored:
        plain = stored
        if manifest.seal is not None:
            opened = bytearray(unseal(stored.numpy().tobytes()))
            plain = torch.frombuffer(opened, dtype=torch.int8)
        if not bool((plain.to(torch.int16).abs() <= 1).all()):
            refuse("holds a secret that is not ternary", "Its coefficients are -1, 0 or 1")
        return SecretKey(_expanded(plain.to(torch.int64), resources), state)

    return Part(stored, finish)


def _key_part(manifest: Manifest, key: KeyEntry, resources: CkksDeviceResources) -> Part:
    config, state = manifest.config, manifest.state
    assert state is not None
    limbs = len(config.primes)
    if key.type_name == "PublicKey":
        data = torch.empty(2, limbs, config.N, dtype=config.dtype)
    else:
        data = switching_key_storage(config.dnum, limbs, config.N, dtype=config.dtype)
    hidden, uniform = _halves(data)

    def finish() -> Stored:
        _check_residues(hidden, resources, state)
        uniform.copy_(_uniform_half(resources, key.details["public_seed"], uniform))
        kind = value_type(key.type_name).value_class
        made = kind(data, state.replace(insecure=key.insecure), **key.details)
        return cast(Keys, made)

    return Part(_file_order(hidden), finish)


def _empty(entry: TensorEntry) -> torch.Tensor:
    return torch.empty(entry.shape, dtype=_DTYPES[entry.dtype])
