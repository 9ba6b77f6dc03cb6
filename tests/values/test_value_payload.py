"""Values refuse payloads that their state does not describe."""

from __future__ import annotations

import pytest
import torch

from fhelium.errors import StateError
from fhelium.values import Ciphertext, CkksState, Plaintext

GOOD = (2, 4, 1024)


@pytest.fixture
def state(config):
    return CkksState.fresh(config)


def zeros(*shape, dtype=torch.int64):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    "shape",
    [(3, 4, 1024), (1, 4, 1024), (2, 3, 1024), (2, 5, 1024), (2, 4, 512), (4, 1024), (1024,), ()],
)
def test_wrong_shapes_are_refused_with_both(state, shape):
    with pytest.raises(StateError) as caught:
        Ciphertext(zeros(*shape), state)
    assert f"data has shape {shape}" in str(caught.value)
    assert "[2, *batch, 4, 1024]" in str(caught.value)


def test_every_legal_shape_is_accepted(config):
    for depth in range(config.max_depth + 1):
        for basis in ("Q", "QP"):
            state = CkksState.fresh(config, depth=depth, modulus_basis=basis, components=3)
            limbs = len(config.prime_ids(basis, depth))
            for batch in ((), (0,), (5,), (2, 1, 3)):
                value = Ciphertext(zeros(3, *batch, limbs, 1024), state)
                assert value.batch_shape == batch
                rows = Plaintext(zeros(*batch, limbs, 1024), state.replace(components=1))
                assert rows.batch_shape == batch
                with pytest.raises(StateError, match=f"asks for .* {limbs}, 1024"):
                    Plaintext(zeros(*batch, limbs + 1, 1024), state.replace(components=1))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float64, torch.uint8, torch.bool])
def test_wrong_dtype_is_refused_with_both(state, dtype):
    with pytest.raises(StateError, match=rf"data is {dtype}.* asks for torch\.int64"):
        Ciphertext(zeros(*GOOD, dtype=dtype), state)


def test_sparse_payload_is_refused(state):
    with pytest.raises(StateError, match=r"torch\.sparse_coo"):
        Ciphertext(zeros(*GOOD).to_sparse(), state)


@pytest.mark.parametrize("data", [None, [[1]], "data", object()])
def test_payload_that_is_no_tensor_is_a_type_error(state, data):
    with pytest.raises(
        TypeError, match=f"data is a {type(data).__name__} and state is a CkksState"
    ):
        Ciphertext(data, state)


def test_state_of_another_type_is_a_type_error():
    with pytest.raises(TypeError, match="state is a dict"):
        Ciphertext(zeros(*GOOD), {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "axis", ["depth", "scale", "polynomial_domain", "modulus_basis", "residue_representation"]
)
def test_unknown_axes_are_refused_by_name(state, axis):
    with pytest.raises(StateError, match=f"{axis} of its state is unknown") as caught:
        Ciphertext(zeros(*GOOD), state.replace(**{axis: None}))
    assert caught.value.unknown == (axis,)


@pytest.mark.parametrize("components", [None, 1, 4])
def test_components_belong_to_the_class(state, components):
    with pytest.raises(StateError, match="A Ciphertext has 2 or 3"):
        Ciphertext(zeros(*GOOD), state.replace(components=components))
    with pytest.raises(StateError, match="A Plaintext has 1"):
        Plaintext(zeros(4, 1024), state)


def test_a_lost_insecure_mark_is_refused(state):
    with pytest.raises(StateError, match="config is insecure and the state is not marked"):
        Ciphertext(zeros(*GOOD), state.replace(insecure=False))


def test_payload_is_used_and_not_copied(state):
    data = zeros(4, 2, 1024).transpose(0, 1)
    value = Ciphertext(data, state)
    assert value.data is data
    assert value.data.data_ptr() == data.data_ptr()


def test_attributes_come_from_the_state(config, make):
    value = make.ciphertext(
        config,
        5,
        depth=1,
        polynomial_domain="ntt",
        modulus_basis="QP",
        residue_representation="montgomery",
        components=3,
        noise_bound=0.25,
        message_bound=2.0,
    )
    assert (value.depth, value.level, value.max_depth) == (1, 2, 3)
    assert value.scale == config.scale_at(1)
    assert value.prime_ids == config.prime_ids("QP", 1)
    assert (value.polynomial_domain, value.modulus_basis) == ("ntt", "QP")
    assert (value.residue_representation, value.components) == ("montgomery", 3)
    assert (value.noise_bound, value.message_bound, value.bits_left()) == (0.25, 2.0, 2.0)
    assert (value.key_id, value.insecure, value.num_slots) == ("k1", True, 512)
    assert (value.config, value.context_id) == (config, config.context_id)


def test_values_are_read_only(config, make):
    value = make.ciphertext(config)
    for name in ("data", "state", "depth", "scale", "noise_bound", "unheard_of"):
        with pytest.raises(AttributeError):
            setattr(value, name, None)


def test_restating_checks_like_construction(config, make):
    value = make.ciphertext(config, noise_bound=0.25)
    value._restate(value.state.replace(noise_bound=0.5))
    assert value.noise_bound == 0.5
    before = value.state
    with pytest.raises(StateError):
        value._restate(before.replace(depth=1))
    with pytest.raises(StateError):
        value._restate(before.replace(scale=None))
    assert value.state is before
