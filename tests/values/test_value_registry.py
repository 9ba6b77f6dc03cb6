"""Value classes are known by one name each."""

from __future__ import annotations

import pytest

from fhelium.errors import StateError
from fhelium.values import (
    Ciphertext,
    CkksState,
    Plaintext,
    TensorResident,
    register_value,
    registry,
    value_type,
    value_type_of,
)

NAMES = [
    "Ciphertext",
    "ConjugationKey",
    "Plaintext",
    "PublicKey",
    "RelinearizationKey",
    "RotationKey",
    "SecretKey",
    "SwitchingKey",
]


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(registry, "_TYPES", dict(registry._TYPES))


@pytest.mark.parametrize("name", NAMES)
def test_every_value_class_is_registered_under_its_name(name):
    found = value_type(name)
    assert (found.type_name, found.schema_version, found.tensor_names) == (name, 1, ("data",))
    assert issubclass(found.value_class, TensorResident)
    assert found.value_class.__name__ == name


def test_values_know_their_type(config, make):
    found = [value_type_of(value).type_name for value in make.all_values(config)]
    assert sorted(found) == NAMES


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(StateError) as caught:
        value_type("Cipher")
    assert "'Cipher' is not registered" in str(caught.value)
    assert "Ciphertext, ConjugationKey" in str(caught.value)


def test_a_name_belongs_to_one_class(names):
    with pytest.raises(StateError, match=r"'Plaintext' is .*\.Plaintext and was asked for"):

        @register_value("Plaintext", 2, ("data",))
        class Another(Plaintext):
            pass

    assert value_type("Plaintext").value_class is Plaintext


def test_a_subclass_is_not_its_base(names, config, make):
    class Extended(Plaintext):
        pass

    value = Extended(make.plaintext(config).data, CkksState.fresh(config, components=1))
    with pytest.raises(StateError, match="Extended is not registered"):
        value_type_of(value)
    registered = register_value("Extended", 3, ("data",))(Extended)
    assert registered is Extended
    assert value_type_of(value).schema_version == 3
    assert value_type_of(make.ciphertext(config)).value_class is Ciphertext


def test_several_tensors_are_listed_in_declared_order(names):
    @register_value("Pair", 1, ("second", "first"))
    class Pair(Ciphertext):
        first = "1"  # type: ignore[assignment]
        second = "2"  # type: ignore[assignment]

    assert Pair.tensor_names == ("second", "first")
    assert Ciphertext.tensor_names == ("data",)
    pair = object.__new__(Pair)
    assert list(pair.tensors().items()) == [("second", "2"), ("first", "1")]
