"""Files on disk: opened without following anything, written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from fhelium.errors import FileAccessError, OperandTypeError

PathLike = str | os.PathLike[str]

OWNER_ONLY: Final = 0o600
_PARTIAL_PREFIX: Final = ".fhelium-"
_PARTIAL_SUFFIX: Final = ".partial"
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file that is open for reading; all is read through its one descriptor."""

    fd: int
    file_bytes: int
    mode: int

    def read(self, count: int, offset: int) -> bytes:
        """Return up to count bytes from an offset, fewer only at the end of the file."""
        parts = []
        while count > 0:
            part = os.pread(self.fd, count, offset)
            if not part:
                break
            parts.append(part)
            count, offset = count - len(part), offset + len(part)
        return b"".join(parts)

    def read_into(self, buffer: memoryview, offset: int) -> bool:
        """Fill a buffer of bytes from an offset; return whether the file had that many."""
        while buffer:
            count = os.preadv(self.fd, [buffer], offset)
            if count == 0:
                return False
            buffer, offset = buffer[count:], offset + count
        return True


def path_text(path: object, operation: str) -> str:
    """Return a path as text.

    Example:
        >>> from pathlib import Path
        >>> path_text(Path("keys") / "a.fhelium", "load_value")
        'keys/a.fhelium'
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise OperandTypeError(
            operation,
            f"path is {path!a} of type {type(path).__name__}",
            "A path is a non-empty str or os.PathLike without NUL",
            "Pass the file's name",
        )
    return text


@contextmanager
def open_regular(path: str, operation: str) -> Iterator[OpenFile]:
    """Open a regular file for reading, without following a link and without waiting for a pipe.

    Example:
        >>> try:
        ...     with open_regular("/dev/null", "load_value"):
        ...         pass
        ... except FileAccessError as error:
        ...     print(error.fact)
        '/dev/null' is a device
    """
    if _is_partial(os.path.basename(path)):
        raise FileAccessError(
            operation,
            f"{path!a} is what an interrupted save left behind",
            "A value is read from the name it was saved under",
            "Delete this file and save the value again",
        )
    fd = -1
    with translated(operation, path):
        try:
            # Opening a device can have effects, so its kind is asked for before and after.
            _require_regular(os.lstat(path), path, operation)
            fd = os.open(path, _flags(os.O_RDONLY, "O_NOFOLLOW", "O_NONBLOCK"))
            found = os.fstat(fd)
            _require_regular(found, path, operation)
            yield OpenFile(fd, found.st_size, stat.S_IMODE(found.st_mode))
        finally:
            if fd >= 0:
                os.close(fd)


@contextmanager
def write_atomically(path: str, operation: str, *, replace: bool) -> Iterator[int]:
    """Give a descriptor whose bytes become the file when all went well, and vanish otherwise.

    The bytes go to a temporary file beside the target that nobody else can open. Then they are
    flushed to disk and the file gets its name in one step, and the folder is flushed. On any
    exception, KeyboardInterrupt included, the temporary file is removed and the target is as it
    was.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with write_atomically(f"{folder}/a", "save_value", replace=False) as fd:
        ...         _ = os.write(fd, b"whole")
        ...     print(os.listdir(folder), open(f"{folder}/a", "rb").read())
        ['a'] b'whole'
    """
    name = os.path.basename(path)
    partial = f"{_PARTIAL_PREFIX}{secrets.token_hex(8)}{_PARTIAL_SUFFIX}"
    if not name or _is_partial(name):
        kind = "has the name of a temporary file" if name else "names a folder"
        raise FileAccessError(
            operation, f"{path!a} {kind}", "A file has a name", "Choose another one"
        )
    folder = fd = -1
    made = False
    with translated(operation, path):
        try:
            flags = _flags(os.O_RDONLY, "O_DIRECTORY")
            folder = os.open(os.path.dirname(path) or ".", flags)
            _check_target(name, folder, path, operation, replace)
            made = True  # before the call: an interrupt may come between it and the next line
            flags = _flags(os.O_WRONLY | os.O_CREAT | os.O_EXCL, "O_NOFOLLOW")
            fd = os.open(partial, flags, OWNER_ONLY, dir_fd=folder)
            os.fchmod(fd, OWNER_ONLY)  # whatever the umask took away or an ACL added
            yield fd
            os.fsync(fd)
            _give_name(partial, name, folder, path, operation, replace)
            os.fsync(folder)
        finally:
            if made:
                with suppress(FileNotFoundError):
                    os.unlink(partial, dir_fd=folder)
            if fd >= 0:
                os.close(fd)
            if folder >= 0:
                os.close(folder)


def flush_folder(path: str) -> None:
    """Bring the names in a folder to the disk."""
    folder = os.open(path, _flags(os.O_RDONLY, "O_DIRECTORY"))
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_all(fd: int, data: memoryview | bytes) -> None:
    """Write every byte, however many calls that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@contextmanager
