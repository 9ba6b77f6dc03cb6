"""SelectNttImplementationsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from fhelium.backend import OperationImplementationRegistry
from fhelium.compile.calls import CHOICE, invocation_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.ntt_choice import ntt_implementation_of
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.ntt import NTT
from fhelium.ir.operation import DeclaredOperation


@dataclass(frozen=True)
class SelectNttImplementationsPass(CompilePass):
    """Choose the implementation of every transform by the name that the Program notes.

    Args:
        registry: Implementations to choose from.

    Raises:
        ImplementationError: None of that name serves a transform, or several do.

    Example:
        >>> from fhelium import compile as fc
        >>> from fhelium.backend import OperationBackend
        >>> whole = fc.default_lower_and_fuse_pipeline().run(captured)
        >>> registry = OperationBackend().registry
        >>> steps = (fc.LowerCkksToRnsNttPass(), SelectNttImplementationsPass(registry))
        >>> found = fc.Pipeline(steps).run(whole)
        >>> transforms = [op for op in found.program.operations if op.name == "ntt.forward"]
        >>> transforms[0].attributes["core.implementation"].data
        'native-ntt-packed'
    """

    registry: OperationImplementationRegistry

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        for operation in program.operations:
            if isinstance(operation, DeclaredOperation) and type(operation) in NTT.operations:
                invocation = invocation_of(program, operation, compilation.workspace.config)
                found = self.registry.resolve(invocation, name=ntt_implementation_of(program))
                operation.attributes[CHOICE] = StringAttr(found.name)
