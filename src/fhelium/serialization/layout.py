"""The tensors that a file has: which ones a manifest asks for, and in which bytes they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import torch

from fhelium.serialization.container import TensorEntry
from fhelium.serialization.manifest import KEY_SET, SECRET_KEY, SLOT_TYPES, Manifest
from fhelium.serialization.passphrase import TAG_BYTES
from fhelium.serialization.strict_json import refuse, shown

CHUNK_BYTES: Final = 4 << 20
TORCH_DTYPES: Final = {
    "I64": torch.int64,
    "I32": torch.int32,
    "I8": torch.int8,
    "U8": torch.uint8,
}
_WORDS: Final = {"int64": "I64", "int32": "I32"}


def set_name(index: int) -> str:
    """Return the tensor's name of one key of a set; they sort in the order of the keys.

    Example:
        >>> set_name(3)
        '0003.hidden'
    """
    return f"{index:04d}.hidden"


def needed_entries(manifest: Manifest) -> list[TensorEntry]:
    """Return the tensors that a manifest asks for, without batch axes.

    Example:
        >>> from fhelium.serialization.manifest import describe_value
        >>> needed_entries(describe_value(public_key))
        [TensorEntry(name='hidden', dtype='I64', shape=(6, 1024))]
    """
    config, state = manifest.config, manifest.state
    if state is None:
        return []
    word, limbs, N = _WORDS[config.dtype_name], len(config.primes), config.N
    if manifest.type_name in SLOT_TYPES:
        tail = (state.limb_count or 0, N)
        if manifest.seeded:
            return [TensorEntry("hidden", word, tail)]
        lead = () if manifest.type_name == "Plaintext" else (state.components or 0,)
        return [TensorEntry("data", word, (*lead, *tail))]
    if manifest.type_name == SECRET_KEY:
        if manifest.seal is not None:
            return [TensorEntry("sealed", "U8", (N + TAG_BYTES,))]
        return [TensorEntry("coefficients", "I8", (N,))]
    if manifest.type_name == "PublicKey":
        return [TensorEntry("hidden", word, (limbs, N))]
    shape = (limbs, config.dnum, N)
    if manifest.type_name == KEY_SET:
        names = map(set_name, range(len(manifest.seeded)))
        return [TensorEntry(name, word, shape) for name in names]
    return [TensorEntry("hidden", word, shape)]


def check_entries(manifest: Manifest, entries: Sequence[TensorEntry]) -> None:
    """Refuse tensors that are not exactly those that the manifest asks for.

    Example:
        >>> from fhelium.serialization.manifest import describe_value
        >>> check_entries(describe_value(x), [TensorEntry("data", "I64", (2, 4, 1024))])
    """
    needed = needed_entries(manifest)
    if [entry.name for entry in entries] != [entry.name for entry in needed]:
        refuse(
            f"holds the tensors {shown([entry.name for entry in entries])}",
            f"This {manifest.type_name} has {shown([entry.name for entry in needed])}",
        )
    batched = manifest.type_name in SLOT_TYPES
    for entry, wanted in zip(entries, needed, strict=True):
        shape, lead = entry.shape, len(wanted.shape) - 2
        if batched:  # any axes may stand between the components and [limb, N]
            fits = len(shape) >= lead + 2 and shape[:lead] + shape[-2:] == wanted.shape
        else:
            fits = shape == wanted.shape
        if not fits or entry.dtype != wanted.dtype:
            refuse(
                f"holds {entry.name!r} as {entry.dtype} {list(shape)}",
                f"Its state asks for {wanted.dtype} {list(wanted.shape)}"
                f"{', batch axes before the last two' * batched}",
            )


def memory_bytes(manifest: Manifest, entries: Sequence[TensorEntry]) -> int:
    """Return the payload bytes that a file's value has in memory.

    Example:
        >>> from fhelium.serialization.manifest import describe_value
        >>> manifest = describe_value(public_key)
        >>> memory_bytes(manifest, needed_entries(manifest)) == public_key.nbytes
        True
    """
    config = manifest.config
    if manifest.type_name == SECRET_KEY:
        return len(config.primes) * config.N * config.dtype.itemsize
    stored = sum(entry.nbytes for entry in entries)
    return 2 * stored if manifest.seeded else stored


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
