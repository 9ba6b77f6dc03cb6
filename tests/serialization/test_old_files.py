"""Files that earlier versions wrote are read by this one; nobody writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import fhelium
from fhelium import DecryptPolicy, Engine
from tests.serialization.corpus import PASSPHRASE
from tests.serialization.write_data import facts

DATA = Path(__file__).parent / "data"
FORMATS = sorted(path.name for path in DATA.iterdir() if path.is_dir())
CASES = [
    (folder, path.name)
    for folder in FORMATS
    for path in sorted((DATA / folder).iterdir())
    if path.name != "expected.json"
]


def load(folder: str, name: str, tmp_path: Path):
    """Load a copy that nobody else can read: git keeps no such permissions."""
    path = tmp_path / name
    path.write_bytes((DATA / folder / name).read_bytes())
    path.chmod(0o600)
    return fhelium.load_value(path, passphrase=PASSPHRASE if name == "sealed" else None)


def test_there_is_a_folder_for_each_format():
    from fhelium.serialization.manifest import FORMAT_VERSION

    assert [f"format-{version}" for version in range(1, FORMAT_VERSION + 1)] == FORMATS
    assert len(CASES) == 15 * len(FORMATS)


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_it_is_read_as_what_it_was(folder, name, tmp_path):
    expected = json.loads((DATA / folder / "expected.json").read_text())
    assert facts(load(folder, name, tmp_path)) == expected[name]


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_it_is_inspected(folder, name):
    info = fhelium.inspect_value(DATA / folder / name, verify=True)
    assert info.digest_verified
    assert info.insecure


@pytest.mark.parametrize("folder", FORMATS)
def test_old_keys_open_old_values_and_go_on_computing(folder, tmp_path):
    secret_key, ciphertext, batch, keys, plaintext = (
        load(folder, name, tmp_path)
        for name in ("sealed", "ciphertext", "batch", "keys", "plaintext")
    )
    seeded = load(folder, "seeded_batch", tmp_path)
    engine = Engine(secret_key.config)
    engine.add_keys(keys)
    policy = DecryptPolicy.private()
    message = torch.linspace(-1, 1, 8, dtype=torch.float64)
    for value, expected in (
        (ciphertext, message),
        (batch, message * torch.ones(5, 1)),
        (seeded, message * torch.ones(2, 3, 1)),
        (engine.rotate_by_step(ciphertext, 6), torch.roll(message, 6)),
        (engine.rescale_to_next_depth(engine.multiply_plaintext(batch, plaintext)), message**2),
    ):
        found = engine.decrypt_message(value, secret_key, policy=policy, real=True)
        assert (found - expected).abs().max() < 2**-12
