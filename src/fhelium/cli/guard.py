"""The check that a server runs before anything else: no secret key is in its folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fhelium.errors import FileAccessError, SecretExposureError
from fhelium.serialization.manifest import SECRET_MARK

_CHUNK_BYTES = 4 << 20


def refuse_secret_keys(folder: Path, operation: str) -> None:
    """Refuse a folder with a secret key in it, under whatever name, sealed or not.

    Links are followed and uncompressed archives looked into; a compressed one hides what it holds.

    Raises:
        SecretExposureError: There is one; remove it.
        FileAccessError: A file or folder cannot be read, so it might be one.
    """
    try:
        found = next(filter(_holds_secret_key, _regular_files(folder)), None)
    except OSError as error:
        raise FileAccessError(
            operation,
            f"{str(error.filename)!a}: {os.strerror(error.errno or 0)}",
            "Every file in this folder is looked at, for it must hold no secret key",
            "Remove the file, or let this user read it",
            errno=error.errno,
        ) from error
    if found is not None:
        raise SecretExposureError(
            operation,
            f"{str(found)!a} holds a secret key",
            "Whoever computes must not be able to decrypt",
            "Remove it from this machine; make new keys if anybody else may have read it",
        )


def _regular_files(folder: Path) -> Iterator[Path]:
    """Yield what can be read below a folder; links are followed, each folder is visited once."""

    def refuse(error: OSError) -> None:
        raise error  # a folder that cannot be listed is not passed over

    seen: set[tuple[int, int]] = set()
    for name, folders, files in os.walk(folder, followlinks=True, onerror=refuse):
        here = Path(name)
        found = here.stat()
        if (found.st_dev, found.st_ino) in seen:
            folders.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        for path in (here / file for file in sorted(files)):
            if path.exists() and stat.S_ISREG(path.stat().st_mode):
                yield path


def _holds_secret_key(path: Path) -> bool:
    # All of the file: an archive of the client's folder counts as well.
    with path.open("rb") as file:
        window = b""
        while chunk := file.read(_CHUNK_BYTES):
            window = window[-len(SECRET_MARK) :] + chunk
            if SECRET_MARK in window:
                return True
    return False
