"""PrepareOperationOperandsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.rewriter import Rewriter

from fhelium.backend import OperationImplementationRegistry
from fhelium.compile.calls import call_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.types import TableType


@dataclass(frozen=True)
class PrepareOperationOperandsPass(CompilePass):
    """Write the tables that each operation's implementation reads as operands of the operation.

    Args:
        registry: Says which implementation serves an operation, and so what it reads.

    Raises:
        ImplementationError: No implementation serves an operation, or several do.

    Example:
        >>> from fhelium import compile as fc
        >>> from fhelium.backend import OperationBackend
        >>> whole = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> step = PrepareOperationOperandsPass(OperationBackend().registry)
        >>> found = fc.Pipeline((step,)).run(whole)
        >>> [op.symbol.data for op in found.program.operations if op.name == "core.material"][:2]
        ['rotation-key:3', 'key_switch_tables/0']
    """

    registry: OperationImplementationRegistry

    def run(self, compilation: Compilation) -> None:
        program, config = compilation.program, compilation.workspace.config
        materials = ProgramMaterials(program)
        for operation in program.operations:
            if not isinstance(operation, DeclaredOperation):
                continue
            call = call_of(program, operation, config, self.registry)
            if call.symbols:
                made = operation.make(
                    *operation.operand_groups(),
                    result_types=operation.result_type_groups(),
                    tables=[materials.value(symbol, TableType()) for symbol in call.symbols],
                    **operation.python_attributes(),
                )
                made.attributes.update(operation.attributes)
                Rewriter.replace_op(operation, made)
