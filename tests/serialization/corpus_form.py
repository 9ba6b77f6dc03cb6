"""Bad files whose outer form, digest or words are wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fhelium import errors
from tests.serialization import forge
from tests.serialization.corpus_base import (
    PASSPHRASE,
    Sources,
    header_text,
    malformed,
    on_disk,
    put,
    setter,
)
from tests.serialization.forge import with_word

# The outer form.


@malformed("empty file", "has 0 bytes")
def _empty(sources):
    return b""


@malformed("seven bytes", "has 7 bytes")
def _seven(sources):
    return sources["ciphertext"][:7]


@malformed("header of no length", "header length of 0")
def _no_header(sources):
    return bytes(64)


@malformed("header longer than the file", "header length of 1000000")
def _header_past_the_end(sources):
    return (1000000).to_bytes(8, "little") + sources["ciphertext"][8:]


@malformed("header length of 2^63", r"length of 9223372036854775808 bytes.* at most 1048576")
def _header_of_2_63(sources):
    return (1 << 63).to_bytes(8, "little") + sources["ciphertext"][8:]


@malformed("header a little above one MiB", "header length of 1048640 bytes")
def _header_above_limit(sources):
    parts = sources.parts("ciphertext")
    raw = parts.raw()
    length = int.from_bytes(raw[:8], "little")
    text = raw[8 : 8 + length] + b" " * (1048640 - length)
    return forge.signed(len(text).to_bytes(8, "little") + text + parts.payload())


@malformed("cut inside the header", "header length of")
def _cut_in_header(sources):
    return sources["ciphertext"][:300]


@malformed("cut by one byte", "bytes and its header says")
def _cut_by_one(sources):
    return sources["ciphertext"][:-1]


@malformed("cut at the payload", "bytes and its header says")
def _cut_at_payload(sources):
    raw = sources["keys"]
    return raw[: 8 + int.from_bytes(raw[:8], "little")]


@malformed("one byte too many", "bytes and its header says")
def _extended(sources):
    return sources["ciphertext"] + b"\0"


@malformed("two files in one", "bytes and its header says")
def _two_files(sources):
    return sources["ciphertext"] * 2


header_text("header that is no JSON", "no JSON at character", lambda text: text.replace(":", ";"))
header_text("header cut in its middle", "no JSON at character", lambda text: text[:200])
header_text("header that is a list", "is no JSON object", lambda text: f"[{text}]")
header_text("header that is a number", "is no JSON object", lambda text: "12")
header_text("header with a byte order mark", "no JSON at character 0", lambda text: "\ufeff" + text)
header_text("header in UTF-16", "no JSON at character", lambda text: text.encode("utf-16-le"))
header_text("two JSON objects", "no JSON at character", lambda text: text + text)
header_text("nested nine deep", "deeper than 8", lambda text: '{"a":' * 9 + "1" + "}" * 9)
header_text("nested 200000 deep", "deeper than 8", lambda text: "[" * 200000)
header_text("nested behind a string", "deeper than 8", lambda t: '{"\\"[":' + "[" * 9)
header_text(
    "tensor described twice",
    "'data' twice",
    lambda text: text[:-1] + "," + text[text.index('"data":') :],
)
header_text("blanks in the header", "another spelling", lambda text: text.replace(":", ": ", 1))
header_text(
    "names out of order",
    "another spelling",
    lambda t: (
        '{"data":' + t.partition(',"data":')[2][:-1] + "," + t.partition(',"data":')[0][1:] + "}"
    ),
)
header_text("escaped letters", "another spelling", lambda text: text.replace("I64", "\\u004964"))
header_text("padded with newlines", "another spelling", lambda text: text + "\n" * 64)
header_text(
    "number of a million digits",
    "number of 300000 characters",
    lambda text: text.replace("[0,", "[" + "9" * 300000 + ","),
)
header_text("a number that is infinite", "Infinity", lambda t: t.replace("[0,", "[Infinity,"))


def _header_change(name: str, says: str, change: Callable[[Any], Any], source: str = "ciphertext"):
    def build(sources: Sources) -> bytes:
        return sources.parts(source).raw(change=change)

    malformed(name, says)(build)


_header_change("no metadata", "has the metadata None", lambda h: h.pop("__metadata__"))
_header_change("metadata is a list", r"has the metadata \[\]", setter("__metadata__", []))
_header_change("unknown metadata", "has the metadata", setter("__metadata__", "format", "pt"))
_header_change("manifest is no text", "is no text", setter("__metadata__", "fhelium.manifest", {}))
_header_change("manifest is empty", "no JSON", setter("__metadata__", "fhelium.manifest", ""))
_header_change(
    "manifest is a list", "is no JSON object", setter("__metadata__", "fhelium.manifest", "[]")
)
_header_change(
    "manifest nested nine deep",
    "manifest nested deeper than 8",
    setter("__metadata__", "fhelium.manifest", "[" * 9 + "]" * 9),
)
_header_change(
    "manifest not ASCII",
    "manifest that is no JSON",
    setter("__metadata__", "fhelium.manifest", "{\u202e}"),
)
_header_change("shape with a negative size", "of shape", setter("data", "shape", [2, -3, 16]))
_header_change("shape of floats", "of shape", setter("data", "shape", [2.0, 3, 16]))
_header_change("shape of bools", "of shape", setter("data", "shape", [True, 3, 16]))
_header_change("shape is a number", "of shape 96", setter("data", "shape", 96))
_header_change("shape that overflows", "2.60 elements", setter("data", "shape", [2**62, 2**62, 16]))
_header_change("empty and overflowing", "2.60 elements", setter("data", "shape", [0, 2**63, 16]))
_header_change("too many axes", "at most 20 sizes", setter("data", "shape", [1] * 100000))
_header_change(
    "shape transposed", r"asks for I64 \[2, 3, 16\]", setter("data", "shape", [2, 16, 3])
)
_header_change("shape flat", r"asks for I64 \[2, 3, 16\]", setter("data", "shape", [96]))
_header_change(
    "other components than the state", "asks for", setter("data", "shape", [1, 2, 3, 16])
)
_header_change("dtype of floats", "dtype 'F32'", setter("data", "dtype", "F32"))
_header_change("dtype unknown", "dtype 'int64'", setter("data", "dtype", "int64"))
_header_change("dtype of bytes", "bytes .* for tensor", setter("data", "dtype", "U8"))
_header_change("dtype is no text", "dtype 64", setter("data", "dtype", 64))
_header_change("offsets swapped", r"bytes \[768, 0\]", setter("data", "data_offsets", [768, 0]))
_header_change("offsets negative", r"bytes \[-768, 0\]", setter("data", "data_offsets", [-768, 0]))
_header_change("offsets past the end", "bytes", setter("data", "data_offsets", [768, 1536]))
_header_change("offsets of floats", "two integers", setter("data", "data_offsets", [0.0, 768.0]))
_header_change("three offsets", "bytes", setter("data", "data_offsets", [0, 768, 768]))
_header_change("offsets are a text", "at '0:768'", setter("data", "data_offsets", "0:768"))
_header_change("tensor is a list", r"as \[\]", setter("data", []))
_header_change("unknown property of a tensor", "describes tensor", setter("data", "strides", [1]))
_header_change("tensor without dtype", "describes tensor", lambda h: h["data"].pop("dtype"))
_header_change(
    "tensors overlap",
    r"bytes \[0, 1152\]",
    setter("0001.hidden", "data_offsets", [0, 1152]),
    "keys",
)
_header_change(
    "gap between tensors",
    r"bytes \[1160, 2312\]",
    setter("0001.hidden", "data_offsets", [1160, 2312]),
    "keys",
)


@malformed("tensor under another name", r"holds the tensors \['other'\]")
def _renamed(sources):
    parts = sources.parts("ciphertext")
    parts.tensors = {"other": parts.tensors["data"]}
    parts.table = {"other": parts.table["data"]}
    return parts.raw()


@malformed("a tensor too many", r"holds the tensors \['data', 'more'\]")
def _too_many(sources):
    parts = sources.parts("ciphertext")
    parts.tensors["more"], parts.table["more"] = bytes(8), {"dtype": "I64", "shape": [1]}
    return parts.raw()


@malformed("no tensor", r"holds the tensors \[\]")
def _no_tensor(sources):
    parts = sources.parts("ciphertext")
    parts.tensors, parts.table = {}, {}
    return parts.raw()


@malformed("a key of the set without its tensor", "holds the tensors")
def _set_without_tensor(sources):
    parts = sources.parts("keys")
    del parts.tensors["0004.hidden"], parts.table["0004.hidden"]
    return parts.raw()


@malformed("a limb too few", "asks for I64")
def _limb_too_few(sources):
    parts = sources.parts("plaintext")
    parts.tensors["data"] = parts.tensors["data"][: 2 * 16 * 8]
    parts.table["data"]["shape"] = [2, 16]
    return parts.raw()


@malformed("words of one byte", "asks for I64")
def _narrow_words(sources):
    parts = sources.parts("plaintext")
    parts.tensors["data"] = bytes(3 * 16)
    parts.table["data"] = {"dtype": "I8", "shape": [3, 16]}
    return parts.raw()


@on_disk(
    "terabytes of holes",
    r"would need 1024.0 GiB on cpu|would need 1.0 TiB on cpu",
    error=errors.InsufficientMemoryError,
    inspect=False,
)
def _write_holes(sources: Sources, folder: Path) -> Path:
    parts = sources.parts("ciphertext")
    batch = 2**40 // (2 * 3 * 16 * 8)
    shape, size = [2, batch, 3, 16], batch * 2 * 3 * 16 * 8
    header = parts.header()
    header["data"] |= {"shape": shape, "data_offsets": [0, size]}
    header["__metadata__"]["fhelium.digest"] = "1" * 64
    raw = forge.frame(forge.spell(header).encode(), b"")
    path = folder / "file"
    path.write_bytes(raw)
    os.truncate(path, len(raw) + size)
    return path


# The digest.


def _digest_text(name: str, says: str, digits: str) -> None:
    def build(sources: Sources) -> bytes:
        raw = sources["ciphertext"]
        start = raw.index(b'"fhelium.digest":"') + 18
        return raw[:start] + digits.encode() + raw[start + 64 :]

    malformed(name, says, inspect="digest that it says" not in says)(build)


_digest_text("digest of a save that did not finish", "no digest yet", "0" * 64)
_digest_text("digest of something else", "digest that it says", "5" * 64)
_digest_text("digest in capitals", "64 hexadecimal digits", "AB" * 32)
_digest_text("digest with other letters", "64 hexadecimal digits", "g" * 64)


@malformed("one bit of the payload", "digest that it says", inspect=False)
def _one_bit(sources):
    raw = bytearray(sources["ciphertext"])
    raw[-5] ^= 1
    return bytes(raw)


@malformed(
    "one bit of a sealed key",
    "digest that it says",
    inspect=False,
    options={"passphrase": PASSPHRASE},
)
def _one_sealed_bit(sources):
    raw = bytearray(sources["sealed"])
    raw[-20] ^= 4
    return bytes(raw)


def _unsigned(name: str, source: str, path: str, value: Any) -> None:
    """Register a change that is possible in itself, so that only the digest tells."""

    def build(sources: Sources) -> bytes:
        parts = sources.parts(source)
        put(parts.manifest, path, value)
        header = parts.header()
        header["__metadata__"]["fhelium.digest"] = forge.digest(sources[source])
        return forge.frame(forge.spell(header).encode(), parts.payload())

    malformed(name, "digest that it says", inspect=False)(build)


_unsigned("domain relabelled", "ciphertext", "state.polynomial_domain", "ntt")
_unsigned("bound tightened", "ciphertext", "state.noise_bound", 0.0)
_unsigned("scale doubled", "ciphertext", "state.scale", 2.0**31)
_unsigned("given to another key", "ciphertext", "key_id", "ab" * 16)
_unsigned("rotation by another step", "rotation", "details.step", 5)
_unsigned("another public seed", "public", "details.public_seed", "cd" * 32)
_unsigned("another seed of a ciphertext", "seeded", "details.public_seed", "cd" * 32)
_unsigned("another default scale", "config", "config.default_scale", 2.0**30 + 1)

# The words.


def _words(name: str, source: str, place: int, value: int, says: str) -> None:
    def build(sources: Sources) -> bytes:
        parts = sources.parts(source)
        tensor = max(parts.tensors)
        parts.tensors[tensor] = with_word(parts.tensors[tensor], place, value)
        return parts.raw()

    malformed(name, says, inspect=False)(build)


_words("residue 2^63 - 1", "ciphertext", 7, 2**63 - 1, "1 words that are no residues")
_words("residue -1", "ciphertext", 20, -1, "no residues, the first in limb 1")
_words("residue of another limb's size", "plaintext", 3, 2**37, "first in limb 0")
_words("residue of the hidden half", "public", 17, 2**62, "no residues, the first in limb 1")
_words("residue of a hidden component", "seeded", 33, -5, "no residues, the first in limb 2")
_words("residue of the last key of a set", "keys", 0, 2**40, "no residues, the first in limb 0")


@malformed("residue q itself", "1 words that are no residues", inspect=False)
def _residue_q(sources):
    parts = sources.parts("ciphertext")
    prime = parts.manifest["config"]["q_primes"][0]
    parts.tensors["data"] = with_word(parts.tensors["data"], 0, prime)
    return parts.raw()


@malformed("secret with a coefficient 2", "not ternary", inspect=False)
def _secret_of_two(sources):
    parts = sources.parts("secret")
    parts.tensors["coefficients"] = b"\2" + parts.tensors["coefficients"][1:]
    return parts.raw()


@malformed("secret with a coefficient -128", "not ternary", inspect=False)
def _secret_of_128(sources):
    parts = sources.parts("secret")
    parts.tensors["coefficients"] = parts.tensors["coefficients"][:-1] + b"\x80"
    return parts.raw()
