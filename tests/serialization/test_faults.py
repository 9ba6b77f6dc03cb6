"""A save that fails leaves the old file and nothing else; a secret's file is nobody else's."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch

import fhelium
from fhelium.errors import FHEliumError, FileAccessError
from tests.programs import HEARS_CTRL_C, run_python
from tests.serialization.corpus import PASSPHRASE

# Every call to the operating system that a save makes, once the temporary file exists.
CALLS = ("fchmod", "write", "pwrite", "fsync", "rename")


def fail_at(monkeypatch, call: str, number: int, error: BaseException) -> None:
    """Let the number-th call of an os function fail; one of write leaves half of it written."""
    real, made = getattr(os, call), 0

    def failing(*arguments, **options):
        nonlocal made
        made += 1
        if made == number:
            if call == "write":
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, call, failing)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


FAILURES = [
    *((OSError(errno.ENOSPC, "full"), FileAccessError, call, 1) for call in CALLS),
    (OSError(errno.EIO, "broken"), FileAccessError, "write", 2),
    (KeyboardInterrupt(), KeyboardInterrupt, "write", 2),
    *((KeyboardInterrupt(), KeyboardInterrupt, call, 1) for call in CALLS),
    (MemoryError(), MemoryError, "write", 1),
]


@pytest.mark.parametrize(("error", "raised", "call", "number"), FAILURES)
def test_a_failing_call_changes_nothing(error, raised, call, number, ring, tmp_path, monkeypatch):
    path = tmp_path / "value"
    fhelium.save_value(ring.values["ciphertext"], path)
    before = snapshot(tmp_path)
    with monkeypatch.context() as patch:
        fail_at(patch, call, number, error)
        with pytest.raises(raised) as caught:
            fhelium.save_value(ring.values["batch"], path)
    assert snapshot(tmp_path) == before
    if raised is FileAccessError:
        assert caught.value.errno == error.errno
        assert isinstance(caught.value, OSError)
        assert caught.value.remedy
    fhelium.save_value(ring.values["batch"], path)  # and the next one works
    assert fhelium.load_value(path).batch_shape == (5,)


@pytest.mark.parametrize("call", ["fchmod", "write", "pwrite", "fsync", "link"])
def test_a_failing_call_leaves_no_secret(call, ring, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        fail_at(patch, call, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            fhelium.save_value(ring.secret_key, tmp_path / "key", allow_secret_key=True)
    assert snapshot(tmp_path) == {}


def test_the_temporary_file_goes_with_the_naming(ring, tmp_path, monkeypatch):
    """So an interrupt in the lines after it, or in the cleaning up, leaves none."""
    real, seen = os.fsync, []

    def watching(fd):
        seen.append([path.name for path in tmp_path.iterdir()])
        return real(fd)

    monkeypatch.setattr(os, "fsync", watching)
    fhelium.save_value(ring.secret_key, tmp_path / "key", allow_secret_key=True)
    (partial,) = seen[0]
    assert partial.endswith(".partial")
    assert seen[1:] == [["key"]]


def test_the_file_limit_of_the_system(ring, tmp_path):
    """The kernel refuses the write: the same path as a full disk."""
    path = tmp_path / "value"
    fhelium.save_value(ring.values["ciphertext"], path)
    before = snapshot(tmp_path)
    shown = run_python(
        f"""
        import resource, warnings
        warnings.simplefilter("ignore")
        import torch, fhelium
        value = fhelium.load_value({str(path)!r})
        big = type(value)(value.data[:, None].expand(-1, 2000, -1, -1).contiguous(), value.state)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            fhelium.save_value(big, {str(path)!r})
        except fhelium.errors.FileAccessError as error:
            print(error.errno, error)
        """
    )
    assert shown.startswith(f"{errno.EFBIG} save_value: ")
    assert "the old file is as it was" in shown
    assert snapshot(tmp_path) == before


def child(program: str) -> subprocess.Popen[str]:
    head = "import warnings; warnings.simplefilter('ignore')\nimport os, signal, fhelium\n"
    return subprocess.Popen(
        [sys.executable, "-c", HEARS_CTRL_C + head + textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        text=True,
    )


def check_folder(folder: Path, path: Path, known: list[bytes]) -> int:
    """Check that the file is whole and what lies beside it is taken for no value."""
    assert path.read_bytes() in known
    fhelium.load_value(path)
    others = [other for other in folder.iterdir() if other != path]
    for other in others:
        assert other.name.startswith(".fhelium-")
        assert other.name.endswith(".partial")
        assert stat.S_IMODE(other.stat().st_mode) == 0o600
        with pytest.raises(FileAccessError, match="interrupted save"):
            fhelium.load_value(other)
        other.rename(folder / "renamed")  # its bytes are refused as well, while they are not whole
        if (folder / "renamed").read_bytes() not in known:
            with pytest.raises(FHEliumError):
                fhelium.load_value(folder / "renamed")
        (folder / "renamed").unlink()
    return len(others)


@pytest.mark.parametrize("call", ["write", "pwrite", "fsync", "rename"])
def test_kill_9_in_the_middle(call, ring, files, tmp_path):
    path = tmp_path / "value"
    fhelium.save_value(ring.values["ciphertext"], path)
    old = path.read_bytes()
    process = child(
        f"""
        value = fhelium.load_value({str(files / "batch")!r})
        real = os.{call}
        def killing(*arguments, **options):
            os.kill(os.getpid(), signal.SIGKILL)
        os.{call} = killing
        fhelium.save_value(value, {str(path)!r})
        """
    )
    assert process.wait(60) == -signal.SIGKILL
    whole = (files / "batch").read_bytes()
    assert path.read_bytes() == old
    assert check_folder(tmp_path, path, [old, whole]) == 1


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_at_any_time(number, ring, tmp_path):
    """Two values take turns under one name until a signal comes; the file is always one of them."""
    path, known = tmp_path / "value", []
    batch = ring.values["batch"]
    for count in (700, 400):
        value = type(batch)(batch.data.repeat(1, count, 1, 1), batch.state)
        fhelium.save_value(value, tmp_path / str(count))
        known.append((tmp_path / str(count)).read_bytes())
    process = child(
        f"""
        values = [fhelium.load_value(p) for p in {[str(tmp_path / "700"), str(tmp_path / "400")]!r}]
        fhelium.save_value(values[0], {str(path)!r})
        print("ready", flush=True)
        try:
            while True:
                for value in values:
                    fhelium.save_value(value, {str(path)!r})
        except KeyboardInterrupt:
            print(os.listdir({str(tmp_path)!r}))
        """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (tmp_path / "700").unlink()
    (tmp_path / "400").unlink()
    time.sleep(0.05 + 0.2 * int.from_bytes(os.urandom(1), "big") / 256)
    process.send_signal(number)
    shown = process.stdout.read()
    process.wait(60)
    if number == signal.SIGINT:
        assert process.returncode == 0
        assert shown == "['value']\n"
    assert check_folder(tmp_path, path, known) <= (number == signal.SIGKILL)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0, 0o022, 0o277])
def test_files_are_their_owners_whatever_the_umask(umask, ring, tmp_path):
    old = os.umask(umask)
    try:
        fhelium.save_value(ring.values["public"], tmp_path / "public")
        fhelium.save_value(ring.secret_key, tmp_path / "secret", allow_secret_key=True)
        fhelium.save_value(
            ring.secret_key, tmp_path / "sealed", allow_secret_key=True, passphrase=PASSPHRASE
        )
    finally:
        os.umask(old)
    for name in ("public", "secret", "sealed"):
        assert mode(tmp_path / name) == 0o600
    fhelium.load_value(tmp_path / "secret")


def test_the_temporary_file_is_closed_to_others_from_the_start(ring, tmp_path, monkeypatch):
    seen = []
    real = os.write

    def watching(fd, data):
        (partial,) = tmp_path.iterdir()
        seen.append((partial.name, mode(partial)))
        return real(fd, data)

    monkeypatch.setattr(os, "write", watching)
    old = os.umask(0)
    try:
        fhelium.save_value(ring.secret_key, tmp_path / "key", allow_secret_key=True)
    finally:
        os.umask(old)
    assert seen
    assert all(
        name.startswith(".fhelium-") and name.endswith(".partial") and bits == 0o600
        for name, bits in seen
    )


@pytest.mark.parametrize("bits", [0o604, 0o640, 0o660, 0o700 | 0o001, 0o644])
def test_loose_permissions_are_refused_until_they_are_tight(bits, ring, tmp_path):
    path = tmp_path / "key"
    fhelium.save_value(ring.secret_key, path, allow_secret_key=True)
    path.chmod(bits)
    with pytest.raises(FileAccessError, match=rf"permissions {bits:04o}.*chmod 600") as caught:
        fhelium.load_value(path)
    assert caught.value.mode == bits
    path.chmod(0o400)
    assert torch.equal(fhelium.load_value(path).data, ring.secret_key.data)


def test_a_secret_key_takes_no_name_that_is_taken(ring, files, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(b"something of mine")
    with pytest.raises(FileAccessError, match=r"exists already. A secret key never") as caught:
        fhelium.save_value(ring.secret_key, path, allow_secret_key=True)
    assert caught.value.errno == errno.EEXIST
    assert snapshot(tmp_path) == {"key": b"something of mine"}


def test_a_file_system_without_hard_links(ring, tmp_path, monkeypatch):
    fail_at(monkeypatch, "link", 1, PermissionError(errno.EPERM, "no links here"))
    with pytest.raises(FileAccessError, match="without hard links") as caught:
        fhelium.save_value(ring.secret_key, tmp_path / "key", allow_secret_key=True)
    assert caught.value.errno == errno.EPERM
    assert snapshot(tmp_path) == {}


def test_a_name_taken_at_the_last_moment(ring, tmp_path, monkeypatch):
    path, real = tmp_path / "key", os.link

    def late(*arguments, **options):
        path.write_bytes(b"something of mine")
        return real(*arguments, **options)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(FileAccessError, match="exists already"):
        fhelium.save_value(ring.secret_key, path, allow_secret_key=True)
    assert snapshot(tmp_path) == {"key": b"something of mine"}


@pytest.mark.parametrize("source", ["secret", "sealed", "damaged", "newer"])
def test_the_file_of_a_secret_key_is_never_replaced(source, ring, sources, tmp_path):
    raw = {
        "damaged": sources["secret"][:-5],
        "newer": sources["secret"].replace(b'\\"format\\":1', b'\\"format\\":9'),
    }.get(source) or sources[source]
    path = tmp_path / "key"
    path.write_bytes(raw)
    for value in (ring.values["ciphertext"], ring.config, ring.values["keys"]):
        with pytest.raises(FileAccessError, match=r"holds a secret key.*may be the only copy"):
            fhelium.save_value(value, path)
    assert snapshot(tmp_path) == {"key": raw}


def test_other_files_are_replaced(ring, sources, tmp_path):
    path = tmp_path / "value"
    for raw in (b"", b"SecretKey", sources["keys"], sources["ciphertext"][:100]):
        path.write_bytes(raw)
        fhelium.save_value(ring.values["public"], path)
        assert path.read_bytes() == sources["public"]


def test_targets_that_are_no_regular_file(ring, sources, tmp_path):
    real = tmp_path / "real"
    real.write_bytes(sources["config"])
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    kinds = {
        "folder": "is a folder",
        "link": "is a symbolic link",
        "dangling": "is a symbolic link",
        "pipe": "is a pipe",
    }
    for value in (ring.values["ciphertext"], ring.secret_key):
        for name, says in kinds.items():
            with pytest.raises(FileAccessError, match=f"save_value: .*{says}"):
                fhelium.save_value(value, tmp_path / name, allow_secret_key=True)
        with pytest.raises(FileAccessError, match="names a folder"):
            fhelium.save_value(value, f"{tmp_path}/", allow_secret_key=True)
        with pytest.raises(FileAccessError, match="name of a temporary file"):
            fhelium.save_value(value, tmp_path / ".fhelium-1.partial", allow_secret_key=True)
        with pytest.raises(FileAccessError, match="No such file") as caught:
            fhelium.save_value(value, tmp_path / "absent" / "value", allow_secret_key=True)
        assert caught.value.errno == errno.ENOENT
        with pytest.raises(FileAccessError, match="Not a directory"):
            fhelium.save_value(value, real / "value", allow_secret_key=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "dangling",
        "folder",
        "link",
        "pipe",
        "real",
    ]
    assert real.read_bytes() == sources["config"]
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_file_that_shrinks_while_it_is_read(files, tmp_path, sources, monkeypatch):
    path = tmp_path / "value"
    path.write_bytes(sources["ciphertext"])
    real = os.preadv

    def shrinking(fd, buffers, offset):
        os.truncate(path, min(path.stat().st_size, offset + 5))
        return real(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", shrinking)
    with pytest.raises(FHEliumError, match="became shorter while it was read"):
        fhelium.load_value(path)


def test_a_file_swapped_while_it_is_read_changes_nothing(ring, sources, tmp_path, monkeypatch):
    """One descriptor is read: another file under the name is another file."""
    path = tmp_path / "value"
    path.write_bytes(sources["ciphertext"])
    real = os.preadv

    def swapping(fd, buffers, offset):
        fhelium.save_value(ring.values["plaintext"], path)
        return real(fd, buffers, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "preadv", swapping)
        loaded = fhelium.load_value(path)
    assert torch.equal(loaded.data, ring.values["ciphertext"].data)
    assert fhelium.inspect_value(path).type_name == "Plaintext"


def test_no_descriptor_stays_open(ring, files, tmp_path, sources):
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    bad = tmp_path / "bad"
    bad.write_bytes(sources["ciphertext"][:-1])
    before = count()
    for _ in range(5):
        fhelium.save_value(ring.values["ciphertext"], tmp_path / "value")
        fhelium.load_value(tmp_path / "value")
        fhelium.inspect_value(tmp_path / "value", verify=True)
        for path in (bad, tmp_path, tmp_path / "absent"):
            with pytest.raises(FHEliumError):
                fhelium.load_value(path)
        with pytest.raises(FHEliumError):
            fhelium.save_value(ring.values["ciphertext"], tmp_path)
    assert count() == before
