"""Materials as values of a Program: one core.material a symbol, at the top."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue

from fhelium.ir.dialects.core import MaterialOp
from fhelium.ir.program import Program


class ProgramMaterials:
    """Find the value of a material, or add it behind the materials that are there.

    Args:
        program: The Program to look in and to add to.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._found = {(op.symbol.data, op.result.type): op.result for op in materials_of(program)}

    def value(self, symbol: str, kind: Attribute) -> SSAValue:
        """Return the value of a material of a type."""
        if (symbol, kind) not in self._found:
            made = MaterialOp.build(properties={"symbol": StringAttr(symbol)}, result_types=[kind])
            block = self.program.block
            first = next((op for op in block.ops if not isinstance(op, MaterialOp)), None)
            if first is None:
                block.add_op(made)
            else:
                block.insert_op_before(made, first)
            self._found[symbol, kind] = made.result
        return self._found[symbol, kind]


def materials_of(program: Program) -> list[MaterialOp]:
    """Return the materials that a Program names."""
    return [op for op in program.operations if isinstance(op, MaterialOp)]
