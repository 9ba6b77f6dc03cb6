"""What every declared operation carries: operands, state transfer, clear meaning, facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import BaseAttr, IRDLOperation, VarOperandDef

from fhelium import values
from fhelium.values import CkksState


class ValueType(ParametrizedAttribute, TypeAttribute):
    """An IR type that stands for one public value class."""

    VALUE_CLASS: ClassVar[str]
    """Name of the class in ``fhelium.values`` that carries a value of this type."""


@dataclass(frozen=True)
class EngineMethod:
    """How a declared operation appears on the Engine; its mixin method is generated from this.

    Args:
        name: Method name.
        topic: Mixin that holds it: arithmetic, rotation, levels or representation.
        derived: Attributes read off an operand instead of the caller, as ``{attribute:
            expression}``, for example ``{"step": "key.step"}``.
        key_lookup: Expression that finds an omitted key operand in ``self.keys``.
        hidden: Attributes that only the IR has.
        generated: Write the method from the declaration; False where it is written by hand
            because it takes other arguments than the operation.
    """

    name: str
    topic: str
    derived: Mapping[str, str] = field(default_factory=dict)
    key_lookup: str | None = None
    hidden: tuple[str, ...] = ()
    generated: bool = True


@dataclass(frozen=True)
class OperationFacts:
    """What passes and dispatch ask about an operation.

    Args:
        limb_wise: Each limb of the result depends on the same limb of the operands only.
        needs_key: The last operand is an evaluation key.
        consumes_depth: The result is deeper than the operand.
        random: Two runs on equal operands differ.
        in_place: A form exists that writes its result over the first operand.
    """

    limb_wise: bool = False
    needs_key: bool = False
    consumes_depth: bool = False
    random: bool = False
    in_place: bool = False


class OperandKind(NamedTuple):
    """Name an operand, the class of value it takes, and whether it is a list of them."""

    name: str
    value_class: type
    variadic: bool


class DeclaredOperation(IRDLOperation, ABC):
    """Base of every FHElium operation: the one place that says what the operation is.

    A subclass holds the docstring (formula, shapes, state, cost, source), the operands and
    attributes (xDSL definitions), its Engine method if it has one, its facts, and two functions:
    ``transfer``, the only rule for the result's state, and ``reference``, the clear meaning.
    """

    ENGINE: ClassVar[EngineMethod | None] = None
    FACTS: ClassVar[OperationFacts] = OperationFacts()

    @classmethod
    @abstractmethod
    def transfer(cls, *states: Any, **attributes: Any) -> CkksState:
        """Give the result's state from the operands' states, or raise what is wrong with them.

        A list operand gives a sequence of states; a list of results shares the one state. Fields
        that are None are not known yet; they agree with anything and stay unknown.
        """

    @classmethod
    def call_facts(cls, *states: Any, **attributes: Any) -> dict[str, Any]:
        """Give the literal facts an implementation reads; calls with equal facts are one call."""
        first = states[0] if isinstance(states[0], CkksState) else states[0][0]
        facts = {"depth": first.depth, "polynomial_domain": first.polynomial_domain}
        facts.update(attributes)
        return facts

    @staticmethod
    @abstractmethod
    def reference(*operands: Any, **attributes: Any) -> Any:
        """Compute the clear meaning on plain tensors."""

    @classmethod
    def result_count(cls, *operands: Any) -> int:
        """Return how many results a call has; one unless the operation says otherwise."""
        return 1

    @classmethod
    def operand_kinds(cls) -> tuple[OperandKind, ...]:
        """Return each operand's name, the class of ``fhelium.values`` it takes, and if many."""
        return _operand_kinds(cls)

    @classmethod
    def public_name(cls) -> str:
        """Return the name used in error messages: the Engine method's, else the IR name."""
        return cls.ENGINE.name if cls.ENGINE is not None else cls.name


@cache
def _operand_kinds(operation: type[DeclaredOperation]) -> tuple[OperandKind, ...]:
    found = []
    for name, definition in operation.get_irdl_definition().operands:
        # xDSL wraps the declared type in a constraint on how many operands there are.
        constraint: Any = definition.constr
        while not isinstance(constraint, BaseAttr):
            constraint = getattr(constraint, "constraint", None) or constraint.constr
        value_class = getattr(values, constraint.attr.VALUE_CLASS)
        found.append(OperandKind(name, value_class, isinstance(definition, VarOperandDef)))
    return tuple(found)
