"""AssignNttImplementationPass."""

from __future__ import annotations

from dataclasses import dataclass

from fhelium.backend.ntt import require_ntt_backend
from fhelium.compile.compilation import Compilation
from fhelium.compile.ntt_choice import BACKEND, IMPLEMENTATION
from fhelium.compile.pipeline import CompilePass
from fhelium.ir.dialects.ntt import NTT


@dataclass(frozen=True)
class AssignNttImplementationPass(CompilePass):
    """Note on the Program, and on its transforms, what is to compute them.

    Args:
        name: Name of an implementation, or of a family such as "native-ntt". A registry is asked
            for it by SelectNttImplementationsPass and by linking.
        ntt_backend: "packed", the fast one, or "radix2_indexed", which validates it.

    Example:
        >>> from fhelium import compile as fc
        >>> step = AssignNttImplementationPass("native-ntt", ntt_backend="radix2_indexed")
        >>> fc.Pipeline((step,)).run(captured).program.attributes()
        {'ntt.implementation': 'native-ntt', 'ntt.backend': 'radix2_indexed'}
    """

    name: str = "native-ntt"
    ntt_backend: str | None = None

    def run(self, compilation: Compilation) -> None:
        program, backend = compilation.program, require_ntt_backend(self.ntt_backend)
        program.set_attribute(IMPLEMENTATION, self.name)
        program.set_attribute(BACKEND, backend)
        for operation in program.operations:
            if type(operation) in NTT.operations:
                operation.properties["ntt_backend"] = program.module.attributes[BACKEND]
