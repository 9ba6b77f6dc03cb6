"""IR types: which public value a type stands for, and what is known of its state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from fhelium.config import CkksConfig
from fhelium.values import CkksState, ModulusBasis, PolynomialDomain, ResidueRepresentation

VALUE_AXES = (
    "depth",
    "scale",
    "polynomial_domain",
    "modulus_basis",
    "residue_representation",
    "components",
)
"""The axes of a state that a type can carry; bounds and keys belong to one run, not to a type."""

AXIS_KINDS: Mapping[str, type | tuple[str, ...]] = {
    "role": ("encrypted", "plaintext", "message"),
    "slots": int,
    "depth": int,
    "scale": float,
    "polynomial_domain": get_args(PolynomialDomain),
    "modulus_basis": get_args(ModulusBasis),
    "residue_representation": get_args(ResidueRepresentation),
    "components": int,
}
"""Each axis with the Python type of its values, or with the words it chooses from."""


class ValueType(ParametrizedAttribute, TypeAttribute):
    """An IR type that stands for one public value class."""

    VALUE_CLASS: ClassVar[str]
    """Name of the class in ``fhelium.values`` that carries a value of this type."""

    def state(self, config: CkksConfig) -> CkksState:
        """Return what is known of a value of this type under some parameters."""
        return CkksState(config=config, insecure=config.insecure)


@irdl_attr_definition
class TableType(ValueType):
    """A numerical table: parameter rows, conversion constants, twiddles. It carries no state."""

    name = "rns.table"
    VALUE_CLASS: ClassVar[str] = "Tensor"


@dataclass(frozen=True, init=False)
class StatefulType(ValueType):
    """A type whose text says what is known: ``!ckks.ciphertext<depth = 0, components = 2>``.

    An axis that is left out is not known yet. Passes fill axes in; text keeps each exactly.
    """

    axes: DictionaryAttr

    AXES: ClassVar[tuple[str, ...]] = VALUE_AXES
    """Axes that a type of this class can carry, in the order in which they print."""

    def __init__(self, axes: DictionaryAttr | None = None) -> None:
        super().__init__(DictionaryAttr({}) if axes is None else axes)

    @classmethod
    def of(cls, **axes: Any) -> Self:
        """Make the type that knows these axes; None and foreign axes are left out.

        Example:
            >>> from fhelium.ir.dialects.ckks import CiphertextType
            >>> str(CiphertextType.of(depth=1, polynomial_domain="ntt"))
            '!ckks.ciphertext<depth = 1, polynomial_domain = ntt>'
        """
        known = {
            name: attribute_of(axes[name], AXIS_KINDS[name])
            for name in cls.AXES
            if axes.get(name) is not None
        }
        return cls(DictionaryAttr(known))

    @property
    def known(self) -> dict[str, Any]:
        """Return the known axes as Python values."""
        return {
            name: python_of(self.axes.data[name]) for name in self.AXES if name in self.axes.data
        }

    def replace(self, **changes: Any) -> Self:
        """Return the type with some axes changed; None makes one unknown."""
        return type(self).of(**{**self.known, **changes})

    def state(self, config: CkksConfig) -> CkksState:
        """Return the partly unknown state that transfer rules work on."""
        known = {name: value for name, value in self.known.items() if name in VALUE_AXES}
        return CkksState(config=config, insecure=config.insecure, **known)

    def of_state(self, state: CkksState) -> Self:
        """Return the type that knows what a state knows; what else this type knows stays."""
        return self.replace(**{name: getattr(state, name) for name in VALUE_AXES})

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found: dict[str, Attribute] = {}

        def axis() -> None:
            start = parser.pos
            name = parser.parse_identifier()
            if name not in cls.AXES:
                known = ", ".join(cls.AXES)
                parser.raise_error(f"{cls.name} has no axis {name!r}, it has {known}", start)
            if name in found:
                parser.raise_error(f"{cls.name} has {name} twice", start)
            parser.parse_punctuation("=")
            found[name] = _parse_axis(parser, name)

        if parser.parse_optional_punctuation("<") is not None:
            parser.parse_comma_separated_list(parser.Delimiter.NONE, axis)
            parser.parse_punctuation(">")
        return [DictionaryAttr(found)]

    def print_parameters(self, printer: Printer) -> None:
        known = self.known
        if known:
            printer.print_string(
                f"<{', '.join(f'{name} = {_text(value)}' for name, value in known.items())}>"
            )


def attribute_of(value: Any, kind: object = str) -> Attribute:
    """Write a Python value as an attribute: a number of a kind, a list of them, or text."""
    if isinstance(value, tuple | list):
        return ArrayAttr([attribute_of(entry, type(entry)) for entry in value])
    if kind is float:
        return FloatAttr(float(value), f64)
    return IntegerAttr(value, i64) if kind is int else StringAttr(value)


def python_of(attribute: Attribute) -> Any:
    """Return an attribute's value as ``transfer`` and ``reference`` take it."""
    if isinstance(attribute, ArrayAttr):
        return tuple(python_of(entry) for entry in attribute)
    if isinstance(attribute, StringAttr):
        return attribute.data
    assert isinstance(attribute, IntegerAttr | FloatAttr)
    return attribute.value.data


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    text = repr(value)  # the shortest that reads back as the same float
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{exponent}{power}"


def _parse_axis(parser: AttrParser, name: str) -> Attribute:
    kind, start = AXIS_KINDS[name], parser.pos
    if kind is int:
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if name == "components" and number not in (1, 2, 3):
            parser.raise_error(f"components is {number}, it can be 1 or 2 or 3", start)
        return attribute_of(number, kind)
    if kind is float:
        number = float(parser.parse_number(allow_boolean=False))
        if not 1 <= number < math.inf:
            parser.raise_error(f"{name} is {number}, needed is finite and at least 1", start)
        return FloatAttr(number, f64)
    word = parser.parse_identifier()
    assert isinstance(kind, tuple)
    if word not in kind:
        parser.raise_error(f"{name} is {word!r}, it can be {' or '.join(kind)}", start)
    return StringAttr(word)
