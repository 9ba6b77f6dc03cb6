"""load_value and inspect_value: nothing a file says is believed before it was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from fhelium.config import CkksConfig
from fhelium.errors import (
    ContextMismatchError,
    FileAccessError,
    FileFormatError,
    PassphraseError,
)
from fhelium.serialization.container import (
    LENGTH_BYTES,
    NO_DIGEST,
    Header,
    digest_place,
    header_length,
    new_digest,
    parse_header,
)
from fhelium.serialization.inspection import FileInfo, describe_file
from fhelium.serialization.layout import CHUNK_BYTES, byte_views, check_entries
from fhelium.serialization.manifest import KEY_SET, SECRET_KEY, Manifest
from fhelium.serialization.manifest_parser import parse_manifest
from fhelium.serialization.parts import prepare_parts
from fhelium.serialization.passphrase import unseal
from fhelium.serialization.storage import (
    OpenFile,
    PathLike,
    open_regular,
    path_text,
)
from fhelium.serialization.strict_json import refuse
from fhelium.values import EvaluationKeys, device_of


def load_value(
    path: PathLike,
    *,
    config: CkksConfig | None = None,
    passphrase: str | bytes | None = None,
    device: torch.device | str | None = None,
) -> Any:
    """Load what `save_value` wrote: a ciphertext, plaintext, key, key set or config.

    Nothing is executed and nothing is believed: sizes are limited before memory is taken, every
    byte is checked against the digest, every word against its prime, and the state, the parameters
    and their identity against their rules. The digest finds damage, not forgery: it has no secret,
    so authenticate files that come over a network.

    Formula: a uniform half that was left out is expanded from its seed, a secret key from its
    ternary coefficients, bit for bit as they were.

    State: that of the saved value, bounds included. A secret key counts its decryptions anew.

    Cost: one read of the file at the speed of BLAKE2b, about 1 GB/s; for keys, the expansion of
    the seed as in key generation; for a sealed key, scrypt: about half a second.

    Args:
        path: The file.
        config: The parameters that the value must have. The value then carries this object, and
            files of other parameters are refused.
        passphrase: For a secret key that was saved with one.
        device: Where the value goes; CPU when omitted.

    Returns:
        What the file holds.

    Raises:
        FileFormatError: The file is damaged, of a newer format, or none of this library.
        FileAccessError: It cannot be read: absent, no regular file, a link, or a secret key whose
            permissions let others read it (`chmod 600` it and make a new key).
        PassphraseError: The passphrase is wrong, missing, or given for a file without one.
        ContextMismatchError: The file has other parameters than `config`.
        InsufficientMemoryError: The value would not fit into the memory that is left.

    Example:
        >>> import fhelium, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fhelium.save_value(x, f"{folder}/x.fhelium")
        ...     loaded = fhelium.load_value(f"{folder}/x.fhelium", config=engine.config)
        >>> torch.equal(loaded.data, x.data), loaded.state == x.state
        (True, True)
    """
    name = path_text(path, "load_value")
    place = None if device is None else device_of("load_value", device)
    wanted = None if config is None else CkksConfig.parse(config)
    with open_regular(name, "load_value") as file, naming("load_value", name):
        raw, header, manifest = _read_header(file, wanted)
        _require_context(manifest, wanted, name)
        if manifest.type_name == SECRET_KEY:
            _require_private(file, name)
        _require_passphrase(manifest, passphrase, name)

        def opened(sealed: bytes) -> bytes:
            assert manifest.seal is not None
            assert passphrase is not None
            return unseal(sealed, passphrase, manifest.seal, header.manifest)

        parts = prepare_parts(manifest, header.entries, name, opened)
        _read_payload(file, raw, header, byte_views(part.destination for part in parts))
        made = [part.finish() for part in parts]
    if not made:
        return manifest.config
    value: Any = made[0]
    if manifest.type_name == KEY_SET:
        value = EvaluationKeys(*made)  # type: ignore[arg-type]
    return value if place is None else value.to(place)


def inspect_value(path: PathLike, *, verify: bool = False) -> FileInfo:
    """Describe a file from its header: what it holds, for which parameters and key, how large.

    The header is checked as `load_value` checks it. No tensor is read, unless `verify` asks to
    compare all bytes with the digest; no memory is taken for them even then. No passphrase is
    needed.

    Args:
        path: The file.
        verify: Whether to read the whole file and compare its digest.

    Returns:
        FileInfo; `print` shows it as a few lines.

    Raises:
        FileFormatError: The file is damaged, of a newer format, or none of this library.
        FileAccessError: It cannot be read, is no regular file or a link.

    Example:
        >>> import fhelium, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fhelium.save_value(public_key, f"{folder}/public.fhelium")
        ...     print(fhelium.inspect_value(f"{folder}/public.fhelium", verify=True))
        /.../public.fhelium: PublicKey, INSECURE
          format      1, schema 1
          parameters  CkksConfig(N=1024, ...
          context     ...
          key         ...
          state       ntt, montgomery, basis QP
          tensor      hidden I64 [6, 1024] 48.0 KiB
          size        49.0 KiB on disk, 96.0 KiB in memory
          digest      verified
    """
    name = path_text(path, "inspect_value")
    with open_regular(name, "inspect_value") as file, naming("inspect_value", name):
        raw, header, manifest = _read_header(file, None)
        if verify:
            _read_payload(file, raw, header, _scratch(header.payload_bytes))
    return describe_file(name, manifest, header.entries, file.file_bytes, verified=verify)


@contextmanager
def naming(operation: str, path: str) -> Iterator[None]:
    """Say in each refusal which file it is about."""
    try:
        yield
    except FileFormatError as error:
        raise FileFormatError(
            operation,
            f"{path!a} {error.fact}",
            error.rule,
            error.remedy,
            path=path,
            **error.fields,
        ) from error.__cause__


def _read_header(file: OpenFile, config: CkksConfig | None) -> tuple[bytes, Header, Manifest]:
    prefix = file.read(LENGTH_BYTES, 0)
    length = header_length(prefix, file.file_bytes)
    raw = prefix + file.read(length, LENGTH_BYTES)
    if len(raw) != LENGTH_BYTES + length:
        refuse("ends inside its header", "A file is exactly as long as its header says")
    header = parse_header(raw, file.file_bytes)
    manifest = parse_manifest(header.manifest, config)
    check_entries(manifest, header.entries)
    return raw, header, manifest


def _read_payload(
    file: OpenFile, raw: bytes, header: Header, buffers: Iterable[memoryview]
) -> None:
    """Read all tensors into buffers that take them one after the other; compare the digest."""
    place = digest_place(raw)
    digest = new_digest()
    digest.update(raw[:place] + NO_DIGEST.encode() + raw[place + len(NO_DIGEST) :])
    offset = len(raw)
    for chunk in buffers:
        if not file.read_into(chunk, offset):
            refuse("became shorter while it was read", "A file is as long as its header says")
        digest.update(chunk)
        offset += len(chunk)
    if digest.hexdigest() != header.digest:
        refuse(
            "does not have the digest that it says",
            "A file has the bytes that it was saved with",
        )


def _scratch(count: int) -> Iterator[memoryview]:
    room = memoryview(bytearray(min(count, CHUNK_BYTES)))
    while count > 0:
        yield room[:count]
        count -= len(room)


def _require_context(manifest: Manifest, wanted: CkksConfig | None, path: str) -> None:
    if wanted is not None and manifest.config.context_id != wanted.context_id:
        raise ContextMismatchError(
            "load_value",
            f"context_id is {wanted.context_id} for the config and "
            f"{manifest.config.context_id} for {path!a}",
            "Values mix only within one parameter set",
            "Pass the config that the value was made with, or leave config out",
            context_ids=(wanted.context_id, manifest.config.context_id),
        )


def _require_private(file: OpenFile, path: str) -> None:
    if file.mode & 0o077:
        raise FileAccessError(
            "load_value",
            f"{path!a} is a secret key with permissions {file.mode:04o}",
            "Only its owner may read or write a secret key",
            "Run chmod 600 on it, and make a new key if somebody may have read this one",
            mode=file.mode,
        )


def _require_passphrase(manifest: Manifest, passphrase: object, path: str) -> None:
    sealed = manifest.seal is not None
    if sealed and passphrase is None:
        raise PassphraseError(
            "load_value",
            f"{path!a} is sealed and no passphrase was given",
            "A sealed secret key opens with the passphrase it was saved with",
            "Pass passphrase=",
        )
    if passphrase is not None and not sealed:
        raise PassphraseError(
            "load_value",
            f"{path!a} is a {manifest.type_name} without a passphrase",
            "A passphrase opens a sealed secret key; this file may have been put in its place",
            "Leave passphrase out if you trust the file",
        )
