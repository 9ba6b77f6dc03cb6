"""What is loaded is what was saved, bit for bit, and goes on working."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

import fhelium
from fhelium import (
    Ciphertext,
    CkksConfig,
    DecryptPolicy,
    Engine,
    EvaluationKeys,
    Plaintext,
    RotationKey,
    SecretKey,
    SwitchingKey,
)
from fhelium.errors import (
    ContextMismatchError,
    FHEliumError,
    OperandTypeError,
    PassphraseError,
    SecretExposureError,
    StateError,
)
from fhelium.values import CkksState, TensorResident, key_state
from tests.serialization.corpus import PASSPHRASE

NAMES = [
    *("ciphertext", "batch", "product", "seeded", "seeded_batch", "plaintext", "secret"),
    *("public", "relinearization"),
    *("conjugation", "rotation", "switching", "keys", "config"),
]


def same(left, right) -> bool:
    """Compare two values in everything that they carry."""
    if isinstance(left, CkksConfig):
        return left == right
    if isinstance(left, EvaluationKeys):
        pairs = zip(left, right, strict=True)
        return left.config == right.config and all(same(a, b) for a, b in pairs)
    return (
        type(left) is type(right)
        and left.state == right.state
        and left.metadata() == right.metadata()
        and left._details() == right._details()
        and left.data.dtype == right.data.dtype
        and left.data.stride() == right.data.stride()
        and torch.equal(left.data, right.data)
    )


def plain_state(ring) -> CkksState:
    return ring.values["plaintext"].state


@pytest.mark.parametrize("name", NAMES)
def test_every_value_comes_back(name, ring, files):
    value = ring.values[name]
    loaded = fhelium.load_value(files / name)
    assert same(loaded, value)
    if isinstance(value, TensorResident):
        assert loaded.data.data_ptr() != value.data.data_ptr()
        assert loaded.insecure


@pytest.mark.parametrize("name", NAMES)
def test_saving_again_gives_the_same_bytes(name, files, tmp_path):
    loaded = fhelium.load_value(files / name)
    fhelium.save_value(loaded, tmp_path / "again", allow_secret_key=True)
    assert (tmp_path / "again").read_bytes() == (files / name).read_bytes()


def test_loaded_keys_do_their_work(ring, files):
    config = fhelium.load_value(files / "config")
    engine = Engine(config)
    secret_key, public_key, keys, ciphertext = (
        fhelium.load_value(files / name, config=config)
        for name in ("secret", "public", "keys", "ciphertext")
    )
    engine.add_keys(keys)
    message = torch.linspace(-1, 1, 8, dtype=torch.float64)
    policy = DecryptPolicy.private()
    found = engine.decrypt_message(
        engine.rotate_by_step(ciphertext, 3), secret_key, policy=policy, real=True
    )
    assert (found - torch.roll(message, 3)).abs().max() < 2**-12
    fresh = engine.encrypt_message(message, public_key)
    square = engine.rescale_to_next_depth(engine.relinearize(engine.square(fresh)))
    found = engine.decrypt_message(square, ring.secret_key, policy=policy, real=True)
    assert (found - message**2).abs().max() < 2**-12


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("basis", ["Q", "QP"])
@pytest.mark.parametrize("representation", ["standard", "montgomery"])
def test_every_state_comes_back(depth, basis, representation, ring, tmp_path):
    state = CkksState.fresh(
        ring.config,
        depth=depth,
        scale=2.0**20 + 1 / 3,
        modulus_basis=basis,
        residue_representation=representation,
        polynomial_domain="ntt",
        components=3,
        noise_bound=None if depth else 2.0**-60,
        message_bound=None if depth else 0.1,
    )
    data = torch.zeros(3, 2, state.limb_count, 16, dtype=torch.int64)
    primes = torch.tensor([ring.config.primes[i] for i in state.prime_ids])
    data[:] = (primes - 1)[:, None]
    data[..., 0] = 0
    value = Ciphertext(data, state)
    fhelium.save_value(value, tmp_path / "value")
    loaded = fhelium.load_value(tmp_path / "value")
    assert same(loaded, value)
    assert loaded.key_id is None


@pytest.mark.parametrize("batch", [(1,), (3, 2), (0,), (2, 0, 3), (1,) * 16])
def test_batches_come_back(batch, ring, tmp_path):
    state = plain_state(ring)
    data = torch.arange(torch.Size((*batch, 3, 16)).numel()).reshape(*batch, 3, 16)
    value = Plaintext(data, state)
    fhelium.save_value(value, tmp_path / "value")
    assert same(fhelium.load_value(tmp_path / "value"), value)


@pytest.mark.parametrize(
    "view",
    [
        lambda v: v[2],
        lambda v: v[1:4],
        lambda v: v[::2],
        lambda v: Ciphertext(v.data[:, :1].expand(-1, 4, -1, -1), v.state),
        lambda v: Ciphertext(
            torch.stack([v.data, v.data + 0], dim=-1)[..., 1],
            v.state,
        ),
        lambda v: Ciphertext(v.data.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0), v.state),
    ],
    ids=["item", "slice", "every second", "expanded", "strided", "transposed"],
)
def test_views_are_saved_as_what_they_show(view, ring, tmp_path):
    value = view(ring.values["batch"])
    fhelium.save_value(value, tmp_path / "value")
    loaded = fhelium.load_value(tmp_path / "value")
    assert loaded.state == value.state
    assert torch.equal(loaded.data, value.data)
    assert (tmp_path / "value").stat().st_size < value.nbytes + 2048


def test_a_seed_serves_every_depth(ring, tmp_path):
    """The stream is addressed by prime, so rows that were dropped change nothing."""
    seeded = ring.values["seeded"]
    state = seeded.state.replace(depth=1)
    value = Ciphertext(seeded.data[:, 1:], state, public_seed=seeded.public_seed)
    fhelium.save_value(value, tmp_path / "value")
    loaded = fhelium.load_value(tmp_path / "value")
    assert torch.equal(loaded.data, value.data)
    assert loaded.state == state


def test_saving_leaves_the_value_alone(ring, tmp_path):
    for name in ("batch", "secret", "rotation"):
        value = ring.values[name]
        before, version = value.data.clone(), value.data._version
        fhelium.save_value(value, tmp_path / name, allow_secret_key=True)
        assert torch.equal(value.data, before)
        assert value.data._version == version


def test_a_config_is_shared_when_given_and_compared(ring, files):
    loaded = fhelium.load_value(files / "ciphertext", config=ring.config)
    assert loaded.config is ring.config
    other = CkksConfig.create(depth=2, scale_bits=28, N=16, alpha=1, allow_insecure=True)
    for name in NAMES:
        with pytest.raises(ContextMismatchError) as caught:
            fhelium.load_value(files / name, config=other)
        assert caught.value.context_ids == (other.context_id, ring.config.context_id)


def test_paths_of_several_types(ring, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "\u0434\u0430\u043d\u043d\u044b\u0435 'x' \n.fhelium"
    for path in (name, Path(name), tmp_path / name):
        fhelium.save_value(ring.config, path)
        assert fhelium.load_value(path) == ring.config
    assert fhelium.inspect_value(Path(name)).path == name
    for wrong in (b"bytes", 3, None, ""):
        with pytest.raises(OperandTypeError, match="save_value: path is"):
            fhelium.save_value(ring.config, wrong)
        with pytest.raises(OperandTypeError, match="load_value: path is"):
            fhelium.load_value(wrong)


def test_secret_keys_are_saved_only_when_asked_by_name(ring, tmp_path):
    for allow in (False, None, 1, "yes"):
        with pytest.raises(SecretExposureError, match=r"value is secret key .*allow_secret_key"):
            fhelium.save_value(ring.secret_key, tmp_path / "key", allow_secret_key=allow)
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_opens_what_it_sealed(ring, tmp_path):
    # One text in two spellings, as two systems type it.
    composed, decomposed = "moon \u00e9", "moon e\u0301"
    path = tmp_path / "key"
    fhelium.save_value(ring.secret_key, path, allow_secret_key=True, passphrase=composed)
    for passphrase in (composed, decomposed, composed.encode()):
        assert same(fhelium.load_value(path, passphrase=passphrase), ring.secret_key)
    with pytest.raises(PassphraseError, match="does not open this file") as caught:
        fhelium.load_value(path, passphrase="moon e")
    assert caught.value.__cause__ is None
    assert "moon" not in str(caught.value)


def test_each_seal_is_fresh(ring, sources, tmp_path):
    for name in "ab":
        fhelium.save_value(
            ring.secret_key, tmp_path / name, allow_secret_key=True, passphrase=PASSPHRASE
        )
    a, b = ((tmp_path / name).read_bytes() for name in "ab")
    assert a[-32:] != b[-32:]
    assert len({raw[raw.index(b"salt") :][:40] for raw in (a, b, sources["sealed"])}) == 3


def test_passphrases_that_make_no_sense(ring, files, tmp_path):
    for passphrase in ("", b"", 5):
        with pytest.raises(PassphraseError, match="the passphrase is"):
            fhelium.save_value(
                ring.secret_key, tmp_path / "key", allow_secret_key=True, passphrase=passphrase
            )
    with pytest.raises(PassphraseError, match=r"value is a PublicKey. Only secret keys"):
        fhelium.save_value(ring.values["public"], tmp_path / "key", passphrase=PASSPHRASE)
    with pytest.raises(PassphraseError, match="the passphrase is empty"):
        fhelium.load_value(files / "sealed", passphrase="")
    assert list(tmp_path.iterdir()) == []


def test_what_files_do_not_hold_is_refused_before_writing(ring, tmp_path):
    path = tmp_path / "value"
    config, key_id = ring.config, ring.secret_key.key_id
    state = key_state(config, key_id=key_id, components=2)
    rotation = ring.values["rotation"]

    class Other(Ciphertext):
        pass

    ciphertext = ring.values["ciphertext"]
    changed = ciphertext.clone()
    changed.data[0, 0, 0] = config.primes[0]
    negative = rotation.clone()
    negative.data[1, 0, 2, 3] = -1
    foreign = RotationKey(rotation.data, state, public_seed=bytes(32), step=3)
    seeded = ring.values["seeded"]
    mixed = Ciphertext(ciphertext.data, ciphertext.state, public_seed=seeded.public_seed)
    batch = ring.values["seeded_batch"]
    part = Ciphertext(batch.data[:, 1], batch.state, public_seed=batch.public_seed)
    zero = torch.zeros(len(config.primes), config.N, dtype=torch.int64)
    two = SecretKey(zero + 2, key_state(config, key_id=key_id, components=1))
    uneven = ring.secret_key.clone()
    uneven.data[2, 5] = (uneven.data[2, 5] + 1) % config.primes[2]
    named = key_state(config, key_id="a key", components=2)
    unnamed = RotationKey(rotation.data, named, public_seed=rotation.public_seed, step=3)
    sourced = SwitchingKey(
        rotation.data, state, public_seed=rotation.public_seed, source_key_id="\x1b"
    )
    for value, error, says in (
        (torch.zeros(3), OperandTypeError, "value is a Tensor. A file holds one of"),
        ([ciphertext], OperandTypeError, "value is a list"),
        (None, OperandTypeError, "value is a NoneType"),
        (Other(ciphertext.data, ciphertext.state), OperandTypeError, "value is a Other"),
        (EvaluationKeys(), StateError, "empty key set"),
        (EvaluationKeys(config=config), StateError, "empty key set"),
        (changed, StateError, "1 words of the payload are no residues"),
        (negative, StateError, "1 words of the payload are no residues"),
        (foreign, StateError, "does not come from its public_seed"),
        (mixed, StateError, "second component .* does not come from its public_seed"),
        (part, StateError, "second component .* does not come from its public_seed"),
        (EvaluationKeys(foreign), StateError, "does not come from its public_seed"),
        (two, StateError, "does not come from ternary coefficients"),
        (uneven, StateError, "does not come from ternary coefficients"),
        (unnamed, StateError, "a file of it says key_id 'a key'"),
        (sourced, StateError, r"a file of it says source_key_id '\\x1b'"),
        (
            Ciphertext(ciphertext.data, ciphertext.state.replace(message_bound=1e30)),
            FHEliumError,
            "half the modulus",
        ),
    ):
        with pytest.raises(error, match=says) as caught:
            fhelium.save_value(value, path, allow_secret_key=True)
        assert str(caught.value).startswith("save_value: ")
        assert list(tmp_path.iterdir()) == []


def test_a_key_set_too_long_for_its_header(ring, tmp_path, monkeypatch):
    from fhelium.serialization import container

    monkeypatch.setattr(container, "HEADER_LIMIT", 2000)
    with pytest.raises(StateError, match=r"a file of it .* at most 2000.*: fewer keys"):
        fhelium.save_value(ring.values["keys"], tmp_path / "keys")
    assert list(tmp_path.iterdir()) == []


def test_a_set_that_others_add_to_meanwhile(ring, tmp_path, monkeypatch):
    from fhelium.serialization import writing

    keys, real = EvaluationKeys(ring.values["relinearization"]), writing.stored_tensors

    def adding(value):
        keys.add(ring.values["rotation"])
        return real(value)

    monkeypatch.setattr(writing, "stored_tensors", adding)
    fhelium.save_value(keys, tmp_path / "keys")
    assert len(keys) == 2
    assert [type(key).__name__ for key in fhelium.load_value(tmp_path / "keys")] == [
        "RelinearizationKey"
    ]


def test_more_batch_axes_than_a_file_takes(ring, tmp_path):
    value = Plaintext(torch.zeros((1,) * 19 + (3, 16), dtype=torch.int64), plain_state(ring))
    with pytest.raises(StateError, match=r"a file of it .* at most 20 sizes"):
        fhelium.save_value(value, tmp_path / "value")
    assert list(tmp_path.iterdir()) == []


def test_a_mixed_key_set_keeps_each_mark_and_source(ring, tmp_path):
    keys = EvaluationKeys(*ring.values["keys"], ring.values["switching"])
    fhelium.save_value(keys, tmp_path / "keys")
    loaded = fhelium.load_value(tmp_path / "keys")
    assert same(loaded, keys)
    assert loaded.steps == (1, 3, 6)
    assert loaded.switching(ring.values["switching"].source_key_id).insecure


def test_a_device_is_where_the_value_goes(files):
    for name in ("ciphertext", "keys"):
        loaded = fhelium.load_value(files / name, device="meta")
        first = next(iter(loaded)) if name == "keys" else loaded
        assert first.device.type == "meta"


def test_many_threads_on_one_name(ring, tmp_path):
    """Whoever comes last wins, whole; readers never see anything else."""
    path, values = tmp_path / "value", [ring.values["batch"][i] for i in range(5)]
    fhelium.save_value(values[0], path)
    failures: list[BaseException] = []

    def work(value) -> None:
        try:
            for _ in range(10):
                fhelium.save_value(value, path)
                loaded = fhelium.load_value(path)
                assert any(torch.equal(loaded.data, v.data) for v in values)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [p.name for p in tmp_path.iterdir()] == ["value"]


def test_secure_parameters_stay_unmarked(tmp_path):
    config = CkksConfig.parse("slots4096_scale40_depth2_int64")
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    key = engine.create_relinearization_key(secret_key)
    fhelium.save_value(key, tmp_path / "key")
    fhelium.save_value(secret_key, tmp_path / "secret", allow_secret_key=True)
    assert same(fhelium.load_value(tmp_path / "key"), key)
    assert same(fhelium.load_value(tmp_path / "secret"), secret_key)
    assert not fhelium.inspect_value(tmp_path / "key").insecure
    assert (tmp_path / "key").stat().st_size < key.nbytes / 2 + 2048
    assert (tmp_path / "secret").stat().st_size < config.N + 2048
