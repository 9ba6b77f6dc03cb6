"""The outer form of a file: a safetensors header in one spelling, with limits and a digest."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fhelium.serialization.strict_json import canonical_text, parse_object, refuse, shown

HEADER_LIMIT: Final = 1 << 20
LENGTH_BYTES: Final = 8
ALIGNMENT: Final = 64
AXES_LIMIT: Final = 20
PAYLOAD_LIMIT: Final = 1 << 60
WORD_BYTES: Final = {"I64": 8, "I32": 4, "I8": 1, "U8": 1}
NO_DIGEST: Final = "0" * 64

_METADATA: Final = "__metadata__"
_DIGEST: Final = "fhelium.digest"
_MANIFEST: Final = "fhelium.manifest"
_PERSON: Final = b"FHElium-file-1"  # BLAKE2b takes up to 16 bytes


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Name, dtype and shape of one stored tensor.

    Args:
        name: Its name in the file.
        dtype: As safetensors writes it: "I64", "I32", "I8" or "U8".
        shape: Sizes of its axes.

    Example:
        >>> TensorEntry("data", "I64", (2, 4, 1024)).nbytes
        65536
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Return the bytes that the tensor takes in the file."""
        return math.prod(self.shape) * WORD_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Header:
    """What stands in front of the tensors.

    Args:
        manifest: JSON text that says what the value is.
        digest: 64 hexadecimal digits.
        entries: The tensors, in the order of their names, which is that of their bytes.
    """

    manifest: str
    digest: str
    entries: tuple[TensorEntry, ...]

    @property
    def payload_bytes(self) -> int:
        """Return the bytes of all tensors."""
        return sum(entry.nbytes for entry in self.entries)


def new_digest() -> hashlib.blake2b:
    """Return the running digest of a file: BLAKE2b-256 over all of it, digest digits as zeros."""
    return hashlib.blake2b(digest_size=32, person=_PERSON)


def header_bytes(manifest: str, entries: Sequence[TensorEntry], digest: str = NO_DIGEST) -> bytes:
    """Write everything in front of the tensors: length, JSON, and blanks up to the alignment.

    Example:
        >>> raw = header_bytes("{}", [TensorEntry("data", "I64", (2,))])
        >>> len(raw) % 64, raw[8:35]
        (0, b'{"__metadata__":{"fhelium.d')
    """
    table: dict[str, Any] = {_METADATA: {_DIGEST: digest, _MANIFEST: manifest}}
    start = 0
    for entry in entries:
        end = start + entry.nbytes
        table[entry.name] = {
            "dtype": entry.dtype,
            "shape": list(entry.shape),
            "data_offsets": [start, end],
        }
        start = end
    text = canonical_text(table).encode("ascii")
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def digest_place(raw: bytes) -> int:
    """Return where the digest's 64 digits begin in the header's bytes.

    Quotation marks inside a JSON text are escaped, so the name stands there once.

    Example:
        >>> raw = header_bytes("{}", [], "ab" * 32)
        >>> raw[digest_place(raw) :][:6]
        b'ababab'
    """
    mark = f'"{_DIGEST}":"'.encode()
    return raw.index(mark) + len(mark)


def header_length(prefix: bytes, file_bytes: int) -> int:
    """Return the length that a file's first eight bytes give for its header.

    Example:
        >>> header_length((56).to_bytes(8, "little"), 64)
        56
    """
    rule = "A file begins with eight bytes that give the length of its header"
    if len(prefix) < LENGTH_BYTES:
        refuse(f"has {file_bytes} bytes", rule)
    length = int.from_bytes(prefix, "little")
    if length > HEADER_LIMIT:
        refuse(
            f"begins with a header length of {length} bytes",
            f"{rule}, at most {HEADER_LIMIT}",
            "Pass a file that fhelium.save_value wrote",
        )
    if length < 2 or LENGTH_BYTES + length > file_bytes:
        refuse(f"has {file_bytes} bytes and a header length of {length}", rule)
    return length


