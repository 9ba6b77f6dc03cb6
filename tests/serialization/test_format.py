"""The bytes are what docs/files.md says: read here by other libraries, without the package."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata

import pytest
import torch
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from safetensors import safe_open

import fhelium
from fhelium.rng import STREAM_VERSION
from fhelium.values import CkksState, EvaluationKeys, TensorResident
from tests.serialization import forge
from tests.serialization.corpus import PASSPHRASE

ALL = [
    *("ciphertext", "batch", "product", "seeded", "seeded_batch", "plaintext", "secret"),
    *(
        "sealed",
        "public",
        "relinearization",
        "conjugation",
        "rotation",
        "switching",
        "keys",
        "config",
    ),
]
KEYS = ("relinearization", "conjugation", "rotation", "switching")


def opened(path):
    """Read a file with the safetensors library."""
    with safe_open(path, framework="pt") as file:
        names = list(file.keys())
        return file.metadata(), {name: file.get_tensor(name) for name in names}


@pytest.mark.parametrize("name", ALL)
def test_header_and_digest(name, sources):
    raw = sources[name]
    length = int.from_bytes(raw[:8], "little")
    text = raw[8 : 8 + length]
    assert (8 + length) % 64 == 0
    header = json.loads(text)
    metadata = header["__metadata__"]
    assert set(metadata) == {"fhelium.digest", "fhelium.manifest"}
    assert text.rstrip(b" ").decode("ascii") == forge.spell(header)
    assert len(text) - len(text.rstrip(b" ")) < 64
    manifest = json.loads(metadata["fhelium.manifest"])
    assert metadata["fhelium.manifest"] == forge.spell(manifest)
    assert metadata["fhelium.digest"] == forge.digest(raw)
    del header["__metadata__"]
    places = [header[tensor]["data_offsets"] for tensor in sorted(header)]
    assert [b for _, b in places[:-1]] == [a for a, _ in places[1:]]
    assert len(raw) == 8 + length + (places[-1][1] if places else 0)
    for entry in header.values():
        assert forge.size_of(entry) == entry["data_offsets"][1] - entry["data_offsets"][0]


@pytest.mark.parametrize("name", ALL)
def test_the_forger_writes_the_same_bytes(name, sources):
    """Otherwise the malformed files would be refused for another reason than theirs."""
    assert sources.parts(name).raw() == sources[name]


@pytest.mark.parametrize("name", ["ciphertext", "batch", "product", "plaintext"])
def test_slots_are_stored_as_they_are(name, ring, files):
    metadata, tensors = opened(files / name)
    value = ring.values[name]
    assert list(tensors) == ["data"]
    assert torch.equal(tensors["data"], value.data)
    manifest = json.loads(metadata["fhelium.manifest"])
    assert manifest["type"] == type(value).__name__
    assert (manifest["format"], manifest["schema"]) == (1, 1)
    assert manifest["key_id"] == value.key_id
    assert manifest["context_id"] == value.context_id
    assert manifest["insecure"] is True
    axes = {field: getattr(value.state, field) for field in CkksState.__slots__}
    for other in ("config", "key_id", "insecure"):
        del axes[other]
    assert manifest["state"] == axes
    assert set(manifest) == {
        *("format", "type", "schema", "config", "context_id", "insecure", "key_id", "state")
    }


def test_a_config_is_its_mapping_and_no_tensor(ring, files):
    metadata, tensors = opened(files / "config")
    assert tensors == {}
    manifest = json.loads(metadata["fhelium.manifest"])
    assert manifest["config"] == ring.config.to_mapping()


@pytest.mark.parametrize("name", KEYS)
def test_switching_keys_store_their_hidden_half(name, ring, files):
    metadata, tensors = opened(files / name)
    key = ring.values[name]
    assert list(tensors) == ["hidden"]
    # [digit, 2, limb, N] in memory; [limb, digit, N] in the file.
    assert torch.equal(tensors["hidden"], key.data[:, 0].transpose(0, 1))
    manifest = json.loads(metadata["fhelium.manifest"])
    assert manifest["stream"] == STREAM_VERSION
    assert manifest["details"].pop("public_seed") == key.public_seed.hex()
    rest = {"rotation": {"step": 3}, "switching": {"source_key_id": key.source_key_id}}
    assert manifest["details"] == rest.get(name, {})
    assert (files / name).stat().st_size < key.nbytes / 2 + 1400


@pytest.mark.parametrize("name", ["seeded", "seeded_batch"])
def test_fresh_ciphertexts_store_their_first_component(name, ring, files):
    metadata, tensors = opened(files / name)
    value = ring.values[name]
    assert list(tensors) == ["hidden"]
    assert torch.equal(tensors["hidden"], value.data[0])
    manifest = json.loads(metadata["fhelium.manifest"])
    assert manifest["stream"] == STREAM_VERSION
    assert manifest["details"] == {"public_seed": value.public_seed.hex()}
    assert "details" not in json.loads(opened(files / "batch")[0]["fhelium.manifest"])


def test_a_public_key_stores_its_hidden_half(ring, files):
    _, tensors = opened(files / "public")
    assert torch.equal(tensors["hidden"], ring.values["public"].data[0])


def test_a_key_set_stores_its_keys_in_order(ring, files):
    metadata, tensors = opened(files / "keys")
    keys: EvaluationKeys = ring.values["keys"]
    listed = json.loads(metadata["fhelium.manifest"])["keys"]
    assert [entry["type"] for entry in listed] == [type(key).__name__ for key in keys]
    assert [entry["details"].get("step") for entry in listed] == [None, None, 1, 3, 6]
    for (name, tensor), key, number in zip(sorted(tensors.items()), keys, range(5), strict=True):
        assert name == f"{number:04d}.hidden"
        assert torch.equal(tensor, key.data[:, 0].transpose(0, 1))


def evaluated(coefficients: list[int], config, prime_id: int) -> list[int]:
    """Evaluate a polynomial at psi^(2 bitrev(i) + 1) in Python integers."""
    q, degree, psi = config.primes[prime_id], config.N, config.root(prime_id)
    bits = degree.bit_length() - 1
    found = []
    for i in range(degree):
        point = pow(psi, 2 * int(f"{i:0{bits}b}"[::-1], 2) + 1, q)
        found.append(sum(c * pow(point, k, q) for k, c in enumerate(coefficients)) % q)
    return found


def check_secret(coefficients: list[int], ring) -> None:
    """Compare stored coefficients with the key in memory, prime by prime."""
    assert set(coefficients) <= {-1, 0, 1}
    assert any(coefficients)
    for prime_id, row in enumerate(ring.secret_key.data.tolist()):
        q = ring.config.primes[prime_id]
        radix = 2**52 if q < 2**50 else 2**64
        assert row == [x * radix % q for x in evaluated(coefficients, ring.config, prime_id)]


def test_a_secret_key_stores_its_ternary_coefficients(ring, files):
    metadata, tensors = opened(files / "secret")
    assert tensors["coefficients"].dtype == torch.int8
    check_secret(tensors["coefficients"].tolist(), ring)
    assert json.loads(metadata["fhelium.manifest"])["seal"] is None


def test_a_sealed_key_opens_by_the_standards(ring, files):
    metadata, tensors = opened(files / "sealed")
    text = metadata["fhelium.manifest"]
    seal = json.loads(text)["seal"]
    assert (seal["kdf"], seal["cipher"]) == ("scrypt", "AES-256-GCM")
    assert (seal["n"], seal["r"], seal["p"]) == (131072, 8, 1)
    key = hashlib.scrypt(
        unicodedata.normalize("NFC", PASSPHRASE).encode(),
        salt=bytes.fromhex(seal["salt"]),
        n=seal["n"],
        r=8,
        p=1,
        maxmem=2**28,
        dklen=32,
    )
    sealed = bytes(tensors["sealed"].tolist())
    plain = AESGCM(key).decrypt(bytes.fromhex(seal["nonce"]), sealed, text.encode())
    check_secret([byte - 256 if byte > 127 else byte for byte in plain], ring)


def test_sizes_against_memory(ring, files, sources):
    for name, value in ring.values.items():
        info = fhelium.inspect_value(files / name)
        assert info.file_bytes == len(sources[name])
        if isinstance(value, TensorResident | EvaluationKeys):
            assert info.memory_bytes == value.nbytes
        stored = sum(math.prod(e.shape) * (1 if e.dtype == "I8" else 8) for e in info.tensors)
        assert stored == sum(entry.nbytes for entry in info.tensors)


def test_nothing_of_a_secret_is_in_other_files(ring, sources):
    """No file but the plain secret key's holds its coefficients, in bytes or words."""
    coefficients = sources.parts("secret").tensors["coefficients"]
    words = b"".join((c if c < 2 else 2**64 - 1).to_bytes(8, "little") for c in coefficients)
    row = ring.secret_key.data.numpy().tobytes()[:64]
    for name in ALL:
        raw = sources[name]
        assert (coefficients in raw) == (name == "secret")
        assert words not in raw
        assert row not in raw
