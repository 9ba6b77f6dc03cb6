"""save_value: a value becomes one file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import torch

from fhelium.config import CkksConfig
from fhelium.errors import (
    FHEliumError,
    FileAccessError,
    FileFormatError,
    OperandTypeError,
    PassphraseError,
    SecretExposureError,
    StateError,
)
from fhelium.serialization.container import (
    HEADER_LIMIT,
    LENGTH_BYTES,
    TensorEntry,
    digest_place,
    header_bytes,
    header_length,
    new_digest,
    parse_header,
)
from fhelium.serialization.layout import byte_views, check_entries
from fhelium.serialization.manifest import (
    SECRET_MARK,
    TYPES,
    Manifest,
    Seal,
    Stored,
    describe_value,
    stored_classes,
)
from fhelium.serialization.manifest_parser import parse_manifest
from fhelium.serialization.passphrase import new_seal, seal
from fhelium.serialization.storage import (
    PathLike,
    open_regular,
    path_text,
    write_all,
    write_atomically,
)
from fhelium.serialization.tensors import stored_tensors
from fhelium.values import EvaluationKeys, SecretKey, TensorResident

_OPERATION: Final = "save_value"


def save_value(
    value: Stored,
    path: PathLike,
    *,
    allow_secret_key: bool = False,
    passphrase: str | bytes | None = None,
) -> None:
    """Save a ciphertext, plaintext, key, key set or config as one file.

    The file appears whole or not at all, readable by its owner only: the bytes go to a temporary
    file beside the target, to the disk, and then get the name in one step. An older file of that
    name is replaced; a secret key neither replaces a file nor is ever replaced.

    Formula: of a public or switching key, and of a ciphertext from `encrypt_with_secret_key`, the
    file holds the hidden half and the 32-byte seed of the uniform one, half of the size in memory;
    of a secret key its ternary coefficients, one byte each.

    State: all of it is stored, bounds included; `load_value` gives an equal value.

    Cost: one pass over the payload at the speed of BLAKE2b, about 1 GB/s, and of the disk; where
    a half is left out, also its expansion, to be sure that the seed gives it.

    Args:
        value: What to save, on any device.
        path: The file. Its folder exists; any suffix will do.
        allow_secret_key: Whoever reads the file of a secret key can decrypt everything, so saving
            one is asked for by name.
        passphrase: Seals a secret key with scrypt and AES-256-GCM. It cannot be recovered.

    Raises:
        SecretExposureError: The value is a secret key and `allow_secret_key` is not True.
        PassphraseError: A passphrase is empty, or given for what is no secret key.
        FileAccessError: The target cannot be written, is no regular file, is a secret key's file,
            or exists and the value is a secret key. An existing file is as it was.
        StateError: The payload is not what files hold, for example it has words that are no
            residues.
        OperandTypeError: The value is of another type, or path is none.

    Example:
        >>> import fhelium, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/secret.fhelium"
        ...     fhelium.save_value(secret_key, path, allow_secret_key=True)
        ...     fhelium.load_value(path).key_id == secret_key.key_id
        True
    """
    name = path_text(path, _OPERATION)
    _require_stored(value)
    if isinstance(value, EvaluationKeys):
        value = EvaluationKeys(*value)  # other threads may add to the set meanwhile
    secret = isinstance(value, SecretKey)
    if secret and allow_secret_key is not True:
        raise SecretExposureError(
            _OPERATION,
            f"value is secret key {value.key_id} and allow_secret_key is {allow_secret_key!r}",
            "Whoever reads the file of a secret key can decrypt everything",
            "Pass allow_secret_key=True, and a passphrase, if the file is for the key's owner",
            key_id=value.key_id,
        )
    if passphrase is not None and not secret:
        raise PassphraseError(
            _OPERATION,
            f"a passphrase is given and value is a {type(value).__name__}",
            "Only secret keys are sealed; everything else is made to be handed out",
            "Leave passphrase out",
        )
    how = new_seal() if passphrase is not None else None
    manifest = describe_value(value, how)
    tensors = stored_tensors(value)
    if passphrase is not None and how is not None:
        tensors = [_sealed(tensors[0][1], passphrase, manifest.text(), how)]
    header = _checked_header(manifest, [entry for entry, _ in tensors])
    if not secret:
        _require_no_secret(name)
    with write_atomically(name, _OPERATION, replace=not secret) as fd:
        _write(fd, header, (tensor for _, tensor in tensors))


def _require_stored(value: object) -> None:
    if isinstance(value, CkksConfig):
        return
    if isinstance(value, EvaluationKeys):
        if not value:
            raise StateError(
                _OPERATION, "value is an empty key set", "A stored set holds keys", "Add keys first"
            )
        return
    if isinstance(value, TensorResident) and type(value) in stored_classes():
        value.state.check(_OPERATION)
        return
    raise OperandTypeError(
        _OPERATION,
        f"value is a {type(value).__name__}",
        f"A file holds one of {', '.join(TYPES)}",
        "Save values and keys one by one; keys that belong together as EvaluationKeys",
    )


def _checked_header(manifest: Manifest, entries: Sequence[TensorEntry]) -> bytes:
    """Return the header, or refuse what a reader would refuse later."""
    text = manifest.text()
    try:
        raw = header_bytes(text, entries, "1" * 64)
        size = len(raw) + sum(entry.nbytes for entry in entries)
        header_length(raw[:LENGTH_BYTES], size)
        parsed = parse_manifest(text, manifest.config)
        check_entries(parsed, parse_header(raw, size).entries)
    except FileFormatError as error:
        raise StateError(
            _OPERATION,
            f"a file of it {error.fact}",
            error.rule,
            "Save what fits: fewer keys or batch axes, and ids as the engine gives them",
        ) from None
    return header_bytes(text, entries)


def _require_no_secret(path: str) -> None:
    """Refuse to replace the file of a secret key, which may be the only copy."""
    if not os.path.isfile(path) or os.path.islink(path):
        return  # what is no regular file is refused where the target is opened
    try:
        with open_regular(path, _OPERATION) as file:
            start = file.read(HEADER_LIMIT, 0)
    except FHEliumError:
        start = b""
    # Looked for loosely: the file may be of a newer format, or damaged.
    if b'fhelium.manifest":' in start and SECRET_MARK in start:
        raise FileAccessError(
            _OPERATION,
            f"{path!a} holds a secret key",
            "The file of a secret key is never replaced: it may be the only copy",
            "Choose another name, or move the old file away yourself",
            path=path,
        )


def _sealed(
    coefficients: torch.Tensor, passphrase: str | bytes, manifest: str, how: Seal
) -> tuple[TensorEntry, torch.Tensor]:
    sealed = seal(coefficients.numpy().tobytes(), passphrase, how, manifest)
    stored = torch.frombuffer(bytearray(sealed), dtype=torch.uint8)
    return TensorEntry("sealed", "U8", (len(sealed),)), stored


def _write(fd: int, header: bytes, tensors: Iterable[torch.Tensor]) -> None:
    """Write header and tensors, then the digest into its place: until then the file is refused."""
    digest = new_digest()
    for chunk in chain([memoryview(header)], byte_views(tensors)):
        digest.update(chunk)
        write_all(fd, chunk)
    os.pwrite(fd, digest.hexdigest().encode(), digest_place(header))
