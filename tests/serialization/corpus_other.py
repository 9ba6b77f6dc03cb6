"""Files of other programs, and what is no file."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import torch

from fhelium import errors
from tests.serialization import forge
from tests.serialization.corpus_base import (
    PASSPHRASE,
    malformed,
    on_disk,
)

# Other files.


class Bomb:
    """Would run a command if anybody unpickled it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch pickle-was-run",)


@malformed("pickle", "header length of")
def _pickle(sources):
    return pickle.dumps(Bomb())


@malformed("pickle behind a header length", "no JSON at character")
def _pickle_in_header(sources):
    return forge.frame(pickle.dumps(Bomb(), protocol=0), b"")


@malformed("torch.save", "header length of")
def _torch_save(sources):
    stream = io.BytesIO()
    torch.save({"data": torch.zeros(4)}, stream)
    return stream.getvalue()


@malformed("zip of a value", "header length of")
def _zip(sources):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("ciphertext", sources["ciphertext"])
    return stream.getvalue()


@malformed("zip behind a value", "bytes and its header says")
def _zip_appended(sources):
    return sources["ciphertext"] + _zip(sources)


@malformed("gzip of a value", "header length of")
def _gzip(sources):
    return gzip.compress(sources["ciphertext"])


@malformed("another program's safetensors file", "other safetensors files hold no values")
def _safetensors(sources):
    from safetensors.torch import save

    return save({"data": torch.zeros(2, 3, 16, dtype=torch.int64)}, {"format": "pt"})


@malformed("text", "header length of")
def _text(sources):
    return b"This is no value at all, only a letter to a friend.\n" * 20


@malformed("zeros", "header length of 0")
def _zeros(sources):
    return bytes(4096)


@malformed(
    "secret key with the permissions of a web page",
    "permissions 0644",
    error=errors.FileAccessError,
    mode=0o644,
    inspect=False,
)
def _world_readable(sources):
    return sources["secret"]


@malformed(
    "secret key that its group may read",
    "permissions 0640",
    error=errors.FileAccessError,
    mode=0o640,
    inspect=False,
)
def _group_readable(sources):
    return sources["secret"]


@malformed(
    "sealed key that others may write",
    "permissions 0602",
    error=errors.FileAccessError,
    mode=0o602,
    inspect=False,
    options={"passphrase": PASSPHRASE},
)
def _world_writable(sources):
    return sources["sealed"]


@on_disk("no such file", "No such file")
def _absent(sources, folder):
    return folder / "absent"


@on_disk("folder", "is a folder")
def _folder(sources, folder):
    (folder / "file").mkdir()
    return folder / "file"


@on_disk("file below a file", "Not a directory")
def _below_file(sources, folder):
    (folder / "file").write_bytes(sources["ciphertext"])
    return folder / "file" / "inner"


@on_disk("pipe that nobody writes to", "is a pipe")
def _fifo(sources, folder):
    os.mkfifo(folder / "file")
    return folder / "file"


@on_disk("symbolic link to a value", "is a symbolic link.*path that the link leads to")
def _symlink(sources, folder):
    (folder / "real").write_bytes(sources["ciphertext"])
    (folder / "file").symlink_to("real")
    return folder / "file"


@on_disk("symbolic link to nothing", "is a symbolic link")
def _dangling(sources, folder):
    (folder / "file").symlink_to("nothing")
    return folder / "file"


@on_disk("symbolic link to itself", "is a symbolic link")
def _loop(sources, folder):
    (folder / "file").symlink_to("file")
    return folder / "file"


@on_disk("device of zeros", "is a device")
def _device(sources, folder):
    return Path("/dev/zero")


@on_disk("name of 300 letters", "name too long")
def _long_name(sources, folder):
    return folder / ("x" * 300)


@on_disk("what an interrupted save left", "interrupted save")
def _partial(sources, folder):
    path = folder / ".fhelium-0011223344556677.partial"
    path.write_bytes(sources["ciphertext"])
    return path


@on_disk("NUL in the name", "without NUL", error=errors.OperandTypeError)
def _nul(sources, folder):
    return Path(str(folder) + "/a\0b")
