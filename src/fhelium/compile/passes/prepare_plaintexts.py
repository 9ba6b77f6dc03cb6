"""PreparePlaintextsPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import block_of, encloses
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.states import operand_states
from fhelium.ir.dialects.codec import PreparePlaintextOp


@dataclass(frozen=True)
class PreparePlaintextsPass(CompilePass):
    """Encode each public vector once for all operations that take it in the same form.

    Linking encodes constants before any run; vectors that are inputs are encoded at each run.

    Example:
        >>> from fhelium import compile as fc
        >>> weights = torch.linspace(-1, 1, 512)
        >>> given = fc.capture(
        ...     lambda x: x * weights + torch.roll(x, 3) * weights,
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations].count("codec.prepare_plaintext")
        1
    """

    def run(self, compilation: Compilation) -> None:
        config = compilation.workspace.config
        prepared: dict[Any, SSAValue] = {}
        for operation in compilation.program.operations:
            if isinstance(operation, PreparePlaintextOp):
                states = operand_states(operation, config)
                facts = operation.call_facts(*states, **operation.python_attributes())
                if None in facts.values():
                    continue  # its form is not known yet
                key = (operation.message, *sorted(facts.items()))
                first = prepared.get(key)
                if first is not None and encloses(block_of(first), operation):
                    Rewriter.replace_op(operation, [], [first])
                else:
                    prepared[key] = operation.result
