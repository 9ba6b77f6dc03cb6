"""AssignCkksScalesPass."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fhelium.compile.compilation import Compilation
from fhelium.compile.entry_axes import assign_entry_axis
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import infer_compilation
from fhelium.ir.types import StatefulType


@dataclass(frozen=True)
class AssignCkksScalesPass(CompilePass):
    """Give the inputs a scale and find the scale of every value.

    An input whose type names a scale keeps it.

    Args:
        entry_scale: Scale of the inputs; when omitted, each gets the canonical scale of its depth,
            where that is known.

    Example:
        >>> from fhelium import compile as fc
        >>> lower = (fc.LowerSemanticToLogicalPass(), fc.LowerLogicalToCkksPass())
        >>> found = fc.Pipeline((*lower, AssignCkksScalesPass(entry_scale=2.0**20))).run(captured)
        >>> found.program.outputs[0].type.known["scale"]
        1048576.0
    """

    entry_scale: float | None = None

    def run(self, compilation: Compilation) -> None:
        config = compilation.workspace.config
        scale = self.entry_scale
        if scale is not None and not 1 <= scale < math.inf:
            raise self.refusal(
                0,
                "inputs",
                f"entry_scale is {scale!r}",
                "A scale is a finite number of at least 1",
                "Pass config.default_scale, or leave it out",
            )

        def entry(kind: StatefulType) -> float | None:
            if scale is not None:
                return float(scale)
            depth = kind.known.get("depth")
            return None if depth is None else config.scale_at(depth)

        assign_entry_axis(compilation, "scale", entry)
        infer_compilation(compilation)
