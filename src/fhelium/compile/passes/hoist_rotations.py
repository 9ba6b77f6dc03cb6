"""HoistRotationsPass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.ckks import CiphertextType, RotateManyOp, RotateOp, RotationKeyType


@dataclass(frozen=True)
class HoistRotationsPass(CompilePass):
    """Rotate a ciphertext by all its steps at once: its digits are raised to QP one time.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: torch.roll(x, 1) + torch.roll(x, 3),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations if op.name.startswith("ckks.")]
        ['ckks.rotate_many', 'ckks.add']
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        groups: dict[tuple[SSAValue, object, object], list[RotateOp]] = {}
        for operation in program.operations:
            if isinstance(operation, RotateOp) and not operation.tables:
                key = (operation.ciphertext, operation.output_domain, operation.parent)
                groups.setdefault(key, []).append(operation)
        materials = ProgramMaterials(program)
        for group in groups.values():
            if len(group) > 1:
                _hoist(group, materials)


def _hoist(group: list[RotateOp], materials: ProgramMaterials) -> None:
    steps = tuple(rotation.python_attributes()["step"] for rotation in group)
    attributes = {**group[0].python_attributes(), "steps": steps}
    del attributes["step"]
    made = RotateManyOp.make(
        group[0].ciphertext,
        list(_keys(group, materials)),
        result_types=[[CiphertextType.of(**_known(rotation)) for rotation in group]],
        **attributes,
    )
    Rewriter.insert_op(made, InsertPoint.before(group[0]))
    for rotation, result in zip(group, made.results, strict=True):
        Rewriter.replace_op(rotation, [], [result])


def _keys(group: list[RotateOp], materials: ProgramMaterials) -> Iterable[SSAValue]:
    for rotation in group:
        (symbol,) = RotateOp.key_symbols(**rotation.python_attributes())
        yield rotation.key or materials.value(symbol, RotationKeyType())


def _known(rotation: RotateOp) -> dict[str, object]:
    kind = rotation.result.type
    return kind.known if isinstance(kind, CiphertextType) else {}
