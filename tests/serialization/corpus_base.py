"""How a malformed file is registered: its name, how it is made, and what a reader must say.

All are made from valid files. Unless an entry is about the digest, its digest is right: it is the
work of somebody who knows the format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fhelium import errors
from tests.serialization import forge
from tests.serialization.forge import Parts

PASSPHRASE = "nine slow otters"


@dataclass(frozen=True)
class Sources:
    """The bytes of a valid file of every kind, by name."""

    raw: Mapping[str, bytes]

    def __getitem__(self, name: str) -> bytes:
        return self.raw[name]

    def parts(self, name: str) -> Parts:
        return Parts.of(self.raw[name])


@dataclass(frozen=True)
class Malformed:
    """One bad file.

    Args:
        name: What is wrong with it.
        make: Writes it into a folder and returns its path.
        says: A part of the error's text, as a regular expression.
        error: The class of the error.
        options: Arguments of load_value.
        inspect: Whether inspect_value must refuse it too; it reads no tensor.
    """

    name: str
    make: Callable[[Sources, Path], Path]
    says: str
    error: type[Exception] = errors.FileFormatError
    options: Mapping[str, Any] = field(default_factory=dict)
    inspect: bool = True


CORPUS: list[Malformed] = []


def malformed(name: str, says: str, **more: Any) -> Callable:
    """Register a function from sources to the bytes of a file."""

    def register(make: Callable[[Sources], bytes]) -> Callable[[Sources], bytes]:
        def write(sources: Sources, folder: Path) -> Path:
            path = folder / "file"
            path.write_bytes(make(sources))
            if more.get("mode", 0o600):
                path.chmod(more.get("mode", 0o600))
            return path

        rest = {key: value for key, value in more.items() if key != "mode"}
        CORPUS.append(Malformed(name, write, says, **rest))
        return make

    return register


def on_disk(name: str, says: str, **more: Any) -> Callable:
    """Register a function that makes something other than a plain file."""

    def register(make: Callable[[Sources, Path], Path]) -> Callable[[Sources, Path], Path]:
        more.setdefault("error", errors.FileAccessError)
        CORPUS.append(Malformed(name, make, says, **more))
        return make

    return register


def field_cases(
    source: str, path: str, cases: Mapping[str, tuple[Any, str]], *, inspect: bool = True
) -> None:
    """Register files in which one field of the manifest has another value.

    Args:
        source: The valid file.
        path: Names on the way to the field, with dots between.
        cases: For each name of a case, the value and what the error says.
        inspect: As for Malformed.
    """
    for name, (value, says) in cases.items():

        def make(sources: Sources, value: Any = value) -> bytes:
            parts = sources.parts(source)
            put(parts.manifest, path, value)
            return parts.raw()

        malformed(f"{source}: {path} {name}", says, inspect=inspect)(make)


ABSENT = object()


def put(manifest: Any, path: str, value: Any) -> None:
    """Set, or with ABSENT remove, a field that stands deep in a manifest."""
    *way, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in way:
        manifest = manifest[name]
    if value is ABSENT:
        del manifest[last]
    else:
        manifest[last] = value


def header_text(name: str, says: str, make: Callable[[str], str | bytes], **more: Any) -> None:
    """Register a ciphertext's file in which the header's text was changed."""

    def build(sources: Sources) -> bytes:
        parts = sources.parts("ciphertext")
        written = make(forge.spell(parts.header()))
        raw = written if isinstance(written, bytes) else written.encode("utf-8")
        return forge.signed(forge.frame(raw, parts.payload()))

    malformed(name, says, **more)(build)


def setter(*path: Any) -> Callable[[Any], None]:
    """Return a function that sets what stands at a path of names to the last argument."""
    *way, last, value = path

    def change(header: Any) -> None:
        for name in way:
            header = header[name]
        header[last] = value

    return change
