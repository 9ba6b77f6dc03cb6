"""LowerLogicalToCkksPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.errors import StateError
from fhelium.ir.dialects.ckks import CiphertextType
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.logical import LogicalOperation, RoleType
from fhelium.ir.operation import DeclaredOperation

_UNENCODED = (
    "it is a message, which ckks does not compute with",
    "Public vectors enter ckks encoded",
    "Make it an input, declared as plaintext(...), and pass engine.prepare_plaintext(...)",
)


@dataclass(frozen=True)
class LowerLogicalToCkksPass(CompilePass):
    """Choose the ckks operation of every logical one by the roles of its operands.

    Rotations get their step modulo the number of slots and no key yet; a step of 0 is no
    operation. Products keep three components: relinearization and rescaling are placed by others.
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        if not any(isinstance(entry.type, RoleType) for entry in program.inputs):
            return
        config = compilation.workspace.config
        for entry in program.inputs:
            if isinstance(entry.type, RoleType):
                if entry.type.CKKS is None:
                    raise self.refusal(0, f"input {entry.name}", *_UNENCODED)
                program.retype(entry.value, entry.type.CKKS.of(**entry.type.known))
        for index, operation in enumerate(program.operations):
            if isinstance(operation, ConstantOp) and isinstance(operation.result.type, RoleType):
                raise self.refusal(index, operation.name, *_UNENCODED)
            if isinstance(operation, LogicalOperation):
                emit = _Emitter(operation)
                try:
                    result = operation.lower(
                        emit, config, *operation.operands, **operation.python_attributes()
                    )
                except StateError as error:
                    raise self.refusal(
                        index, operation.name, error.fact, error.rule, error.remedy
                    ) from error
                Rewriter.replace_op(operation, [], [result])
        program.update_signature()


class _Emitter:
    """Insert ckks operations where a logical one stands; their states are inferred later."""

    def __init__(self, anchor: Operation) -> None:
        self.anchor = anchor

    def __call__(
        self, operation: type[DeclaredOperation], *operands: SSAValue | None, **attributes: Any
    ) -> SSAValue:
        made = operation.make(*operands, result_types=[CiphertextType.of()], **attributes)
        block = self.anchor.parent_block()
        assert block is not None
        block.insert_op_before(made, self.anchor)
        return made.results[0]