def parse_header(raw: bytes, file_bytes: int) -> Header:
    """Read the header, and refuse one that this library would have written otherwise.

    Example:
        >>> entry = TensorEntry("data", "I64", (2,))
        >>> raw = header_bytes("{}", [entry], "ab" * 32)
        >>> parse_header(raw, len(raw) + 16).entries == (entry,)
        True
    """
    table = parse_object(raw[LENGTH_BYTES:], "header")
    manifest, digest = _metadata(table.pop(_METADATA, None))
    entries = _entries(table)
    header = Header(manifest, digest, entries)
    expected = len(raw) + header.payload_bytes
    if file_bytes != expected:
        refuse(
            f"has {file_bytes} bytes and its header says {expected}",
            "A file is exactly as long as its header says",
            file_bytes=file_bytes,
            declared_bytes=expected,
        )
    if header_bytes(manifest, entries, digest) != raw:
        refuse(
            "has a header in another spelling than this library's",
            "A header is canonical JSON, its tensors in the order of their names",
            "Save the value again with fhelium.save_value instead of another program",
        )
    return header


def _metadata(found: object) -> tuple[str, str]:
    if not isinstance(found, dict) or set(found) != {_DIGEST, _MANIFEST}:
        names = sorted(found) if isinstance(found, dict) else found
        refuse(
            f"has the metadata {shown(names)}",
            f"The metadata is {_DIGEST!r} and {_MANIFEST!r}",
            "Pass a file that fhelium.save_value wrote; other safetensors files hold no values",
        )
    manifest, digest = found[_MANIFEST], found[_DIGEST]
    if not isinstance(manifest, str) or not isinstance(digest, str):
        refuse("has metadata that is no text", "Metadata are texts")
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        refuse(f"has the digest {shown(digest)}", "A digest is 64 hexadecimal digits")
    if digest == NO_DIGEST:
        refuse("has no digest yet", "A file that was written to its end has one")
    return manifest, digest


def _entries(table: dict[str, Any]) -> tuple[TensorEntry, ...]:
    entries, start = [], 0
    for name, found in sorted(table.items()):
        entry, offsets = _entry(name, found)
        if offsets != [start, start + entry.nbytes]:
            refuse(
                f"has the bytes {shown(offsets)} for tensor {shown(name)} of shape "
                f"{shown(list(entry.shape))}",
                f"Tensors stand one after the other: this one at {[start, start + entry.nbytes]}",
            )
        start += entry.nbytes
        entries.append(entry)
    return tuple(entries)


def _entry(name: str, found: object) -> tuple[TensorEntry, object]:
    if not isinstance(found, dict) or set(found) != {"dtype", "shape", "data_offsets"}:
        refuse(
            f"describes tensor {shown(name)} as {shown(found)}",
            "A tensor has dtype, shape and data_offsets",
        )
    dtype, shape, offsets = found["dtype"], found["shape"], found["data_offsets"]
    if not isinstance(dtype, str) or dtype not in WORD_BYTES:
        refuse(
            f"has tensor {shown(name)} of dtype {shown(dtype)}",
            f"Tensors are {', '.join(WORD_BYTES)}",
        )
    sizes = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    # Empty axes count as 1: strides are products of the other sizes all the same.
    if not sizes or len(shape) > AXES_LIMIT or math.prod(n or 1 for n in shape) > PAYLOAD_LIMIT:
        refuse(
            f"has tensor {shown(name)} of shape {shown(shape)}",
            f"A shape is at most {AXES_LIMIT} sizes from 0, with at most 2^60 elements",
        )
    if not isinstance(offsets, list) or not all(type(n) is int for n in offsets):
        refuse(
            f"has tensor {shown(name)} at {shown(offsets)}",
            "data_offsets are two integers, begin and end",
        )
    return TensorEntry(name, dtype, tuple(shape)), offsets
