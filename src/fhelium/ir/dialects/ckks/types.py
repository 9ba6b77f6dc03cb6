"""IR types of the ckks dialect: one for each public value class that an operation takes."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_attr_definition

from fhelium.ir.types import VALUE_AXES, StatefulType, ValueType


@irdl_attr_definition
class CiphertextType(StatefulType):
    """An encrypted vector: data [component, *batch, limb, N]."""

    name = "ckks.ciphertext"
    VALUE_CLASS: ClassVar[str] = "Ciphertext"


@irdl_attr_definition
class PlaintextType(StatefulType):
    """An encoded clear vector: data [*batch, limb, N]."""

    name = "ckks.plaintext"
    VALUE_CLASS: ClassVar[str] = "Plaintext"
    AXES: ClassVar[tuple[str, ...]] = tuple(axis for axis in VALUE_AXES if axis != "components")


@irdl_attr_definition
class RelinearizationKeyType(ValueType):
    """A switching key from s^2 to s."""

    name = "ckks.relinearization_key"
    VALUE_CLASS: ClassVar[str] = "RelinearizationKey"


@irdl_attr_definition
class RotationKeyType(ValueType):
    """A switching key from the rotated secret to s."""

    name = "ckks.rotation_key"
    VALUE_CLASS: ClassVar[str] = "RotationKey"


@irdl_attr_definition
class SwitchingKeyType(ValueType):
    """A switching key between any two secrets."""

    name = "ckks.switching_key"
    VALUE_CLASS: ClassVar[str] = "SwitchingKey"


@irdl_attr_definition
class ConjugationKeyType(ValueType):
    """A switching key from the conjugated secret to s."""

    name = "ckks.conjugation_key"
    VALUE_CLASS: ClassVar[str] = "ConjugationKey"
