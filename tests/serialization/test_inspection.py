"""inspect_value says what a file holds and reads no tensor."""

from __future__ import annotations

import dataclasses
import os

import pytest

import fhelium
from fhelium import CkksConfig, EvaluationKeys
from fhelium.errors import FileFormatError
from fhelium.serialization import FileInfo, TensorEntry

NAMES = ["ciphertext", "plaintext", "secret", "sealed", "public", "rotation", "keys", "config"]


@pytest.mark.parametrize("name", NAMES)
def test_facts(name, ring, files):
    value = ring.values["secret" if name == "sealed" else name]
    info = fhelium.inspect_value(files / name)
    assert info.path == str(files / name)
    assert info.type_name == type(value).__name__
    assert (info.format_version, info.schema_version) == (1, 1)
    assert info.config == ring.config
    assert info.context_id == ring.config.context_id
    assert info.insecure
    assert not info.digest_verified
    assert info.sealed == (name == "sealed")
    assert info.file_bytes == (files / name).stat().st_size
    if isinstance(value, CkksConfig):
        assert (info.state, info.key_id, info.tensors, info.memory_bytes) == (None, None, (), 0)
    else:
        assert info.key_id == value.key_id
        assert info.memory_bytes == value.nbytes
    if not isinstance(value, CkksConfig | EvaluationKeys):
        assert info.state == value.state
    assert info == fhelium.inspect_value(files / name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.path = "other"


def test_tensors(ring, files):
    assert fhelium.inspect_value(files / "batch").tensors == (
        TensorEntry("data", "I64", (2, 5, 3, 16)),
    )
    keys = fhelium.inspect_value(files / "keys")
    assert [t.name for t in keys.tensors] == [f"{number:04d}.hidden" for number in range(5)]
    assert {(t.dtype, t.shape) for t in keys.tensors} == {("I64", (4, 3, 16))}
    assert [t.nbytes for t in keys.tensors] == [1536] * 5
    assert keys.contents == ("relinearization", "conjugation", "3 rotations by [1, 3, 6]")
    assert fhelium.inspect_value(files / "rotation").contents == ("1 rotation by [3]",)
    switching = fhelium.inspect_value(files / "switching")
    assert switching.contents == (f"switching from [{ring.values['switching'].source_key_id}]",)


def test_the_printed_lines(ring, files):
    lines = str(fhelium.inspect_value(files / "keys", verify=True)).splitlines()
    assert lines[0] == f"{files / 'keys'}: EvaluationKeys, INSECURE"
    rows = [line.split(maxsplit=1) for line in lines[1:]]
    assert [row[0] for row in rows] == [
        *("format", "parameters", "context", "key", "state", "holds", "holds", "holds"),
        *("tensor", "size", "digest"),
    ]
    shown = dict(rows)
    assert shown["format"] == "1, schema 1"
    assert shown["parameters"] == repr(ring.config)
    assert shown["key"] == ring.secret_key.key_id
    assert shown["state"] == "ntt, montgomery, basis QP"
    assert shown["tensor"] == "0000.hidden I64 [4, 3, 16] 1.5 KiB, and 4 more like it"
    assert shown["size"].endswith(" on disk, 15.0 KiB in memory")
    assert shown["digest"] == "verified"
    text = str(fhelium.inspect_value(files / "ciphertext"))
    assert "depth 0/2, scale 2^30, coefficient, standard, Q, 2 components" in text
    assert "not verified: no tensor was read" in text
    assert "opens with its passphrase only" in str(fhelium.inspect_value(files / "sealed"))


def test_names_are_shown_harmlessly(sources, tmp_path):
    path = tmp_path / "a\x1b[2Jb\n"
    path.write_bytes(sources["config"])
    assert str(fhelium.inspect_value(path)).isprintable() is False  # it has lines
    assert all(line.isprintable() for line in str(fhelium.inspect_value(path)).split("\n"))


def test_no_tensor_is_read(files, monkeypatch):
    """Only header bytes are asked for, however large the file."""
    read = []
    real = os.pread

    def watching(fd, count, offset):
        read.append(offset + count)
        return real(fd, count, offset)

    monkeypatch.setattr(os, "pread", watching)
    monkeypatch.setattr(os, "preadv", lambda *_: pytest.fail("a tensor was read"))
    info = fhelium.inspect_value(files / "keys")
    payload = sum(entry.nbytes for entry in info.tensors)
    assert max(read) == info.file_bytes - payload


def test_verifying_finds_damage(sources, tmp_path):
    path = tmp_path / "value"
    raw = bytearray(sources["keys"])
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert not fhelium.inspect_value(path).digest_verified
    with pytest.raises(FileFormatError, match=r"inspect_value: .* digest that it says"):
        fhelium.inspect_value(path, verify=True)


def test_nothing_secret_is_shown(ring, files):
    coefficients = fhelium.inspect_value(files / "secret", verify=True)
    shown = repr(coefficients) + str(coefficients)
    assert isinstance(coefficients, FileInfo)
    raw = (files / "secret").read_bytes()
    start = raw.index(b'"fhelium.digest":"') + 18
    assert raw[start : start + 64].decode() not in shown  # it is a hash of the key
    assert "-1, 0" not in shown
