"""What every declared operation carries: operands, state transfer, clear meaning, facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    IRDLOperation,
    OptOperandDef,
    ParamAttrConstraint,
    VarOperandDef,
    VarResultDef,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from fhelium import values
from fhelium.config import CkksConfig
from fhelium.ir import noise
from fhelium.ir.types import TableType, ValueType, attribute_of, python_of
from fhelium.values import CkksState


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
        with_one_key: Method that gives one result with one key, where this one gives a list of
            results with keys that it finds itself.
    """

    name: str
    topic: str
    derived: Mapping[str, str] = field(default_factory=dict)
    key_lookup: str | None = None
    hidden: tuple[str, ...] = ()
    generated: bool = True
    with_one_key: str | None = None


@dataclass(frozen=True)
class OperationFacts:
    """What passes and dispatch ask about an operation.

    Args:
        limb_wise: Each limb of the result depends on the same limb of the operands only.
        needs_key: The last operand is an evaluation key.
        consumes_depth: The result is deeper than the operand.
        random: Two runs on equal operands differ.
        in_place: A form exists that writes its result over the first operand.
        reads_scale: The call depends on the operand's scale: a real number is written at it.
        same_residues: The result has the operand's residues, read in another way.
        in_ntt: It computes on NTT values; coefficients are transformed on the way in and out.
    """

    limb_wise: bool = False
    needs_key: bool = False
    consumes_depth: bool = False
    random: bool = False
    in_place: bool = False
    reads_scale: bool = False
    same_residues: bool = False
    in_ntt: bool = False


class OperandKind(NamedTuple):
    """Name an operand, its type in the IR, and whether it is a list."""

    name: str
    type: type[ValueType]
    variadic: bool

    @property
    def value_class(self) -> Any:
        """Return the class of ``fhelium.values`` that carries it."""
        return getattr(values, self.type.VALUE_CLASS)


class DescribedOperation(IRDLOperation):
    """Base of the operations whose attributes are written and read as Python values."""

    @classmethod
    def properties_of(cls, attributes: Mapping[str, Any]) -> dict[str, Attribute]:
        """Return the IR's attributes for Python's; None is left out."""
        declared = cls.get_irdl_definition().properties
        found = {}
        for name, value in attributes.items():
            if isinstance(value, int | float):
                kind = float if declared_type(declared[name].constr) is FloatAttr else int
                found[name] = attribute_of(value, kind)
            elif value is not None:
                found[name] = attribute_of(value)
        return found

    def python_attributes(self) -> dict[str, Any]:
        """Return the attributes that are set, as ``transfer`` and ``reference`` take them."""
        return {
            name: python_of(attribute)
            for name, attribute in self.properties.items()
            if name != AttrSizedOperandSegments.attribute_name
        }


