"""A set of evaluation keys finds keys, and says what is missing."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

from fhelium.errors import (
    ContextMismatchError,
    KeyMismatchError,
    MissingKeyError,
    SecretExposureError,
)
from fhelium.values import ConjugationKey, EvaluationKeys, RelinearizationKey

pytestmark = pytest.mark.filterwarnings("ignore::fhelium.errors.InsecureWarning")


@pytest.fixture
def parts(config, make):
    return {
        "relinearization": make.switching_key(config, RelinearizationKey),
        "conjugation": make.switching_key(config, ConjugationKey),
        "one": make.rotation_key(config, 1),
        "four": make.rotation_key(config, 4),
        "back": make.rotation_key(config, -1),
        "switching": make.switching_key(config, source_key_id="k0"),
    }


@pytest.fixture
def keys(parts):
    return EvaluationKeys(*reversed(parts.values()))


def test_lookups_find_each_kind(keys, parts):
    assert keys.relinearization() is parts["relinearization"]
    assert keys.conjugation() is parts["conjugation"]
    assert keys.switching("k0") is parts["switching"]
    assert keys.rotation(4) is parts["four"]


@pytest.mark.parametrize("step", [1, 513, -511, 1 + 512 * 7])
def test_steps_are_taken_modulo_the_slots(keys, parts, step):
    assert keys.rotation(step) is parts["one"]
    assert keys.rotation(torch.tensor(step)) is parts["one"]
    assert keys.rotation(-step) is parts["back"]


def test_facts(keys, parts, config):
    assert keys.steps == (1, 4, 511)
    assert len(keys) == 6
    assert keys.nbytes == 6 * config.switching_key_nbytes()
    assert (keys.context_id, keys.key_id, keys.config) == (config.context_id, "k1", config)
    assert keys.insecure
    assert all(key in keys for key in parts.values())
    assert parts["one"].clone() not in keys
    assert 1 not in keys


def test_iteration_has_one_order(parts):
    order = ["relinearization", "conjugation", "one", "four", "back", "switching"]
    for names in (order, order[::-1], ["four", "switching", "back", "one", *order[:2]]):
        keys = EvaluationKeys(*(parts[name] for name in names))
        assert list(keys) == [parts[name] for name in order]


def test_a_missing_step_names_step_canonical_form_and_what_exists(keys):
    with pytest.raises(MissingKeyError) as caught:
        keys.rotation(-3)
    text = str(caught.value)
    assert "no key for step -3 (canonical step 509 of 512 slots)" in text
    assert "the steps that exist are [1, 4, 511]" in text
    assert "engine.create_rotation_key(509, secret_key)" in text
    assert "engine.add_keys(key)" in text
    assert (caught.value.step, caught.value.canonical_step) == (-3, 509)
    assert caught.value.available_steps == (1, 4, 511)
    assert isinstance(caught.value, LookupError)


def test_a_missing_step_of_an_empty_set(config):
    with pytest.raises(MissingKeyError, match="step -3; no rotation keys exist"):
        EvaluationKeys().rotation(-3)
    with pytest.raises(MissingKeyError, match="canonical step 509 of 512 slots"):
        EvaluationKeys(config=config).rotation(-3)
    with pytest.raises(MissingKeyError, match="no key for step 3; no rotation keys exist"):
        EvaluationKeys(config=config).rotation(3)


@pytest.mark.parametrize("step", [0, 512, -1024])
def test_step_zero_needs_no_key(keys, step):
    with pytest.raises(MissingKeyError, match="Step 0 needs no key"):
        keys.rotation(step)


@pytest.mark.parametrize("step", [1.0, "1", None, True])
def test_a_step_is_an_integer(keys, step):
    with pytest.raises(TypeError, match="A step is an int"):
        keys.rotation(step)


def test_other_missing_kinds_say_how_to_create_them(parts):
    keys = EvaluationKeys(parts["one"])
    for call, creation in (
        (keys.relinearization, "create_relinearization_key"),
        (keys.conjugation, "create_conjugation_key"),
        (lambda: keys.switching("k9"), "create_switching_key"),
    ):
        with pytest.raises(MissingKeyError) as caught:
            call()
        assert creation in caught.value.remedy
        assert "the kinds that exist are [rotation]" in str(caught.value)
    with pytest.raises(MissingKeyError, match="switching from k9"):
        keys.switching("k9")


def test_a_key_of_one_purpose_takes_the_place_of_the_last(keys, config, make):
    again = make.rotation_key(config, 513)
    keys.add(again)
    assert keys.rotation(1) is again
    assert len(keys) == 6


def test_secret_keys_are_refused(keys, config, make):
    for target in (keys, EvaluationKeys()):
        with pytest.raises(SecretExposureError, match="never holds a secret key"):
            target.add(make.secret_key(config))
    with pytest.raises(SecretExposureError):
        EvaluationKeys(make.secret_key(config))


def test_what_is_no_evaluation_key_is_refused(keys, config, make):
    for other in (make.public_key(config), make.ciphertext(config), [make.rotation_key(config, 1)]):
        with pytest.raises(TypeError, match=f"operand is a {type(other).__name__}"):
            keys.add(other)


def test_other_context_and_other_key_are_refused_with_both(keys, config, other_config, make):
    with pytest.raises(ContextMismatchError) as context:
        keys.add(make.rotation_key(other_config, 2))
    assert config.context_id in str(context.value)
    assert other_config.context_id in str(context.value)
    with pytest.raises(KeyMismatchError, match="key_id is k1 for the set and k2 for the key"):
        keys.add(make.rotation_key(config, 2, "k2"))
    with pytest.raises(ContextMismatchError):
        EvaluationKeys(make.rotation_key(other_config, 2), config=config)
    with pytest.raises(KeyMismatchError):
        EvaluationKeys(make.rotation_key(config, 1), make.rotation_key(config, 2, "k2"))


def test_a_refused_addition_adds_nothing(keys, config, make):
    before = list(keys)
    with pytest.raises(KeyMismatchError):
        keys.add(make.rotation_key(config, 2), make.rotation_key(config, 3, "k2"))
    assert list(keys) == before
    empty = EvaluationKeys()
    with pytest.raises(TypeError):
        empty.add(make.rotation_key(config, 2), "key")
    assert (list(empty), empty.context_id, empty.key_id) == ([], None, None)


def test_merging_makes_a_new_set(parts, config, make):
    left = EvaluationKeys(parts["one"], parts["four"])
    newer = make.rotation_key(config, 4)
    right = EvaluationKeys(newer, parts["relinearization"])
    merged = left.merge(right, EvaluationKeys())
    assert list(merged) == [parts["relinearization"], parts["one"], newer]
    assert list(left) == [parts["one"], parts["four"]]
    assert list(right) == [parts["relinearization"], newer]
    with pytest.raises(KeyMismatchError):
        left.merge(EvaluationKeys(make.rotation_key(config, 2, "k2")))


def test_discard_removes_these_very_keys(keys, parts):
    keys.discard(parts["one"], parts["four"].clone())
    assert keys.steps == (4, 511)
    keys.discard(*parts.values())
    assert (len(keys), keys.key_id, keys.nbytes) == (0, None, 0)


def test_moving_and_copying(keys):
    moved = keys.to("meta")
    assert {key.device.type for key in moved} == {"meta"}
    assert (moved.steps, len(moved)) == (keys.steps, 6)
    assert {key.device.type for key in keys} == {"cpu"}
    assert list(keys.to("cpu")) == list(keys)
    for twin in (copy.deepcopy(keys), pickle.loads(pickle.dumps(keys))):
        assert twin.steps == keys.steps
        assert [type(key) for key in twin] == [type(key) for key in keys]
        for mine, theirs in zip(keys, twin, strict=True):
            assert torch.equal(mine.data, theirs.data)
            assert mine.metadata() == theirs.metadata()


def test_truth_is_whether_there_are_keys(keys):
    assert keys
    assert not EvaluationKeys()