def translated(operation: str, path: str) -> Iterator[None]:
    """Turn an OSError of the operating system into a FileAccessError that says what to do.

    Example:
        >>> try:
        ...     with translated("load_value", "absent.fhelium"):
        ...         os.lstat("absent.fhelium")
        ... except FileAccessError as error:
        ...     print(error)
        load_value: 'absent.fhelium': No such file or directory. Check the path.
    """
    try:
        yield
    except FileAccessError:
        raise
    except OSError as error:
        remedies = {
            errno.ENOENT: "Check the path",
            errno.ENOTDIR: "Check the path",
            errno.EACCES: "Check who owns the file and its folder, and their permissions",
            errno.ENOSPC: "Make room on the disk and save again; the old file is as it was",
            errno.EDQUOT: "Make room on the disk and save again; the old file is as it was",
            errno.EFBIG: "Raise the limit on file sizes; the old file is as it was",
        }
        known = error.errno or 0
        raise FileAccessError(
            operation,
            f"{path!a}: {os.strerror(known) if known else error}",
            "",
            remedies.get(known, "Check the disk and the path"),
            errno=error.errno,
            path=path,
        ) from error


def _is_partial(name: str) -> bool:
    return name.startswith(_PARTIAL_PREFIX) and name.endswith(_PARTIAL_SUFFIX)


def _flags(flags: int, *names: str) -> int:
    for name in ("O_CLOEXEC", *names):
        flags |= getattr(os, name, 0)
    return flags


def _require_regular(found: os.stat_result, path: str, operation: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
    raise FileAccessError(
        operation,
        f"{path!a} is {kind}",
        "A value is read from and written to a regular file",
        "Pass the path that the link leads to"
        if stat.S_ISLNK(found.st_mode)
        else "Pass another path",
        path=path,
        kind=kind,
    )


def _check_target(name: str, folder: int, path: str, operation: str, replace: bool) -> None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    _require_regular(found, path, operation)
    if not replace:
        _refuse_existing(path, operation)


def _give_name(
    partial: str, name: str, folder: int, path: str, operation: str, replace: bool
) -> None:
    if replace:
        os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        os.link(partial, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        _refuse_existing(path, operation)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        raise FileAccessError(
            operation,
            f"{path!a} is on a file system without hard links",
            "A secret key gets its name by a hard link, because that replaces no other file",
            "Save it on another file system, then move it",
            errno=error.errno,
            path=path,
        ) from error
    # Here as well as in the end: an interrupt between two lines hits one of the two at most.
    os.unlink(partial, dir_fd=folder)


def _refuse_existing(path: str, operation: str) -> NoReturn:
    raise FileAccessError(
        operation,
        f"{path!a} exists already",
        "A secret key never takes the place of another file",
        "Choose another name, or move the old file away yourself",
        errno=errno.EEXIST,
        path=path,
    )
