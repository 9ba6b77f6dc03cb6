"""What the methods that declarations give an engine stand on: one way to make a call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from operator import index
from typing import Any, SupportsIndex, TypeVar

from fhelium.config import CkksConfig
from fhelium.errors import ContextMismatchError, OperandTypeError, StateError
from fhelium.ir.operation import DeclaredOperation, OperandKind
from fhelium.values import Ciphertext, CkksState, SwitchingKey

_Method = TypeVar("_Method", bound=Callable[..., object])

_IN_PLACE = """Write ``{name}`` over ``{target}`` and return it.

The state changes with the residues; an error leaves both as they were.

Raises:
    StateError: ``{target}`` shares its storage with another value, or the result has a larger
        batch; clone it first, or use ``{name}``. Also what ``{name}`` refuses.
"""


def documented_by(
    operation: type[DeclaredOperation], *, in_place: bool = False
) -> Callable[[_Method], _Method]:
    """Give a method the whole text of the operation it runs."""

    def document(method: _Method) -> _Method:
        target = operation.operand_kinds()[0].name
        form = _IN_PLACE.format(name=operation.public_name(), target=target)
        method.__doc__ = form if in_place else operation.__doc__
        return method

    return document


class DeclaredMethods(ABC):
    """Base of the mixins: a subclass says what a call of a declared operation does.

    Eager computes, Compile writes the call down; the methods are the same ones.
    """

    config: CkksConfig

    @property
    @abstractmethod
    def _key_source(self) -> Any:
        """Return where an operation looks for a key it was not given."""

    def _apply(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> Ciphertext:
        """Check the operands' states and return the result of the call."""
        return self._apply_many(operation, *operands, **attributes)[0]

    @abstractmethod
    def _apply_many(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> list[Ciphertext]:
        """Do as ``_apply`` does for an operation with a list of results."""

    @abstractmethod
    def _apply_in_place(
        self, operation: type[DeclaredOperation], *operands: Any, **attributes: Any
    ) -> Ciphertext:
        """Do as ``_apply`` does and let the first operand become the result."""

    def _require_context(self, operation: str, state: CkksState) -> None:
        if state.config is not self.config and state.context_id != self.config.context_id:
            raise ContextMismatchError(
                operation,
                f"the value belongs to context {state.context_id}, this engine to "
                f"{self.config.context_id}",
                "An engine computes on values of its own parameters",
                "Use Engine(value.state.config)",
                contexts=(state.context_id, self.config.context_id),
            )

    def _require_ciphertext(self, operation: str, ciphertext: object) -> None:
        if not isinstance(ciphertext, Ciphertext):
            raise OperandTypeError(
                operation,
                f"the operand is a {type(ciphertext).__name__}, needed is a Ciphertext",
                "The operation works on encrypted values",
                "Encrypt first with engine.encrypt_message",
            )
        self._require_context(operation, ciphertext.state)

    def _canonical_step(self, operation: str, step: object) -> int:
        """Return a rotation step modulo the number of slots."""
        if isinstance(step, bool) or not isinstance(step, SupportsIndex):
            raise StateError(
                operation,
                f"step is a {type(step).__name__}, needed is an int",
                "A rotation moves by whole slots",
                "Pass an int",
            )
        return index(step) % self.config.num_slots


_SUGGESTIONS = {
    ("add", "number"): "Use engine.add_scalar(ciphertext, value)",
    ("subtract", "number"): "Use engine.add_scalar(ciphertext, -value)",
    ("multiply", "number"): "Use engine.multiply_scalar(ciphertext, value)",
    ("add", "clear"): "Use engine.add_plaintext with engine.prepare_plaintext",
    ("subtract", "clear"): "Use engine.add_plaintext with the negated message",
    ("multiply", "clear"): "Use engine.multiply_plaintext with engine.prepare_plaintext",
}


def flattened(operation: type[DeclaredOperation], operands: tuple[Any, ...]) -> list[Any]:
    """Return every operand in one list, or refuse one that is not of its declared kind."""
    values: list[Any] = []
    for kind, operand in zip(operation.operand_kinds(), operands, strict=True):
        if not kind.variadic:
            _require_type(operation, kind, operand)
            values.append(operand)
            continue
        if not isinstance(operand, list | tuple) or not operand:
            raise OperandTypeError(
                operation.public_name(),
                f"{kind.name} is {'empty' if operand == [] or operand == () else 'no list'}, "
                f"needed is a list of at least one {kind.value_class.__name__}",
                "The operation combines several values",
                f"Pass [{kind.value_class.__name__.lower()}, ...]",
            )
        for value in operand:
            _require_type(operation, kind, value)
        values.extend(operand)
    return values


def _require_type(operation: type[DeclaredOperation], kind: OperandKind, operand: Any) -> None:
    # Keys for rotation and so on are switching keys too, from secrets that no ciphertext is under.
    if type(operand) is kind.value_class:
        return
    if isinstance(operand, kind.value_class) and kind.value_class is not SwitchingKey:
        return
    public, needed = operation.public_name(), kind.value_class.__name__
    clear = "number" if isinstance(operand, int | float) else "clear"
    raise OperandTypeError(
        public,
        f"{kind.name} is a {type(operand).__name__}, needed is a {needed}",
        "Operands are values of the declared kinds",
        _SUGGESTIONS.get((public, clear), f"Pass a {needed}"),
    )
