"""What placement passes share: asking an operation's own rule, and inserting what it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from fhelium.compile.states import settle
from fhelium.config import CkksConfig
from fhelium.errors import FHEliumError
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.dialects.codec import PreparePlaintextOp
from fhelium.ir.dialects.semantic import SemanticOperation
from fhelium.ir.operation import DeclaredOperation, declared_type
from fhelium.ir.program import Program
from fhelium.values import CkksState

Known = Callable[[SSAValue], dict[str, Any]]
"""Gives the axes of a value that a question is about; all others count as not known."""


BORDERS = scf.ForOp | scf.YieldOp | ReturnOp
"""Operations at which values enter or leave a region or the Program."""


def on_ciphertexts(program: Program) -> Iterator[Operation]:
    """Go through the operations from ciphertexts to ciphertexts, as they are now, in order.

    They are declared ones, and those at the borders of regions and of the Program.
    """
    for operation in program.operations:
        if isinstance(operation, DeclaredOperation | BORDERS) and ciphertexts_of(operation):
            gives_ciphertexts = (isinstance(r.type, CiphertextType) for r in operation.results)
            if isinstance(operation, BORDERS) or all(gives_ciphertexts):
                yield operation


def replace_later_uses(value: SSAValue, made: SSAValue) -> None:
    """Let everything use what was made of a value, but for what made it."""
    maker = made.owner
    value.replace_uses_with_if(made, lambda use: use.operation is not maker)


def ciphertexts_of(operation: Operation) -> list[SSAValue]:
    """Return the ciphertexts among an operation's operands, each once."""
    found = (value for value in operation.operands if isinstance(value.type, CiphertextType))
    return list(dict.fromkeys(found))


def outcome(operation: DeclaredOperation, config: CkksConfig, known: Known) -> CkksState | None:
    """Ask an operation's rule for its result on partly known operands; None where it refuses."""

    unknown = CkksState(config=config, insecure=config.insecure)
    try:
        states = operation.operand_states(config, lambda value: unknown.replace(**known(value)))
        return operation.transfer(*states, **operation.python_attributes())
    except FHEliumError:
        return None


def insert_semantic(
    anchor: Operation,
    operation: type[SemanticOperation],
    *operands: SSAValue,
    **attributes: Any,
) -> SSAValue:
    """Insert a semantic operation in front of one and return its result."""
    kind = operation.result_type_of(operands)
    made = operation.make(*operands, result_type=kind, **attributes)
    Rewriter.insert_op(made, InsertPoint.before(anchor))
    return made.results[0]


@dataclass(frozen=True)
class Site:
    """Insert operations in front of one another; their types are what their rules give.

    Args:
        program: The Program to change.
        config: Parameters.
    """

    program: Program
    config: CkksConfig

    def insert(
        self,
        anchor: Operation,
        operation: type[DeclaredOperation],
        *operands: Any,
        **attributes: Any,
    ) -> SSAValue:
        """Insert an operation with one result and return the result."""
        ((_, definition),) = operation.get_irdl_definition().results
        kind: Any = declared_type(definition.constr)
        made = operation.make(*operands, result_types=[kind.of()], **attributes)
        return self._placed(anchor, made)

    def remake(
        self, anchor: Operation, operation: DeclaredOperation, old: SSAValue, new: SSAValue
    ) -> SSAValue:
        """Insert a copy of an operation with one operand exchanged and return its result."""
        copy = operation.clone()
        self._placed(anchor, copy)
        self.exchange(copy, old, new)
        return copy.results[0]

    def exchange(self, operation: Operation, old: SSAValue, new: SSAValue) -> None:
        """Exchange an operand, also where a public vector was prepared for it."""
        for index, value in enumerate(operation.operands):
            owner = value.owner
            if value is old:
                operation.operands[index] = new
            elif isinstance(owner, PreparePlaintextOp) and owner.like is old:
                operation.operands[index] = self.insert(
                    operation, PreparePlaintextOp, owner.message, new, **owner.python_attributes()
                )
        settle(self.program, operation, self.config)

    def _placed(self, anchor: Operation, made: Operation) -> SSAValue:
        Rewriter.insert_op(made, InsertPoint.before(anchor))
        settle(self.program, made, self.config)
        return made.results[0]
