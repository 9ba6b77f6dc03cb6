"""CkksState: what it derives, what it refuses, and how two states meet."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import pytest

from fhelium.errors import BoundError, ContextMismatchError, KeyMismatchError, StateError
from fhelium.values import CkksState
from fhelium.values.agreement import join_states, require_agreement, require_same_context
from fhelium.values.state import AXES

SECURE = {"depth": 1, "scale_bits": 30, "N": 8192}


@pytest.fixture
def state(config):
    return CkksState.fresh(config, key_id="k1", noise_bound=2.0**-20, message_bound=1.0)


def test_axes_are_those_of_the_contract():
    assert AXES == (
        "config",
        "depth",
        "scale",
        "polynomial_domain",
        "modulus_basis",
        "residue_representation",
        "components",
        "key_id",
        "noise_bound",
        "message_bound",
        "insecure",
    )


def test_fresh_state_is_canonical_and_complete(config):
    for depth in range(config.max_depth + 1):
        state = CkksState.fresh(config, depth=depth)
        assert state.scale == config.scale_at(depth)
        assert state.prime_ids == tuple(range(depth, len(config.q_primes)))
        assert state.limb_count == len(state.prime_ids)
        assert state.level == config.max_depth - depth
        assert state.context_id == config.context_id
        assert (state.polynomial_domain, state.residue_representation) == (
            "coefficient",
            "standard",
        )


def test_qp_basis_appends_the_special_primes(config):
    state = CkksState.fresh(config, depth=2, modulus_basis="QP")
    assert state.prime_ids == tuple(range(2, len(config.primes)))
    assert state.limb_count == len(config.primes) - 2


def test_fresh_marks_what_its_config_or_caller_marks(config, make):
    secure = make.config(**SECURE)
    assert not secure.insecure
    assert CkksState.fresh(config).insecure
    assert not CkksState.fresh(secure).insecure
    assert CkksState.fresh(secure, insecure=True).insecure


def test_unknown_axes_leave_derived_ones_unknown(config):
    state = CkksState(config=config, insecure=True).check()
    assert state.prime_ids is None
    assert state.limb_count is None
    assert state.level is None
    assert state.bits_left() is None
    assert CkksState(config=config, depth=1).level == config.max_depth - 1
    assert CkksState(config=config, depth=1).prime_ids is None


def test_state_is_immutable_hashable_and_compares_by_content(state):
    assert state == state.replace()
    assert hash(state) == hash(state.replace())
    assert state != state.replace(depth=1)
    assert {state: 1}[state.replace()] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.depth = 2  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        state.unheard_of = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("axis", AXES)
def test_replace_changes_exactly_the_named_axis(state, axis, other_config):
    new = {
        "config": other_config,
        "depth": 2,
        "scale": 3.0,
        "polynomial_domain": "ntt",
        "modulus_basis": "QP",
        "residue_representation": "montgomery",
        "components": 3,
        "key_id": "k2",
        "noise_bound": None,
        "message_bound": 7.0,
        "insecure": False,
    }[axis]
    before = dataclasses.asdict(state)
    changed = state.replace(**{axis: new})
    assert changed == dataclasses.replace(state, **{axis: new})
    assert getattr(changed, axis) == new
    assert all(getattr(changed, name) is getattr(state, name) for name in AXES if name != axis)
    assert dataclasses.asdict(state) == before


def test_replace_names_an_unknown_axis(state):
    with pytest.raises(TypeError, match=r"replace: 'level' is not an axis\. Axes are \[config, "):
        state.replace(depth=1, level=2)


@pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")
def test_copies_are_the_state_itself_and_pickle_keeps_it(state):
    assert copy.copy(state) is state
    assert copy.deepcopy([state])[0] is state
    assert pickle.loads(pickle.dumps(state)) == state


def test_bits_left(state):
    assert state.bits_left() == 20.0
    assert state.replace(noise_bound=0.0).bits_left() == math.inf
    assert state.replace(noise_bound=4.0).bits_left() == -2.0


@pytest.mark.parametrize(
    ("axis", "bad", "text"),
    [
        ("depth", 4, "depth is 4 and max_depth is 3"),
        ("depth", -1, "depth is -1 and max_depth is 3"),
        ("depth", 1.0, "depth is 1.0 and max_depth is 3"),
        ("depth", True, "depth is True and max_depth is 3"),
        ("scale", 0.5, "scale is 0.5"),
        ("scale", math.nan, "scale is nan"),
        ("scale", math.inf, "scale is inf"),
        ("scale", "2", "scale is '2'"),
        ("polynomial_domain", "NTT", "polynomial_domain is 'NTT'"),
        ("modulus_basis", "P", "modulus_basis is 'P'"),
        ("residue_representation", "lazy", "residue_representation is 'lazy'"),
        ("components", 4, "components is 4"),
        ("components", True, "components is True"),
        ("key_id", "", "key_id is ''"),
        ("key_id", 7, "key_id is 7"),
        ("noise_bound", -1.0, "noise_bound is -1.0"),
        ("noise_bound", math.nan, "noise_bound is nan"),
        ("message_bound", math.inf, "message_bound is inf"),
        ("insecure", None, "insecure is None"),
        ("insecure", 1, "insecure is 1"),
    ],
)
def test_check_refuses_an_illegal_axis_with_its_values(state, axis, bad, text):
    with pytest.raises(StateError) as caught:
        state.replace(**{axis: bad}).check("load")
    assert str(caught.value).startswith(f"load: {text}")
    assert caught.value.rule
    assert caught.value.remedy


def test_check_refuses_a_lost_insecure_mark(state):
    with pytest.raises(StateError, match="config is insecure and the state is not marked"):
        state.replace(insecure=False).check()


def test_check_compares_the_scale_with_the_modulus_of_the_basis(config, state):
    modulus = math.prod(config.q_primes[3:])
    last = state.replace(depth=3, noise_bound=None)
    last.replace(scale=float(modulus) * 0.999).check()
    with pytest.raises(StateError, match=r"scale is 2\^.* and the modulus at depth 3 is 2\^"):
        last.replace(scale=float(modulus) * 1.001).check()
    last.replace(scale=float(modulus) * 1.001, modulus_basis="QP").check()


def test_check_refuses_bounds_past_half_the_modulus(config, state):
    half = math.prod(config.q_primes[3:]) / 2 / config.scale_at(3)
    last = state.replace(depth=3, scale=config.scale_at(3), noise_bound=half / 4)
    last.replace(message_bound=half * 0.74).check()
    with pytest.raises(BoundError) as caught:
        last.replace(message_bound=half * 0.76).check("multiply")
    assert "message_bound" in caught.value.fact
    assert "noise_bound" in caught.value.fact
    assert caught.value.remedy
    last.replace(message_bound=half * 0.76, noise_bound=None).check()


def test_fresh_checks_and_takes_integers_for_floats(config):
    state = CkksState.fresh(config, scale=2**20, message_bound=1)
    assert (state.scale, type(state.scale), type(state.message_bound)) == (2.0**20, float, float)
    with pytest.raises(StateError):
        CkksState.fresh(config, polynomial_domain="time")  # type: ignore[arg-type]


def test_repr_names_every_axis_and_no_data(state):
    assert repr(state) == (
        "CkksState(depth 0/3, scale 2^30, coefficient, standard, Q, 2 components, "
        "20.0 bits left, insecure)"
    )
    assert repr(CkksState(config=state.config)) == (
        "CkksState(depth unknown/3, scale unknown, domain unknown, representation unknown, "
        "basis unknown, components unknown, bits left unknown)"
    )


@pytest.mark.parametrize(
    ("axis", "other", "remedy"),
    [
        ("depth", 1, "align_to_depth"),
        ("scale", 2.0**29, "align_to_depth"),
        ("polynomial_domain", "ntt", "coefficient_domain_to_ntt_domain"),
        ("modulus_basis", "QP", "one basis"),
        ("residue_representation", "montgomery", "standard form"),
        ("components", 3, "relinearize"),
    ],
)
def test_unequal_states_are_refused_with_both_values(state, axis, other, remedy):
    with pytest.raises(StateError) as caught:
        require_agreement("add", (state, state.replace(**{axis: other})), axis)
    assert caught.value.axis == axis
    assert caught.value.found == (getattr(state, axis), other)
    assert remedy in caught.value.remedy
    if axis != "scale":
        assert f"{axis} is {getattr(state, axis)} for operand 0 and {other} for" in str(
            caught.value
        )


def test_nearly_equal_scales_are_told_apart(state):
    near = math.nextafter(state.scale, math.inf)
    with pytest.raises(StateError) as caught:
        require_agreement("add", (state, state.replace(scale=near)), "scale")
    assert repr(state.scale) in str(caught.value)
    assert repr(near) in str(caught.value)


def test_other_context_and_other_key_have_their_own_errors(state, other_config):
    with pytest.raises(ContextMismatchError) as context:
        require_same_context("add", state, state.replace(config=other_config))
    assert state.context_id in str(context.value)
    assert other_config.context_id in str(context.value)
    with pytest.raises(KeyMismatchError, match="key_id is k1 for a and k2 for b"):
        require_same_context("add", state, state.replace(key_id="k2"), names=("a", "b"))


def test_equal_configs_need_not_be_one_object(state, make):
    twin = make.config()
    assert twin is not state.config
    require_same_context("add", state, state.replace(config=twin))


@pytest.mark.parametrize(
    ("axis", "other"),
    [("depth", 1), ("scale", 2.0**29), ("polynomial_domain", "other"), ("components", 3)],
)
def test_an_unknown_axis_agrees_with_any_value(state, axis, other):
    unknown = state.replace(**{axis: None})
    require_agreement("add", (unknown, state, unknown), axis)
    states = (unknown, state, state.replace(**{axis: other}))
    with pytest.raises(StateError, match=f"{axis} is .* for operand 1 and .* for operand 2"):
        require_agreement("add", states, axis)


def test_a_key_id_of_none_belongs_to_any_key(state):
    free = state.replace(key_id=None)
    require_same_context("add", free, state, free)
    with pytest.raises(KeyMismatchError, match="k1 for operand 1 and k2 for operand 3"):
        require_same_context("add", free, state, free, state.replace(key_id="k2"))


def test_join_takes_the_largest_bounds_and_any_mark(state):
    joined = join_states(
        "stack",
        [
            state.replace(noise_bound=0.25, message_bound=1.0, insecure=False),
            state.replace(noise_bound=0.5, message_bound=None, insecure=True),
            state.replace(noise_bound=0.125, message_bound=2.0, insecure=False),
        ],
    )
    assert (joined.noise_bound, joined.message_bound, joined.insecure) == (0.5, None, True)
    assert joined.replace(noise_bound=None) == state.replace(noise_bound=None, message_bound=None)
    with pytest.raises(StateError, match="depth is 0 for value 0 and 2 for value 1"):
        join_states("stack", [state, state.replace(depth=2)])