class DeclaredOperation(DescribedOperation, ABC):
    """Base of every FHElium operation: the one place that says what the operation is.

    A subclass holds the docstring (formula, shapes, state, cost, source), the operands and
    attributes (xDSL definitions), its Engine method if it has one, its facts, and two functions:
    ``transfer``, the only rule for the result's state, and ``reference``, the clear meaning.
    """

    ENGINE: ClassVar[EngineMethod | None] = None
    FACTS: ClassVar[OperationFacts] = OperationFacts()
    FUSES: ClassVar[tuple[tuple[type[DeclaredOperation], ...], ...]] = ()
    """Chains of operations, each on the result of the one before, that give the same residues."""

    # Values go in and values come out: what nobody uses need not be computed.
    traits = traits_def(Pure())
    # What an implementation reads beyond the operands; a Program may name it or leave it open.
    tables = var_operand_def(TableType)

    @classmethod
    @abstractmethod
    def transfer(cls, *states: Any, **attributes: Any) -> CkksState:
        """Give the result's state from the operands' states, or raise what is wrong with them.

        A list operand gives a sequence of states; a list of results shares the one state. Fields
        that are None are not known yet: they agree with anything, and the result has them from
        operands that know them, or not either.
        """

    @classmethod
    def call_facts(cls, *states: Any, **attributes: Any) -> dict[str, Any]:
        """Give the literal facts an implementation reads; calls with equal facts are one call."""
        first = states[0] if isinstance(states[0], CkksState) else states[0][0]
        return {
            "depth": first.depth,
            "polynomial_domain": first.polynomial_domain,
            **attributes,
        }

    @staticmethod
    @abstractmethod
    def reference(*operands: Any, **attributes: Any) -> Any:
        """Compute the clear meaning on plain tensors."""

    @classmethod
    def added_error(cls, *states: Any, **attributes: Any) -> noise.Error:
        """Return the error that the call itself adds, in message units; complete states give it."""
        return noise.EXACT

    @classmethod
    def written_attributes(cls, *states: Any, **attributes: Any) -> dict[str, Any]:
        """Return the attributes as ``reference`` takes them, numbers as integers can hold them."""
        return attributes

    @classmethod
    def fused_operands(cls, chain: Sequence[DeclaredOperation]) -> list[SSAValue]:
        """Return the operands for which the operation stands for a chain of ``FUSES``."""
        first, *others = chain
        extra = [value for operation in others for value in operation.operands[1:]]
        return [*first.operands, *extra]

    @classmethod
    def result_count(cls, *operands: Any) -> int:
        """Return how many results a call has; one unless the operation says otherwise."""
        return 1

    @classmethod
    def operand_kinds(cls) -> tuple[OperandKind, ...]:
        """Return what each operand is; further tables are none of them."""
        return _operand_kinds(cls)

    @classmethod
    def key_symbols(cls, **attributes: Any) -> tuple[str, ...]:
        """Name the evaluation keys that a call with these attributes needs, in operand order."""
        return ()

    @classmethod
    def make(
        cls,
        *operands: Any,
        result_types: Sequence[Any],
        tables: Sequence[SSAValue] = (),
        **attributes: Any,
    ) -> Self:
        """Build the operation in the IR from operands and Python attributes.

        Args:
            *operands: One value for each declared operand; a sequence where it is a list, None
                where it is left out.
            result_types: One type for each declared result; a sequence where it is a list.
            tables: Further tables that an implementation reads.
            **attributes: Values as ``transfer`` takes them; None is left out.
        """
        groups = [[] if group is None else group for group in operands]
        return cls.build(
            operands=[*groups, list(tables)],
            result_types=result_types,
            properties=cls.properties_of(attributes),
        )

    def result_type_groups(self) -> list[Any]:
        """Return the results' types as ``make`` takes them."""
        ((_, definition),) = self.get_irdl_definition().results
        types = [result.type for result in self.results]
        return [types] if isinstance(definition, VarResultDef) else types

    def operand_groups(self) -> list[Any]:
        """Return the values of each declared operand: one, a tuple of a list's, or None."""
        groups = ((getattr(self, kind.name), kind.variadic) for kind in self.operand_kinds())
        return [tuple(group) if variadic else group for group, variadic in groups]

    def operand_states(
        self, config: CkksConfig, known: Callable[[SSAValue], CkksState]
    ) -> list[Any]:
        """Return the operands' states as ``transfer`` takes them, tables left out.

        Args:
            config: Parameters.
            known: Gives a value's state. Of a key that is still to be found nothing is known.
        """
        states: list[Any] = []
        for group in self.operand_groups():
            if isinstance(group, tuple):
                states.append([known(value) for value in group])
            elif group is None:
                states.append(CkksState(config=config, insecure=config.insecure))
            elif not isinstance(group.type, TableType):
                states.append(known(group))
        return states

    @classmethod
    def public_name(cls) -> str:
        """Return the name used in error messages: the Engine method's, else the IR name."""
        return cls.ENGINE.name if cls.ENGINE is not None else cls.name


@cache
def _operand_kinds(operation: type[DeclaredOperation]) -> tuple[OperandKind, ...]:
    return tuple(
        OperandKind(
            name,
            declared_type(definition.constr),
            isinstance(definition, VarOperandDef) and not isinstance(definition, OptOperandDef),
        )
        for name, definition in operation.get_irdl_definition().operands
        if name != "tables"
    )


def declared_type(constraint: Any) -> Any:
    """Return the attribute class that a definition names, out of xDSL's constraints around it."""
    while not isinstance(constraint, BaseAttr | ParamAttrConstraint):
        constraint = (
            getattr(constraint, "constraint", None)
            or getattr(constraint, "base_constr", None)
            or constraint.constr
        )
    return constraint.attr if isinstance(constraint, BaseAttr) else constraint.base_attr
