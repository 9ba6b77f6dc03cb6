"""ValidateForLinkingPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import is_open
from fhelium.errors import LinkError
from fhelium.ir.control_flow import NUMBER_TYPES, constant_number, number_function
from fhelium.ir.dialects.ckks import CiphertextType, PlaintextType
from fhelium.ir.dialects.codec import MessageType
from fhelium.ir.dialects.core import CORE
from fhelium.ir.operation import DeclaredOperation

_PUBLIC = (CiphertextType, PlaintextType, MessageType)


@dataclass(frozen=True)
class ValidateForLinkingPass(CompilePass):
    """Check that every operation can be executed and that the border is made of public values.

    Raises:
        LinkError: An operation is abstract, or an input or output is no ciphertext or plaintext.

    Example:
        >>> from fhelium import compile as fc
        >>> fc.Pipeline((ValidateForLinkingPass(),)).run(captured)
        Traceback (most recent call last):
            ...
        fhelium.errors.LinkError: ...
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        if is_open(program):
            raise LinkError(
                f"@{program.name}",
                "its states are open",
                "Operands fit before a Program is linked",
                "Run PlaceRelinearizationsPass, PlaceRescalesPass and AlignOperandsPass",
            )
        for index, operation in enumerate(program.operations):
            if not _executable(operation):
                raise LinkError(
                    f"operation {index} ({operation.name})",
                    f"it belongs to the dialect {operation.name.partition('.')[0]}",
                    "Linked are operations of ckks, rns and ntt, scf.for and scf.if, and arith on "
                    "public integers",
                    "Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass",
                    index=index,
                    name=operation.name,
                )
            if isinstance(operation, scf.ForOp):
                step = operation.step.owner
                if not isinstance(step, Operation) or (constant_number(step) or 0) <= 0:
                    raise LinkError(
                        f"operation {index} ({operation.name})",
                        "its step is no constant above 0",
                        "A loop counts upwards",
                        "Write its step as arith.constant 1 : index",
                        index=index,
                        name=operation.name,
                    )
        inputs = [entry for entry in program.inputs if entry.type not in NUMBER_TYPES]
        border = [(f"input {entry.name}", entry.type) for entry in inputs]
        border += [(f"output {k}", value.type) for k, value in enumerate(program.outputs)]
        for name, kind in border:
            if not isinstance(kind, _PUBLIC):
                raise LinkError(
                    name,
                    f"its type is {kind}",
                    "A Program's inputs and outputs are ciphertexts and plaintexts",
                    "Cast residues to such a type at the border, with core.cast",
                )


def _executable(operation: Operation) -> bool:
    known = (DeclaredOperation, ReturnOp, scf.ForOp, scf.IfOp, scf.YieldOp)
    number = number_function(operation) is not None or constant_number(operation) is not None
    return isinstance(operation, known) or type(operation) in CORE.operations or number
