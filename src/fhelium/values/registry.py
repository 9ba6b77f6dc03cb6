"""The list of value classes that files and execution buffers know by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fhelium.errors import StateError
from fhelium.text import list_text
from fhelium.values.resident import TensorResident

_ValueClass = TypeVar("_ValueClass", bound="type[TensorResident]")
_TYPES: dict[str, ValueType] = {}


@dataclass(frozen=True, slots=True)
class ValueType:
    """Name, schema and tensors of one value class.

    Args:
        type_name: Name in files and signatures; it outlives a renamed class.
        schema_version: Counts up whenever tensors or details change their meaning.
        tensor_names: The tensors of a value, in the order in which they are listed and stored.
        value_class: The class itself.

    Example:
        >>> value_type("Ciphertext").tensor_names
        ('data',)
    """

    type_name: str
    schema_version: int
    tensor_names: tuple[str, ...]
    value_class: type[TensorResident]


def register_value(
    type_name: str, schema_version: int, tensor_names: tuple[str, ...]
) -> Callable[[_ValueClass], _ValueClass]:
    """Return a class decorator that registers a TensorResident class.

    Args:
        type_name: Name in files and signatures.
        schema_version: 1, or one more than the last meaning of the stored parts.
        tensor_names: Attributes that hold the tensors, in order; the constructor takes them by
            these names.

    Raises:
        StateError: The name is taken by another class; choose another name.

    Example:
        >>> from fhelium.values import Plaintext
        >>> @register_value("DocumentedPlaintext", 1, ("data",))
        ... class DocumentedPlaintext(Plaintext):
        ...     pass
        >>> value_type("DocumentedPlaintext").value_class is DocumentedPlaintext
        True
    """

    def register(value_class: _ValueClass) -> _ValueClass:
        taken = _TYPES.get(type_name)
        if taken is not None:
            raise StateError(
                "register_value",
                f"{type_name!r} is {_qualified(taken.value_class)} and was asked for again by "
                f"{_qualified(value_class)}",
                "A type name belongs to one class",
                "Choose another name",
                type_name=type_name,
            )
        value_class.tensor_names = tensor_names
        _TYPES[type_name] = ValueType(type_name, schema_version, tensor_names, value_class)
        return value_class

    return register


def value_type(type_name: str) -> ValueType:
    """Return the registered type of a name.

    Args:
        type_name: As given to `register_value`.

    Raises:
        StateError: No class has that name; the text lists the names there are.

    Example:
        >>> value_type("RotationKey").value_class.__name__
        'RotationKey'
    """
    found = _TYPES.get(type_name)
    if found is None:
        raise StateError(
            "value_type",
            f"{type_name!r} is not registered; registered are {list_text(sorted(_TYPES), 32)}",
            "A value type has the name it was registered under",
            "Import the module that registers it, or correct the name",
            type_name=type_name,
        )
    return found


def value_type_of(value: TensorResident) -> ValueType:
    """Return the registered type of a value's exact class.

    A subclass is not its base: it may carry more than the base's schema stores.

    Args:
        value: Any value or key.

    Raises:
        StateError: Its class is not registered; decorate it with `register_value`.

    Example:
        >>> import torch
        >>> from fhelium.config import CkksConfig
        >>> from fhelium.values import CkksState, Plaintext
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config, components=1)
        >>> value_type_of(Plaintext(torch.zeros(4, 1024, dtype=torch.int64), state)).type_name
        'Plaintext'
    """
    for registered in _TYPES.values():
        if registered.value_class is type(value):
            return registered
    raise StateError(
        "value_type_of",
        f"{_qualified(type(value))} is not registered",
        "Only registered classes can be stored or described",
        "Decorate the class with fhelium.values.register_value",
    )


def _qualified(value_class: type) -> str:
    return f"{value_class.__module__}.{value_class.__qualname__}"
