"""ResolveRotationKeyOperandsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.ckks import RotateOp, RotationKeyType


@dataclass(frozen=True)
class ResolveRotationKeyOperandsPass(CompilePass):
    """Give every rotation that has none its key, as the material ``rotation-key:<step>``.

    Steps count modulo the number of slots; a rotation by 0 is no operation.

    Example:
        >>> from fhelium import compile as fc
        >>> lower = (fc.LowerSemanticToLogicalPass(), fc.LowerLogicalToCkksPass())
        >>> found = fc.Pipeline((*lower, ResolveRotationKeyOperandsPass())).run(captured)
        >>> found.program.operations[0].symbol.data
        'rotation-key:3'
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        open_rotations = [
            op for op in program.operations if isinstance(op, RotateOp) and op.key is None
        ]
        materials = ProgramMaterials(program)
        for rotation in open_rotations:
            step = rotation.python_attributes()["step"] % compilation.workspace.config.num_slots
            if step == 0 and rotation.output_domain is None:
                Rewriter.replace_op(rotation, [], [rotation.ciphertext])
                continue
            attributes = {**rotation.python_attributes(), "step": step}
            (symbol,) = RotateOp.key_symbols(**attributes)
            made = RotateOp.make(
                rotation.ciphertext,
                materials.value(symbol, RotationKeyType()),
                result_types=[rotation.result.type],
                **attributes,
            )
            Rewriter.replace_op(rotation, made)
