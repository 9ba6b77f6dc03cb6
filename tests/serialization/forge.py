"""Files taken apart and put together again from their description in docs/files.md alone.

It shares no code with the package, so it is the oracle of the format and the tool of the forger:
what it writes has a right digest over whatever it was told to write.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

WORDS = {"I64": 8, "I8": 1, "U8": 1}


def spell(value: Any) -> str:
    """Write JSON in its canonical spelling."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(raw: bytes) -> str:
    """Compute BLAKE2b-256 over a file whose digest digits stand as zeros."""
    start = raw.index(b'"fhelium.digest":"') + len(b'"fhelium.digest":"')
    blank = raw[:start] + b"0" * 64 + raw[start + 64 :]
    return hashlib.blake2b(blank, digest_size=32, person=b"FHElium-file-1").hexdigest()


def frame(text: bytes, payload: bytes) -> bytes:
    """Put length and padding around a header's text, and the payload behind it."""
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + payload


def signed(raw: bytes) -> bytes:
    """Put the right digest into a file, if it has a place for one."""
    mark = b'"fhelium.digest":"'
    start = raw.find(mark) + len(mark)
    if start < len(mark) or len(raw[start : start + 64]) < 64:
        return raw
    return raw[:start] + digest(raw).encode() + raw[start + 64 :]


@dataclass
class Parts:
    """A file as objects that a test may change.

    Args:
        manifest: The manifest.
        tensors: Bytes of each tensor by name.
        table: dtype and shape of each tensor by name; offsets follow.
        metadata: More entries of the metadata.
    """

    manifest: Any
    tensors: dict[str, bytes]
    table: dict[str, dict[str, Any]]
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: bytes) -> Parts:
        length = int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8 : 8 + length])
        metadata = header.pop("__metadata__")
        manifest = json.loads(metadata.pop("fhelium.manifest"))
        del metadata["fhelium.digest"]
        payload = raw[8 + length :]
        tensors = {
            name: payload[slice(*entry.pop("data_offsets"))] for name, entry in header.items()
        }
        return cls(manifest, tensors, header, metadata)

    def header(self) -> dict[str, Any]:
        """Return the header as JSON objects, digest still zeros."""
        found: dict[str, Any] = {
            "__metadata__": {
                "fhelium.digest": "0" * 64,
                "fhelium.manifest": spell(self.manifest),
                **self.metadata,
            }
        }
        start = 0
        for name in sorted(self.tensors):
            end = start + len(self.tensors[name])
            found[name] = {**self.table[name], "data_offsets": [start, end]}
            start = end
        return found

    def payload(self) -> bytes:
        return b"".join(self.tensors[name] for name in sorted(self.tensors))

    def raw(
        self,
        change: Callable[[dict[str, Any]], Any] | None = None,
        text: Callable[[str], str] | None = None,
    ) -> bytes:
        """Write the file with a right digest.

        Args:
            change: Changes the header's objects first.
            text: Changes the header's text first.
        """
        header = self.header()
        if change is not None:
            change(header)
        written = spell(header)
        if text is not None:
            written = text(written)
        return signed(frame(written.encode("utf-8", "surrogatepass"), self.payload()))


def words(data: bytes) -> list[int]:
    """Read signed 64-bit words."""
    return [int.from_bytes(data[i : i + 8], "little", signed=True) for i in range(0, len(data), 8)]


def with_word(data: bytes, place: int, value: int) -> bytes:
    """Return the bytes with one 64-bit word replaced."""
    word = (value % 2**64).to_bytes(8, "little")
    return data[: 8 * place] + word + data[8 * place + 8 :]


def size_of(entry: Mapping[str, Any]) -> int:
    """Return the bytes that a table's entry declares."""
    return math.prod(entry["shape"]) * WORDS[entry["dtype"]]
