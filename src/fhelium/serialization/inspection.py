"""What `inspect_value` tells of a file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from fhelium.config import CkksConfig
from fhelium.serialization.container import TensorEntry
from fhelium.serialization.layout import memory_bytes
from fhelium.serialization.manifest import FORMAT_VERSION, KEY_SET, Manifest, schema_version
from fhelium.text import count_text, list_text, size_text
from fhelium.values import CkksState


@dataclass(frozen=True, slots=True)
class FileInfo:
    """Describe a file: everything that its header says, checked, and nothing of its tensors.

    Args:
        path: The file.
        type_name: What it holds, for example "Ciphertext".
        format_version: Version of the file format.
        schema_version: Version of what the type stores.
        config: The parameters of the ring.
        state: The state of the value, or of each key of a set; None for a config.
        context_id: The parameter identity.
        key_id: Name of the secret key that the value belongs to.
        insecure: Whether the value, or a key of the set, is marked insecure.
        tensors: Name, dtype, shape and bytes of each stored tensor.
        contents: For a key set, what its keys are for.
        sealed: Whether a passphrase is needed.
        file_bytes: Size of the file.
        memory_bytes: Payload bytes of the value once loaded.
        digest_verified: Whether all bytes were read and agree with the stored digest.

    Example:
        >>> import fhelium, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fhelium.save_value(x, f"{folder}/x.fhelium")
        ...     info = fhelium.inspect_value(f"{folder}/x.fhelium")
        >>> info.type_name, info.tensors[0].shape, info.digest_verified
        ('Ciphertext', (2, 4, 1024), False)
    """

    path: str
    type_name: str
    format_version: int
    schema_version: int
    config: CkksConfig
    state: CkksState | None
    context_id: str
    key_id: str | None
    insecure: bool
    tensors: tuple[TensorEntry, ...]
    contents: tuple[str, ...]
    sealed: bool
    file_bytes: int
    memory_bytes: int
    digest_verified: bool

    def __str__(self) -> str:
        """Return the description as lines of text."""
        mark = ", INSECURE" if self.insecure else ""
        # A name may hold what a terminal would obey.
        name = self.path if self.path.isprintable() else ascii(self.path)
        lines = [
            f"{name}: {self.type_name}{mark}",
            _line("format", f"{self.format_version}, schema {self.schema_version}"),
            _line("parameters", repr(self.config)),
            _line("context", self.context_id),
        ]
        if self.state is not None:
            lines.append(_line("key", self.key_id or "none"))
            lines.append(_line("state", _state_text(self.state)))
        lines += [_line("holds", text) for text in self.contents]
        if self.sealed:
            lines.append(_line("sealed", "opens with its passphrase only"))
        lines += [_line("tensor", text) for text in _tensor_lines(self.tensors)]
        sizes = f"{size_text(self.file_bytes)} on disk, {size_text(self.memory_bytes)} in memory"
        lines.append(_line("size", sizes))
        digest = "verified" if self.digest_verified else "not verified: no tensor was read"
        lines.append(_line("digest", digest))
        return "\n".join(lines)


def describe_file(
    path: str,
    manifest: Manifest,
    entries: tuple[TensorEntry, ...],
    file_bytes: int,
    *,
    verified: bool,
) -> FileInfo:
    """Gather the description of a file whose header was read."""
    return FileInfo(
        path=path,
        type_name=manifest.type_name,
        format_version=FORMAT_VERSION,
        schema_version=schema_version(manifest.type_name),
        config=manifest.config,
        state=manifest.state,
        context_id=manifest.config.context_id,
        key_id=manifest.key_id,
        insecure=manifest.insecure,
        tensors=entries,
        contents=_contents(manifest),
        sealed=manifest.seal is not None,
        file_bytes=file_bytes,
        memory_bytes=memory_bytes(manifest, entries),
        digest_verified=verified,
    )


def _line(name: str, text: str) -> str:
    return f"  {name:<10}  {text}"


def _state_text(state: CkksState) -> str:
    if state.scale is None:  # a key: the other axes are the same for all keys
        return (
            f"{state.polynomial_domain}, {state.residue_representation}, "
            f"basis {state.modulus_basis}"
        )
    return repr(state)[len("CkksState(") : -1]


def _tensor_lines(entries: tuple[TensorEntry, ...]) -> list[str]:
    # The tensors of a key set are alike: one line for all of them.
    lines = []
    for _, group in groupby(entries, key=lambda entry: (entry.dtype, entry.shape)):
        first, *others = group
        text = f"{first.name} {first.dtype} {list(first.shape)} {size_text(first.nbytes)}"
        lines.append(f"{text}, and {len(others)} more like it" if others else text)
    return lines


def _contents(manifest: Manifest) -> tuple[str, ...]:
    texts = []
    for name, group in groupby(manifest.seeded, key=lambda key: key.type_name):
        details = [key.details for key in group]
        if name == "RotationKey":
            steps = list_text([found["step"] for found in details])
            texts.append(f"{count_text(len(details), 'rotation')} by {steps}")
        elif name == "SwitchingKey":
            texts.append(f"switching from {list_text([d['source_key_id'] for d in details])}")
        elif manifest.type_name == KEY_SET:
            texts.append("relinearization" if name == "RelinearizationKey" else "conjugation")
    return tuple(texts)
