"""AssignCkksDepthsPass."""

from __future__ import annotations

from dataclasses import dataclass

from fhelium.compile.compilation import Compilation
from fhelium.compile.entry_axes import assign_entry_axis
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import infer_compilation


@dataclass(frozen=True)
class AssignCkksDepthsPass(CompilePass):
    """Put the inputs at a depth and find the depth of every value.

    An input whose type names a depth keeps it. An operation that needs more depth than there is
    is named by a DepthExhaustedError.

    Args:
        entry_depth: Depth of the inputs, counted up from 0.

    Example:
        >>> from fhelium import compile as fc
        >>> lower = (fc.LowerSemanticToLogicalPass(), fc.LowerLogicalToCkksPass())
        >>> found = fc.Pipeline((*lower, AssignCkksDepthsPass(entry_depth=1))).run(captured)
        >>> found.program.outputs[0].type.known["depth"]
        1
    """

    entry_depth: int = 0

    def run(self, compilation: Compilation) -> None:
        config = compilation.workspace.config
        if not 0 <= self.entry_depth <= config.max_depth:
            raise self.refusal(
                0,
                "inputs",
                f"entry_depth is {self.entry_depth}, max_depth is {config.max_depth}",
                "Depth counts up from 0 to max_depth",
                f"Pass a depth from 0 to {config.max_depth}",
            )
        assign_entry_axis(compilation, "depth", lambda kind: self.entry_depth)
        infer_compilation(compilation)
