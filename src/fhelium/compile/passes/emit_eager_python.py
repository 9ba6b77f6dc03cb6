"""EmitEagerPythonPass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.python_source import Body, EagerPythonSource, Names, refusal, require_one_row
from fhelium.ir.dialects.codec import MessageType
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.operation import DeclaredOperation, EngineMethod

ENTRY_POINT = "generated_eager"


@dataclass(frozen=True)
class EmitEagerPythonPass(CompilePass):
    """Write the Program as calls of the Engine and publish it as EagerPythonSource.

    The Program stays as it is.

    Raises:
        PythonCodegenError: An operation has no call of the Engine; the text names it.

    Example:
        >>> from fhelium import compile as fc
        >>> steps = (*fc.default_lower_and_fuse_pipeline().passes, fc.EmitEagerPythonPass())
        >>> found = fc.Pipeline(steps).run(captured)
        >>> source = found.workspace[fc.EagerPythonSource].source
        >>> print(source[source.index("def ") :])
        def generated_eager(engine, x, y, *, materials, resources):
            rotation_key_3 = materials['rotation-key:3']
            rotate = engine.rotate_with_key(x, rotation_key_3)
            add = engine.add(rotate, y)
            return add
        <BLANKLINE>
    """

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        body = Body(program, Names("engine", "key", "torch", "materials", "resources", ENTRY_POINT))
        require_one_row(program)
        for index, operation in enumerate(program.operations):
            if not body.write_core(operation):
                if not isinstance(operation, DeclaredOperation) or operation.ENGINE is None:
                    raise refusal(
                        index,
                        operation.name,
                        "the Engine has no such operation",
                        "Emit where all operations are those of the ckks dialect",
                    )
                call = _call(index, operation, body)
                comma = "," if operation.ENGINE.with_one_key else ""
                body.lines.append(f"{body.results(operation)}{comma} = {call}")
        header = f'"""The Program {program.name!r} as calls of an Engine."""\n\n'
        compilation.workspace[EagerPythonSource] = EagerPythonSource(
            header + body.constant_text() + body.function(ENTRY_POINT, "engine"),
            ENTRY_POINT,
            body.input_names,
            tuple(body.material_symbols),
            tuple(body.resource_symbols),
            body.operation_count,
        )


def _call(index: int, operation: DeclaredOperation, body: Body) -> str:
    """Write the Engine's method with its arguments."""
    method = operation.ENGINE
    assert method is not None
    if operation.tables:
        raise refusal(
            index,
            operation.name,
            f"it carries {len(operation.tables)} numerical tables, which the Engine chooses itself",
            "Use EmitBackendPythonPass, which keeps them",
        )
    operands = [_operand(index, operation, group, body) for group in operation.operand_groups()]
    options = _options(index, operation, method)
    if method.with_one_key is None:
        return f"engine.{method.name}({', '.join(operands + options)})"
    # Rotations one by one are bit for bit those that share their digits.
    ciphertext, keys = operands
    one = f"engine.{method.with_one_key}({', '.join([ciphertext, 'key', *options])})"
    return f"({one} for key in {keys})"


def _options(index: int, operation: DeclaredOperation, method: EngineMethod) -> list[str]:
    """Write the attributes that the method takes."""
    options = []
    for name, value in operation.python_attributes().items():
        if name in method.hidden:
            raise refusal(
                index,
                operation.name,
                f"its {name} is {value!r}, which the Engine has no argument for",
                "Use EmitBackendPythonPass",
            )
        if name not in method.derived:
            options.append(f"{name}={value!r}")
    return options


def _operand(index: int, operation: DeclaredOperation, group: Any, body: Body) -> str:
    if group is None:
        raise refusal(
            index,
            operation.name,
            "its key operand is open",
            "Run ResolveRotationKeyOperandsPass first",
        )
    if isinstance(group, tuple):
        return f"[{', '.join(body.names[value] for value in group)}]"
    if isinstance(group.type, MessageType) and isinstance(group.owner, ConstantOp):
        name = body.names[group]  # the Engine takes a value for each slot
        return f"{name}.repeat(engine.config.num_slots // {name}.numel())"
    return body.names[group]
