"""LowerCkksToRnsNttPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.compilation import Compilation
from fhelium.compile.lowering import RULES, Builder
from fhelium.compile.lowering.builder import KEY_RESIDUES
from fhelium.compile.material_operands import ProgramMaterials
from fhelium.compile.ntt_choice import ntt_backend_of
from fhelium.compile.passes.eliminate_dead_values import eliminate_dead_values
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import state_of
from fhelium.ir.dialects.core import CastOp
from fhelium.ir.dialects.rns import ResiduesType
from fhelium.ir.operation import DeclaredOperation
from fhelium.ir.types import StatefulType, TableType


@dataclass(frozen=True)
class LowerCkksToRnsNttPass(CompilePass):
    """Compose each ckks operation of residue operations and transforms.

    Inputs and outputs keep their types; casts stand between them and the residues. An operation
    that has no rule stays whole.

    Example:
        >>> from fhelium import compile as fc
        >>> whole = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> found = fc.Pipeline((LowerCkksToRnsNttPass(),)).run(whole)
        >>> names = [op.name for op in found.program.operations]
        >>> names.count("ntt.forward"), names.count("rns.mod_up"), names.count("ckks.rotate")
        (2, 1, 0)
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        lowered = [(index, op) for index, op in enumerate(program.operations) if type(op) in RULES]
        if not lowered:
            return
        whole, config = program.clone(), compilation.workspace.config
        materials, backend = ProgramMaterials(program), ntt_backend_of(program)
        for index, operation in lowered:
            assert isinstance(operation, DeclaredOperation)
            self._require_ready(index, operation)
            first = next(v for v in operation.operands if isinstance(v.type, StatefulType))
            builder = Builder(operation, config, materials, backend, state_of(first, config))
            groups = [_residues(builder, group) for group in operation.operand_groups()]
            found = RULES[type(operation)](builder, *groups)
            values = found if isinstance(found, list) else [found]
            results = [
                builder.cast(value, result.type)
                for value, result in zip(values, operation.results, strict=True)
            ]
            Rewriter.replace_op(operation, [], results)
        eliminate_dead_values(program)
        if compilation.state_program is None:
            compilation.state_program = whole

    def _require_ready(self, index: int, operation: DeclaredOperation) -> None:
        """Refuse an operation whose lowering needs what is not known yet."""
        if operation.tables:
            raise self.refusal(
                index,
                operation.name,
                f"it names {len(operation.tables)} tables of a whole-operation implementation",
                "The composition of an operation reads tables of its own",
                "Lower before PrepareOperationOperandsPass",
            )
        if any(group is None for group in operation.operand_groups()):
            raise self.refusal(
                index,
                operation.name,
                "its key operand is open",
                "A key switch reads its key",
                "Run ResolveRotationKeyOperandsPass first",
            )
        for value in operation.operands:
            if not isinstance(value.type, StatefulType):
                continue
            needed = ["depth", "polynomial_domain"] + ["scale"] * operation.FACTS.reads_scale
            unknown = [axis for axis in needed if axis not in value.type.known]
            if unknown:
                raise self.refusal(
                    index,
                    operation.name,
                    f"the {unknown[0]} of an operand is not known",
                    "Residue operations are those of one depth and domain",
                    "Name it in the input's spec, or run AssignCkksDepthsPass and "
                    "AssignCkksScalesPass first",
                )


def _residues(builder: Builder, group: Any) -> Any:
    """Return operands as residues: what was cast from residues, without the way there and back."""
    if isinstance(group, tuple):
        return [_residues(builder, value) for value in group]
    assert isinstance(group, SSAValue)
    if isinstance(group.owner, CastOp) and isinstance(group.owner.input.type, ResiduesType):
        return group.owner.input
    if isinstance(group.type, StatefulType):
        # What ckks computes with are residues over Q.
        return builder.cast(group, ResiduesType.of(**{"modulus_basis": "Q", **group.type.known}))
    return group if isinstance(group.type, TableType) else builder.cast(group, KEY_RESIDUES)
