"""Capture: call a torch function on stand-ins and write down what it does to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import torch
from torch import fx
from torch.fx.proxy import GraphAppendingTracer, TraceError
from xdsl.ir import SSAValue

from fhelium.compile.captured_functions import MEANINGS, Emitter, Unsupported
from fhelium.compile.compilation import Compilation
from fhelium.compile.engine_capture import capture_calls
from fhelium.compile.places import place, raising_frame, user_frame
from fhelium.compile.specs import EngineSpec, InputSpec, StaticSpec
from fhelium.compile.workspace import CompileWorkspace
from fhelium.errors import CaptureError, CompileInputError
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
            ``static(value)`` or ``engine()``.
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
    order = [key for key in inspect.signature(function).parameters if key in dynamic]
    engines = [key for key, spec in inputs.items() if isinstance(spec, EngineSpec)]
    if engines:
        types = {key: dynamic[key].type() for key in order}
        return capture_calls(name, function, engines, types, fixed, workspace)
    graph, results = _trace(name, function, order, fixed)
    program = Program.create(name, [(key, dynamic[key].type()) for key in order])
    values: dict[fx.Node, SSAValue] = {}
    arguments, emit = iter(program.block.args), Emitter(program)
    for node in graph.nodes:
        given = node.op == "placeholder"
        values[node] = next(arguments) if given else _written(emit, node, values)
    program.finish([values[node] for node in results])
    program.verify()
    return Compilation(program, workspace)


def _require_parameters(name: str, function: Callable[..., Any], inputs: Mapping[str, Any]) -> None:
    parameters = inspect.signature(function).parameters
    variadic = [p.name for p in parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if variadic:
        raise CompileInputError(
            f"capture of {name}",
            f"the function takes *{variadic[0]}",
            "A Program has a fixed list of inputs",
            "Capture a function with named parameters",
        )
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


class _StandIn(fx.Proxy):
    """Stand for a vector; what fx does not forbid and torch would do differently is refused."""

    def _refuse_in_place(self, other: Any) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "an in-place operator changes a vector",
            "A Program has values and no storage, so a second name of it would go on unchanged",
            "Write x = x + y instead of x += y",
        )

    def _refuse_conversion(self) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "a vector is converted to a number",
            "The values of a captured vector are not known",
            "Keep it a vector, or make the argument static",
        )

    __array_ufunc__ = None  # an array on the left leaves the operator to this side
    __float__ = __int__ = __complex__ = _refuse_conversion
    __iadd__ = __isub__ = __imul__ = __itruediv__ = _refuse_in_place


class _Tracer(GraphAppendingTracer):
    """Note with each node the place in the user's source that made it."""

    def create_node(self, *arguments: Any, **options: Any) -> fx.Node:
        node = super().create_node(*arguments, **options)
        node.meta["place"] = place(user_frame())
        return node

    def create_arg(self, a: Any) -> Any:
        return torch.from_numpy(a) if isinstance(a, np.ndarray) else super().create_arg(a)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _StandIn(node, self)


def _trace(
    name: str, function: Callable[..., Any], order: list[str], fixed: dict[str, Any]
) -> tuple[fx.Graph, list[fx.Node]]:
    graph = fx.Graph()
    tracer = _Tracer(graph)
    stand_ins = {key: tracer.proxy(graph.placeholder(key)) for key in order}
    try:
        result = function(**stand_ins, **fixed)
    except (TraceError, NotImplementedError) as error:  # torch.fx raises either, by the request
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise CaptureError(
            place(raising_frame(error)),
            f"Python asked for the values of a vector: {reason}",
            "A captured function decides nothing by the values of its vectors",
            "Make the argument static, or use arithmetic instead of if and for",
        ) from error
    results = result if isinstance(result, tuple | list) else [result]
    for entry in results:
        if not isinstance(entry, fx.Proxy):
            raise CaptureError(
                f"capture of {name}",
                f"the function returns a {type(entry).__name__}",
                "A Program returns vectors that are made of its inputs",
                "Return one such vector or a tuple of them",
            )
    return graph, [entry.node for entry in results]


def _written(emit: Emitter, node: fx.Node, values: dict[fx.Node, SSAValue]) -> SSAValue:
    """Write one node as semantic operations."""

    def value_of(argument: Any) -> Any:
        return values[argument] if isinstance(argument, fx.Node) else argument

    meaning = MEANINGS.get(node.target)
    shown = node.target if isinstance(node.target, str) else _name_of(node.target)
    try:
        if meaning is None:
            raise Unsupported(f"{shown} is called")
        arguments = [value_of(argument) for argument in node.args]
        options = {key: value_of(argument) for key, argument in node.kwargs.items()}
        return meaning(emit, *arguments, **options)
    except (Unsupported, TypeError) as error:
        found = str(error) if isinstance(error, Unsupported) else f"{shown} is called otherwise"
        known = sorted({name for name in MEANINGS if isinstance(name, str)})
        raise CaptureError(
            node.meta["place"],
            found,
            f"Captured are + - * / with numbers and public vectors, and {', '.join(known)}",
            "Use these, or compute it before encryption",
            function=shown,
        ) from error


def _name_of(target: Any) -> str:
    module = getattr(target, "__module__", None) or "torch"
    module = {"_operator": "operator", "torch._C._nn": "torch.nn.functional"}.get(module, module)
    return f"{module}.{getattr(target, '__name__', target)}"
