"""LowerSemanticToLogicalPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import flow, require_agreement
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.logical import LOGICAL, ROLES, LogicalOperation, result_role
from fhelium.ir.dialects.semantic import RollOp, SemanticOperation, SumOp, TensorType

_LOGICAL = {
    operation.SEMANTIC: operation
    for operation in LOGICAL.operations
    if issubclass(operation, LogicalOperation)
}


@dataclass(frozen=True)
class LowerSemanticToLogicalPass(CompilePass):
    """Resolve the role of every value: what an encrypted operand enters is encrypted.

    Example:
        >>> from fhelium import compile as fc
        >>> found = fc.Pipeline((LowerSemanticToLogicalPass(),)).run(captured)
        >>> [op.name for op in found.program.operations]
        ['logical.roll', 'logical.add', 'func.return']
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        given = [(f"input {entry.name}", entry.value) for entry in program.inputs]
        given += [(op.name, op.result) for op in program.operations if isinstance(op, ConstantOp)]
        for index, (name, value) in enumerate(given):
            if isinstance(value.type, TensorType):
                known = value.type.known
                if "role" not in known:
                    raise self.refusal(
                        index,
                        name,
                        "its type names no role",
                        f"What enters a Program is {', '.join(ROLES)}",
                        "Write its type as !semantic.tensor<role = encrypted>",
                    )
                program.retype(value, ROLES[known["role"]].of(**known))
        for operation in program.operations:
            if isinstance(operation, SemanticOperation):
                if type(operation) not in _LOGICAL:
                    raise self.refusal(
                        program.operations.index(operation),
                        operation.name,
                        "no logical operation resolves its roles",
                        "It is made of simpler operations first",
                        "Run ExpandMatrixProductsPass and ExpandPolynomialsPass before",
                    )
                role = result_role([value.type for value in operation.operands])
                if role == "message" and isinstance(operation, RollOp | SumOp):
                    raise self.refusal(
                        program.operations.index(operation),
                        operation.name,
                        "its vector is a public one that a run passes",
                        "Rotations are for ciphertexts, and a public vector enters as it is",
                        "Roll it, or add it up, before the call, and pass what comes out",
                    )
                slots = operation.results[0].type
                assert isinstance(slots, TensorType)
                made = _LOGICAL[type(operation)].make(
                    *operation.operands,
                    result_type=ROLES[role].of(slots=slots.known.get("slots")),
                    **operation.python_attributes(),
                )
                Rewriter.replace_op(operation, made)
            if isinstance(operation, scf.YieldOp):
                require_agreement(program, operation, kinds_only=True)
            flow(program, operation)
        program.update_signature()
