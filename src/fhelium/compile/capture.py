"""Capture: call a torch function on stand-ins and write down what it does to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch import fx
from xdsl.ir import SSAValue

from fhelium.compile.borders import close_borders
from fhelium.compile.captured_functions import MEANINGS, Emitter, Unsupported, unknown
from fhelium.compile.compilation import Compilation
from fhelium.compile.engine_capture import capture_calls
from fhelium.compile.public_numbers import write_number
from fhelium.compile.specs import EngineSpec, InputSpec, StaticSpec
from fhelium.compile.structured import (
    branch,
    captured_cond,
    part,
    repeat,
    write_structured,
)
from fhelium.compile.tracing import NUMBER, trace
from fhelium.compile.workspace import CompileWorkspace
from fhelium.config import CkksConfig
from fhelium.errors import CaptureError, CompileInputError
from fhelium.ir.control_flow import NUMBER_TYPES
from fhelium.ir.program import Program


def capture(
    function: Callable[..., Any],
    *,
    inputs: Mapping[str, InputSpec | StaticSpec | EngineSpec],
    workspace: CompileWorkspace,
) -> Compilation:
    """Write a torch function down as a semantic Program.

    The function is called once on stand-ins for its vectors, so Python's own control flow and
    static arguments are gone from the Program. Vectors are added, subtracted, multiplied, negated,
    rolled by an integer, and combined with real numbers. A public vector that the function holds
    becomes a constant of the Program; like an input it repeats until all slots are full.

    A function that takes an Engine as well is written down call by call, as a Program of the ckks
    dialect: one input is ``engine()`` then, and the others are values as the Engine takes them.
    Inputs whose depth or scale is left out stay open for the passes that assign them.

    Args:
        function: Takes vectors and static arguments, returns one vector or a tuple of them.
        inputs: One spec for each parameter: ``encrypted()``, ``plaintext()``, ``message()``,
            ``count()``, ``condition()``, ``static(value)`` or ``engine()``.
        workspace: Shared by identity with everything that comes of the compilation.

    Raises:
        CompileInputError: The names are not those of the parameters.
        CaptureError: The function does something that no operation stands for; the text names it
            and the source line.

    Example:
        >>> import torch
        >>> from fhelium.compile import encrypted, static
        >>> def shifted(x, by):
        ...     return 2 * x + torch.roll(x, by)
        >>> found = capture(shifted, inputs={"x": encrypted(), "by": static(1)},
        ...                 workspace=CompileWorkspace())
        >>> [op.name for op in found.program.operations]
        ['semantic.multiply_scalar', 'semantic.roll', 'semantic.add', 'func.return']
    """
    name = getattr(function, "__name__", type(function).__name__)
    name = name if name.isidentifier() and name.isascii() else "captured"
    _require_parameters(name, function, inputs)
    dynamic = {key: spec for key, spec in inputs.items() if isinstance(spec, InputSpec)}
    fixed = {key: spec.value for key, spec in inputs.items() if isinstance(spec, StaticSpec)}
    parameters = inspect.signature(function).parameters
    order = {key: dynamic[key].is_number for key in parameters if key in dynamic}
    engines = [key for key, spec in inputs.items() if isinstance(spec, EngineSpec)]
    if engines:
        types: dict[str, Any] = {key: dynamic[key].type() for key in order}
        with captured_cond():
            return capture_calls(name, function, engines, types, fixed, workspace)
    with captured_cond():
        graph, results = trace(name, function, order, fixed)
    program = Program.create(name, [(key, dynamic[key].type()) for key in order])
    values: dict[fx.Node, Any] = {}
    config = workspace.get(CkksConfig)
    arguments, emit = program.block.args, Emitter(program, config and config.num_slots)
    given = [node for node in graph.nodes if node.op == "placeholder"]
    values.update(zip(given, arguments, strict=True))
    _write(emit, graph, values)
    program.finish([values[node] for node in results])
    close_borders(program)
    program.verify()
    return Compilation(program, workspace)


def signature_of(name: str, function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function whose inputs all have names."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise CompileInputError(
            f"capture of {name}",
            f"the parameters of a {type(function).__name__} are not known",
            "Inputs are named as the function's parameters",
            "Capture a Python function that calls it, such as lambda x: f(x)",
        ) from error
    parameters = signature.parameters
    variadic = [p.name for p in parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if variadic:
        raise CompileInputError(
            f"capture of {name}",
            f"the function takes *{variadic[0]}",
            "A Program has a fixed list of inputs",
            "Capture a function with named parameters, such as lambda x: module(x)",
        )
    nameless = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_ONLY]
    if nameless:
        raise CompileInputError(
            f"capture of {name}",
            f"the parameter {nameless[0]!r} is positional only",
            "Inputs are passed by their names",
            "Leave the / out of the function's parameters",
        )
    return signature


def _require_parameters(name: str, function: Callable[..., Any], inputs: Mapping[str, Any]) -> None:
    parameters = signature_of(name, function).parameters
    if set(parameters) != set(inputs):
        raise CompileInputError(
            f"capture of {name}",
            f"inputs are {sorted(inputs)}, the function's parameters are {sorted(parameters)}",
            "Each parameter has one spec, and each spec one parameter",
            "Pass encrypted(), plaintext(), message() or static(value) for each parameter",
        )
    for key, spec in inputs.items():
        if not isinstance(spec, InputSpec | StaticSpec | EngineSpec):
            raise CompileInputError(
                f"capture of {name}",
                f"the spec of {key!r} is a {type(spec).__name__}",
                "A spec says what role an input has",
                "Pass encrypted(), plaintext(), message() or static(value)",
            )
        if not key.isascii():
            raise CompileInputError(
                f"capture of {name}",
                f"the parameter {key!r} is not ASCII",
                "MLIR names are ASCII",
                "Rename the parameter",
            )


def _write(emit: Emitter, graph: fx.Graph, values: dict[fx.Node, Any]) -> None:
    """Write the nodes of a graph whose placeholders have values."""
    for node in graph.nodes:
        if node.op != "placeholder":
            values[node] = _written(emit, node, values)


def _written(emit: Emitter, node: fx.Node, values: dict[fx.Node, Any]) -> Any:
    """Write one node as semantic operations, as control flow or as arithmetic of public numbers."""

    def value_of(argument: Any) -> Any:
        return values[argument] if isinstance(argument, fx.Node) else argument

    meaning = MEANINGS.get(node.target)
    shown = node.target if isinstance(node.target, str) else _name_of(node.target)
    try:
        if node.target in (repeat, branch):
            return write_structured(emit, node, values, _write)
        arguments = [value_of(argument) for argument in node.args]
        if node.target is part:
            return part(*arguments)
        if node.meta[NUMBER]:
            return write_number(emit, node.target, *arguments)
        if any(isinstance(v, SSAValue) and v.type in NUMBER_TYPES for v in arguments):
            raise Unsupported("a vector meets a public number of a run, captured is a tensor")
        if meaning is None:
            raise unknown(shown)
        options = {key: value_of(argument) for key, argument in node.kwargs.items()}
        return meaning(emit, *arguments, **options)
    except (Unsupported, TypeError) as error:
        refused = (
            error if isinstance(error, Unsupported) else Unsupported(f"{shown} is called otherwise")
        )
        known = sorted(
            {
                target if isinstance(target, str) else target.__name__
                for target in MEANINGS
                if getattr(target, "__module__", None) != "_operator"
            }
        )
        raise CaptureError(
            node.meta["place"],
            str(refused),
            f"Captured are + - * / with numbers and public vectors, and {', '.join(known)}",
            refused.remedy,
            function=shown,
        ) from error


def _name_of(target: Any) -> str:
    module = getattr(target, "__module__", None) or "torch"
    module = {"_operator": "operator", "torch._C._nn": "torch.nn.functional"}.get(module, module)
    return f"{module}.{getattr(target, '__name__', target)}"
