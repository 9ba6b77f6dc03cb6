"""Files of int32 residues: half the bytes, the same rules."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import fhelium
from fhelium import DecryptPolicy, Engine
from fhelium.errors import FileFormatError
from tests.serialization.conftest import TinyRing, make_ring, write_files
from tests.serialization.test_round_trip import NAMES, same


@pytest.fixture(scope="module")
def narrow() -> TinyRing:
    return make_ring("int32", scale_bits=25)


@pytest.fixture(scope="module")
def narrow_files(narrow, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("narrow")
    write_files(narrow.values, folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_value_comes_back_and_saves_to_the_same_bytes(name, narrow, narrow_files, tmp_path):
    loaded = fhelium.load_value(narrow_files / name)
    assert same(loaded, narrow.values[name])
    fhelium.save_value(loaded, tmp_path / "again", allow_secret_key=True)
    assert (tmp_path / "again").read_bytes() == (narrow_files / name).read_bytes()


def test_a_word_takes_four_bytes(narrow, narrow_files):
    (tensor,) = fhelium.inspect_value(narrow_files / "ciphertext").tensors
    assert (tensor.dtype, tensor.shape) == ("I32", (2, 4, 16))
    assert tensor.nbytes == narrow.values["ciphertext"].data.nbytes == 2 * 4 * 16 * 4


def test_loaded_keys_do_their_work(narrow, narrow_files):
    engine = Engine(fhelium.load_value(narrow_files / "config"))
    secret_key, keys, ciphertext = (
        fhelium.load_value(narrow_files / name) for name in ("secret", "keys", "ciphertext")
    )
    engine.add_keys(keys)
    moved = engine.rotate_by_step(ciphertext, 3)
    policy = DecryptPolicy.private()
    found = engine.decrypt_message(moved, secret_key, policy=policy, real=True)
    message = torch.linspace(-1, 1, 8, dtype=torch.float64)
    assert (found - torch.roll(message, 3)).abs().max() < 2**-12


def test_words_of_the_other_type_are_refused(narrow, narrow_files, tmp_path):
    path = tmp_path / "forged"
    raw = (narrow_files / "ciphertext").read_bytes()
    path.write_bytes(raw.replace(b'"dtype":"I32"', b'"dtype":"I64"'))
    with pytest.raises(FileFormatError):
        fhelium.load_value(path)
