"""LowerLogicalToCkksPass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import flow
from fhelium.compile.compilation import Compilation
from fhelium.compile.messages import checked_message
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import Site
from fhelium.errors import StateError
from fhelium.ir.dialects.ckks import CiphertextType, FromMontgomeryOp
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.logical import LogicalOperation, RoleType
from fhelium.ir.program import Program


@dataclass(frozen=True)
class LowerLogicalToCkksPass(CompilePass):
    """Choose the ckks operation of every logical one by the roles of its operands.

    Rotations get their step modulo the number of slots and no key yet; a step of 0 is no
    operation. An input in Montgomery form is brought to the standard one, which operations take.
    Public vectors are prepared for what they meet. Products keep three components:
    relinearization and rescaling are placed by others.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (fc.LowerSemanticToLogicalPass(), LowerLogicalToCkksPass())
        >>> found = fc.Pipeline(steps).run(captured)
        >>> [op.name for op in found.program.operations]
        ['ckks.rotate', 'ckks.add', 'func.return']
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        sources = [entry.value for entry in program.inputs]
        sources += [op.result for op in program.operations if isinstance(op, ConstantOp)]
        if not any(isinstance(value.type, RoleType) for value in sources):
            return
        config = compilation.workspace.config
        for value in sources:
            if isinstance(value.owner, ConstantOp):
                checked_message(type(self).__name__, "a constant", value.owner.numbers(), config)
            if isinstance(value.type, RoleType):
                _require_standard(program, program.retype(value, value.type.lowered()))
        site = Site(program, config)
        for index, operation in enumerate(program.operations):
            if isinstance(operation, LogicalOperation):
                emit = partial(site.insert, operation)
                try:
                    result = operation.lower(
                        emit, config, *operation.operands, **operation.python_attributes()
                    )
                except StateError as error:
                    raise self.refusal(
                        index, operation.name, error.fact, error.rule, error.remedy
                    ) from error
                Rewriter.replace_op(operation, [], [result])
            else:
                flow(program, operation)
        program.update_signature()


def _require_standard(program: Program, value: SSAValue) -> None:
    """Let operations use the standard form of a ciphertext that comes in Montgomery form."""
    kind = value.type
    if not isinstance(kind, CiphertextType):
        return
    computes = [use.operation for use in value.uses if not isinstance(use.operation, ReturnOp)]
    if kind.known.get("residue_representation") == "montgomery" and computes:
        made = FromMontgomeryOp.make(value, result_types=[CiphertextType.of()])
        program.block.insert_op_before(made, program.operations[0])
        value.replace_uses_with_if(made.result, lambda use: use.operation in computes)
