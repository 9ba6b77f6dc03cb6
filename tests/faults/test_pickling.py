"""Every value and key but the secret one may be copied and pickled, and so may an engine."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle

import pytest
import torch

from fhelium import Engine
from fhelium.backend import OperationBackend
from fhelium.errors import (
    FHEliumError,
    InsecureWarning,
    RandomnessError,
    SecretExposureError,
    StateError,
)
from tests.faults.calls import engine_calls, message, parts, same

pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


def through_torch(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


WAYS = {
    **{f"pickle{p}": lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in (2, 4, 5)},
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "torch.save": through_torch,
}


@pytest.fixture(scope="module")
def values(small):
    """One of every kind that leaves a process."""
    engine = small.engine
    x = engine.encrypt_message(message(small, 1), small.public_key, output_domain="ntt")
    other = engine.create_secret_key()
    return {
        "ciphertext": x,
        "product": engine.square(x),
        "deep": engine.align_to_depth(x, 2),
        "batch": engine.encrypt_message(torch.rand(3, 512), small.public_key),
        "one of a batch": engine.encrypt_message(torch.rand(3, 512), small.public_key)[1],
        "seeded": engine.encrypt_with_secret_key(0.5, small.secret_key),
        "encoded": engine.encode(message(small, 2)),
        "prepared": engine.prepare_plaintext(message(small, 2), like=x),
        "public key": small.public_key,
        "relinearization key": small.keys.relinearization(),
        "rotation key": small.keys.rotation(-2),
        "conjugation key": small.keys.conjugation(),
        "switching key": engine.create_switching_key(small.secret_key, other),
        "key set": small.keys,
    }


@pytest.mark.parametrize("way", WAYS)
def test_what_comes_back_is_the_same(values, way):
    for name, value in values.items():
        back = WAYS[way](value)
        assert back is not value
        assert type(back) is type(value)
        assert repr(back) == repr(value)
        assert same(parts(back), parts(value)), name
        assert getattr(back, "public_seed", None) == getattr(value, "public_seed", None)


def test_a_copy_shares_and_a_deep_copy_does_not(values):
    value = values["ciphertext"]
    assert copy.copy(value).data is value.data
    assert copy.deepcopy(value).data.data_ptr() != value.data.data_ptr()


def test_copies_compute_what_the_originals_do(small):
    """Arguments, keys and the engine itself, all through one pickle."""
    calls = [call for call in engine_calls(small) if not call.name.startswith("decrypt")]
    engine, copies = pickle.loads(pickle.dumps((small.engine, calls)))
    for call, twin in zip(calls, copies, strict=True):
        assert same(parts(twin(engine)), parts(call(small.engine))), call.name


REFUSED = {
    "pickle": pickle.dumps,
    "pickle in a list": lambda v: pickle.dumps([1, v], 0),
    "copy": copy.copy,
    "deepcopy": lambda v: copy.deepcopy({"key": v}),
    "torch.save": lambda v: torch.save(v, io.BytesIO()),
    "multiprocessing": lambda v: multiprocessing.reduction.ForkingPickler.dumps(v),
}


@pytest.mark.parametrize("way", REFUSED)
def test_a_secret_key_goes_nowhere(small, way):
    with pytest.raises(SecretExposureError) as caught:
        REFUSED[way](small.secret_key)
    text = str(caught.value)
    assert small.secret_key.key_id in text
    assert "send ciphertexts, public and evaluation keys instead" in text
    assert "use .to(device)" in text


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_engine_is_a_fresh_one_with_the_same_keys(small, way):
    engine = WAYS[way](small.engine)
    assert type(engine) is Engine
    assert engine.config == small.config
    assert repr(engine) == repr(small.engine)
    assert engine.keys is not small.engine.keys
    assert same(parts(engine.keys), parts(small.engine.keys))
    assert engine._dispatchers == {}
    engine.keys.discard(*engine.keys)
    assert len(small.engine.keys) == len(small.keys)


def test_a_copied_engine_keeps_its_ntt_backend_and_class(small):
    class Named(Engine):
        pass

    engine = copy.copy(Named(small.config, ntt_backend="radix2_indexed"))
    assert (type(engine), engine._ntt_backend) == (Named, "radix2_indexed")


def test_a_copied_engine_draws_noise_of_its_own(small):
    twin = pickle.loads(pickle.dumps(small.engine))
    drawn = [engine.encrypt_message(0.5, small.public_key).data for engine in (small.engine, twin)]
    assert not torch.equal(*drawn)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_seeded_engine_is_not_copied(small, way):
    with pytest.warns(InsecureWarning):
        engine = Engine(small.config, rng_seed=3)
    with pytest.raises(RandomnessError) as caught:
        way(engine)
    assert "with a seed of its own" in str(caught.value)
    assert "3" not in caught.value.fact


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_engine_with_its_own_backend_is_not_copied(small, way):
    engine = Engine(small.config, backend=OperationBackend())
    with pytest.raises(StateError, match=r"Make Engine\(config, backend=...\)"):
        way(engine)


def test_errors_cross_process_borders_with_their_parts(small):
    with pytest.raises(FHEliumError) as caught:
        small.engine.rotate_by_step(small.engine.encrypt_message(0, small.public_key), 7)
    back = pickle.loads(pickle.dumps(caught.value))
    assert type(back) is type(caught.value)
    assert str(back) == str(caught.value)
    assert back.fields == caught.value.fields
    assert back.canonical_step == 7


def test_an_error_can_be_made_of_its_whole_text():
    """torch's DataLoader rebuilds a worker's error as its class around one string."""
    error = StateError("Caught StateError in DataLoader worker process 0.")
    assert str(error) == "Caught StateError in DataLoader worker process 0."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(StateError("add", "depths are 0 and 1")) == "add: depths are 0 and 1."
