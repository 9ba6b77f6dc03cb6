"""Values without a payload, for functions that are written against the Engine."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from xdsl.ir import SSAValue

from fhelium.compile.places import place, user_frame
from fhelium.errors import CaptureError
from fhelium.values import Ciphertext, CkksState, Plaintext
from fhelium.values.stated import SlotAxes

_AXES = (
    "depth",
    "level",
    "scale",
    "polynomial_domain",
    "modulus_basis",
    "residue_representation",
    "components",
    "prime_ids",
)


class Symbolic:
    """Carry a state and a value of a Program; every read of residues is refused.

    Everything that needs the state alone works as on the value it stands for. Operators are
    refused as there, with the Engine's method to call.
    """

    __slots__ = ()

    _state: CkksState
    value: SSAValue

    @classmethod
    def of(cls, value: SSAValue, state: CkksState) -> Self:
        """Return the stand-in for a value of a Program."""
        made = object.__new__(cls)
        made.become(value, state)
        return made

    def become(self, value: SSAValue, state: CkksState) -> None:
        """Stand for another value from now on, as the target of an in-place call does."""
        self.value, self._state = value, state

    def clone(self) -> Self:
        """Return another stand-in for the same value; values of a Program never change."""
        return self.of(self.value, self._state)

    @property
    def _data(self) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "the residues or the batch axes of a value are read",
            "A captured value has a state and no residues",
            "Compute with the engine's methods, and read results after a run",
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._state!r})"


def _axis(name: str) -> property:
    def read(self: Symbolic) -> Any:
        found = getattr(self._state, name)
        if found is None:
            raise CaptureError(
                place(user_frame()),
                f"the {name.replace('_', ' ')} of a value is read and not known",
                "What a captured function reads of a value is known when it is captured",
                "Name it in the input's spec, for example encrypted(depth=0)",
            )
        return found

    return property(read, doc=f"Return the {name.replace('_', ' ')}, which is known here.")


for _name in _AXES:
    setattr(Symbolic, _name, _axis(_name))


class SymbolicCiphertext(Symbolic, Ciphertext):  # type: ignore[misc]  # it has no payload
    """Stand for a ciphertext."""

    __slots__ = ("value",)


class SymbolicMessage(Symbolic, SlotAxes):
    """Stand for a public vector that is not encoded; ``engine.prepare_plaintext`` takes it."""

    __slots__ = ("value",)


class SymbolicPlaintext(Symbolic, Plaintext):  # type: ignore[misc]  # it has no payload
    """Stand for an encoded vector."""

    __slots__ = ("value",)
