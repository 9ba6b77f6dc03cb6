"""The Builder that lowering rules emit residue operations with, and the table of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.states import operand_states, result_state
from fhelium.config import CkksConfig
from fhelium.ir.dialects import ntt
from fhelium.ir.dialects.core import CastOp
from fhelium.ir.dialects.rns import ResiduesType
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.types import TableType
from fhelium.values import CkksState

Rule = Callable[..., "SSAValue | list[SSAValue]"]
R = TypeVar("R", bound=Rule)
RULES: dict[type[DeclaredOperation], Rule] = {}
"""The rule of each operation; one without stays a whole operation."""

KEY_RESIDUES = ResiduesType.of(
    depth=0, polynomial_domain="ntt", modulus_basis="QP", residue_representation="montgomery"
)
"""How the payload of a switching key is to be read."""


def lowers(*operations: type[DeclaredOperation]) -> Callable[[R], R]:
    """Register a rule for some operations."""

    def register(rule: R) -> R:
        RULES.update(dict.fromkeys(operations, rule))
        return rule

    return register


@dataclass
class Builder:
    """Emit residue operations in front of the ckks operation that is lowered.

    Args:
        anchor: The ckks operation.
        config: Parameters.
        materials: Materials of the Program.
        ntt_backend: Backend of the transforms.
        state: State of the first ciphertext; depth and domain are known.
    """

    anchor: DeclaredOperation
    config: CkksConfig
    materials: ProgramMaterials
    ntt_backend: str
    state: CkksState

    @property
    def depth(self) -> int:
        """Return the depth of the operands."""
        assert self.state.depth is not None
        return self.state.depth

    @property
    def domain(self) -> str:
        """Return the domain of the first ciphertext."""
        assert self.state.polynomial_domain is not None
        return self.state.polynomial_domain

    @property
    def facts(self) -> dict[str, Any]:
        """Return the literal facts of the call, as a whole-operation implementation gets them."""
        states = operand_states(self.anchor, self.config)
        return self.anchor.call_facts(*states, **self.anchor.python_attributes())

    def output_domain(self) -> str:
        """Return the domain the result is asked in."""
        return self.anchor.python_attributes().get("output_domain") or self.domain

    def table(self, symbol: str) -> SSAValue:
        """Return the value of a numerical table."""
        return self.materials.value(symbol, TableType())

    def tables(self, family: str, *names: str, depth: int | None = None) -> list[SSAValue]:
        """Return the values of several tables of one family at a depth."""
        at = self.depth if depth is None else depth
        return [self.table(f"{family}/{at}/{name}") for name in names]

    def params(self, basis: str = "Q", depth: int | None = None) -> SSAValue:
        """Return the parameter rows of a basis at a depth."""
        return self.table(f"rns_parameters/{basis}/{self.depth if depth is None else depth}")

    def emit(
        self, operation: type[DeclaredOperation], *operands: SSAValue, **attributes: Any
    ) -> SSAValue:
        """Insert an operation and return its result, whose type is what its rule gives."""
        made = operation.make(*operands, result_types=[ResiduesType.of()], **attributes)
        kind = ResiduesType.of().of_state(result_state(made, self.config))
        Rewriter.insert_op(made, InsertPoint.before(self.anchor))
        return self.materials.program.retype(made.results[0], kind)

    def cast(self, value: SSAValue, kind: Any) -> SSAValue:
        """Insert a change of type."""
        made = CastOp.build(operands=[value], result_types=[kind])
        Rewriter.insert_op(made, InsertPoint.before(self.anchor))
        return made.results[0]

    def to_domain(self, value: SSAValue, domain: str) -> SSAValue:
        """Transform residues to a domain, if they are not in it."""
        assert isinstance(value.type, ResiduesType)
        if value.type.known["polynomial_domain"] == domain:
            return value
        operation = ntt.ForwardOp if domain == "ntt" else ntt.InverseOp
        return self.emit(operation, value, ntt_backend=self.ntt_backend)
