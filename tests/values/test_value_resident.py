"""Values and keys move, copy and describe themselves as their tensors do."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch

from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    TensorResident,
    is_switching_key_layout,
)

KINDS = [
    "Ciphertext",
    "Plaintext",
    "SecretKey",
    "PublicKey",
    "SwitchingKey",
    "RelinearizationKey",
    "ConjugationKey",
    "RotationKey",
]
pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


@pytest.fixture(params=KINDS)
def value(request, config, make):
    found = {type(value).__name__: value for value in make.all_values(config)}
    assert list(found) == KINDS
    return found[request.param]


def test_tensors_and_sizes(value):
    assert list(value.tensors()) == ["data"]
    assert value.tensors()["data"] is value.data
    assert value.nbytes == value.data.numel() * 8
    assert (value.device, value.dtype) == (torch.device("cpu"), torch.int64)
    assert value.is_cuda is False
    assert value.is_pinned() is False
    assert isinstance(value, TensorResident)


def test_nbytes_counts_the_payload_of_a_view(config, make):
    assert make.ciphertext(config, 5)[0].nbytes == config.ciphertext_nbytes()


def test_moving_keeps_state_details_and_layout(value):
    moved = value.to("meta")
    assert type(moved) is type(value)
    assert moved.device == torch.device("meta")
    assert moved.state is value.state
    assert moved.metadata() == value.metadata()
    assert moved.data.stride() == value.data.stride()
    assert value.device == torch.device("cpu")


def test_moving_to_where_it_is_returns_the_value_itself(value):
    assert value.to("cpu") is value
    assert value.to(torch.device("cpu")) is value
    assert value.cpu() is value


@pytest.mark.parametrize("target", [torch.float32, None, 1.5])
def test_moving_takes_devices_only(value, target):
    with pytest.raises(TypeError, match="residues keep their dtype"):
        value.to(target)


def test_clone_has_its_own_storage_and_the_same_state(value):
    twin = value.clone()
    assert torch.equal(twin.data, value.data)
    assert twin.data.data_ptr() != value.data.data_ptr()
    assert twin.data.stride() == value.data.stride()
    assert twin.state is value.state
    assert twin.metadata() == value.metadata()


def test_equality_is_identity(value):
    twin = value.clone()
    assert value == value
    assert (value == twin) is False
    assert value != twin
    assert len({value, twin, value}) == 2


@pytest.mark.parametrize("value", [kind for kind in KINDS if kind != "SecretKey"], indirect=True)
def test_copies_and_pickles(value):
    shallow = copy.copy(value)
    assert shallow is not value
    assert shallow.data is value.data
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    others = [copy.deepcopy(value), torch.load(buffer, weights_only=False)]
    others += [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, 6)]
    for other in others:
        assert type(other) is type(value)
        assert torch.equal(other.data, value.data)
        assert other.data.stride() == value.data.stride()
        assert other.data.data_ptr() != value.data.data_ptr()
        assert other.state == value.state
        assert other.metadata() == value.metadata()
    assert others[0].config is value.config


def test_deepcopy_keeps_one_object_one(config, make):
    value = make.ciphertext(config)
    first, second = copy.deepcopy([value, value])
    assert first is second
    assert first is not value


def test_pickling_one_of_a_batch_leaves_the_others_behind(config, make):
    batch = make.ciphertext(config, 8)
    one = batch[3]
    assert len(pickle.dumps(one)) < 2 * one.nbytes < batch.nbytes
    back = pickle.loads(pickle.dumps(one))
    assert torch.equal(back.data, one.data)
    assert back.data.untyped_storage().nbytes() == one.nbytes


def test_keys_keep_their_layout_through_pickle(config, make):
    key = make.rotation_key(config, 1)
    back = pickle.loads(pickle.dumps(key))
    assert is_switching_key_layout(back.data)
    assert back.data.untyped_storage().nbytes() == key.nbytes


def test_metadata_is_ordered_hashable_and_without_bounds(config, make):
    value = make.ciphertext(config, noise_bound=0.5, message_bound=1.0)
    assert value.metadata() == (
        ("depth", 0),
        ("scale", 2.0**30),
        ("prime_ids", (0, 1, 2, 3)),
        ("polynomial_domain", "coefficient"),
        ("modulus_basis", "Q"),
        ("residue_representation", "standard"),
        ("components", 2),
        ("key_id", "k1"),
        ("insecure", True),
    )
    assert hash(value.metadata()) == hash(make.ciphertext(config, noise_bound=0.1).metadata())
    assert value.metadata() != make.ciphertext(config, key_id="k2").metadata()


def test_metadata_of_keys_adds_their_details(config, make):
    names = {
        type(key).__name__: [name for name, _ in key.metadata()][9:]
        for key in make.all_values(config)
    }
    assert names == {
        "Ciphertext": [],
        "Plaintext": [],
        "SecretKey": [],
        "PublicKey": ["public_seed"],
        "SwitchingKey": ["public_seed", "source_key_id"],
        "RelinearizationKey": ["public_seed"],
        "ConjugationKey": ["public_seed"],
        "RotationKey": ["public_seed", "step"],
    }


def test_rebuilding_around_other_tensors(config, make):
    value = make.ciphertext(config, 2, noise_bound=0.5)
    other = value._with_tensors({"data": value.data[:, :1]})
    assert (other.batch_shape, other.state) == ((1,), value.state)
    restated = value._with_tensors(value.tensors(), value.state.replace(noise_bound=0.25))
    assert (restated.noise_bound, value.noise_bound) == (0.25, 0.5)
    with pytest.raises(ValueError, match="data has shape"):
        value._with_tensors({"data": value.data[:, :, :1]})


def test_values_on_meta_index_and_stack(config):
    state = CkksState.fresh(config)
    batch = Ciphertext(torch.empty(2, 5, 4, 1024, dtype=torch.int64, device="meta"), state)
    assert batch[1:].batch_shape == (4,)
    assert batch[[0, 1]].batch_shape == (2,)
    assert Ciphertext.stack([batch, batch]).batch_shape == (2, 5)


def test_subclasses_keep_their_class(config, make):
    class Tagged(Plaintext):
        __slots__ = ()

    value = Tagged(make.plaintext(config, 3).data, CkksState.fresh(config, components=1))
    assert type(value[0]) is Tagged
    assert type(value.clone()) is Tagged
    assert type(Tagged.stack([value[0], value[1]])) is Tagged


def test_pinning_keeps_the_value(value):
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError):
            value.pin_memory()
        return
    pinned = value.pin_memory()
    assert pinned.is_pinned()
    assert torch.equal(pinned.data, value.data)
    moved = pinned.cuda(non_blocking=True)
    assert moved.is_cuda
    assert torch.equal(moved.cpu().data, value.data)
    assert moved.data.stride() == value.data.stride()
