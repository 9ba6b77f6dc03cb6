"""Structured control flow in captured functions: loops as scf.for and branches as scf.if."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch import fx
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from fhelium.compile.borders import shared_type, yield_of
from fhelium.compile.captured_functions import Emitter, Unsupported
from fhelium.compile.places import place, user_frame
from fhelium.compile.public_numbers import RunNumber, SymbolicNumber, condition_of, number
from fhelium.compile.symbolic_regions import branch_calls, repeat_calls
from fhelium.compile.symbolic_values import Symbolic
from fhelium.compile.tracing import NUMBER, CapturedNumber, CapturedVector
from fhelium.errors import CaptureError

BODIES = "bodies"
"""Key in a node's ``meta`` of a loop or a branch: each body's graph and the nodes that it gives."""

_PUBLIC = "Whoever runs it sees how often a loop runs and which branch is taken, so both are public"
_EAGER_COND = torch.cond
_INSTALLED = threading.RLock()

Write = Callable[[Emitter, fx.Graph, dict[fx.Node, Any]], None]


def repeat(count: int, body: Callable[..., Any], *vectors: Any) -> Any:
    """Apply a function to vectors again and again: ``vectors = body(*vectors)``, ``count`` times.

    On tensors it is that loop. In a captured function the body is captured once, as a structured
    loop. A pass writes the rounds out where the bound is known, and each may take depth then. A
    bound that is a ``count()`` input is known at each run: what the loop carries keeps its depth.

    Args:
        count: How many times, as Python's ``range`` counts; a public int.
        body: Takes as many vectors as there are, and returns as many.
        *vectors: What the loop starts from.

    Returns:
        The vector after the last round, or a tuple of them.

    Raises:
        CaptureError: The count is encrypted or no int, or a captured body does not return as many
            vectors as it takes.

    Example:
        >>> import torch
        >>> repeat(3, lambda x: x * x, torch.tensor([2.0]))
        tensor([256.])
    """
    if not isinstance(count, RunNumber) and type(count) is not int:
        if isinstance(count, CapturedVector | Symbolic):
            _refuse_vector("a loop's bound is a vector", "a count() input")
        raise CaptureError(
            place(user_frame()),
            f"a loop has the bound {count!r}",
            "A bound is a public int",
            "Pass such an int, or make it a count() input",
        )
    if isinstance(count, SymbolicNumber):
        looped = repeat_calls(count, body, vectors)
        return looped[0] if len(vectors) == 1 else tuple(looped)
    tracer = _tracer_of(count, *vectors)
    if tracer is None:
        for _ in range(count):
            found = body(*vectors)
            vectors = found if isinstance(found, tuple) else (found,)
        return vectors[0] if len(vectors) == 1 else vectors
    graph = fx.Graph()
    names = [f"carried_{index}" for index in range(len(vectors))]
    results = _inside(
        tracer, graph, lambda: body(*(tracer.proxy(graph.placeholder(name)) for name in names))
    )
    if len(results) != len(vectors) or not _only_vectors(*results, *vectors):
        raise CaptureError(
            place(user_frame()),
            f"a loop carries {len(vectors)} values and its body returns {len(results)}",
            "The body of a loop takes captured vectors and returns as many",
            "Return one vector for each that it takes",
        )
    found = _note(tracer, repeat, (count, *vectors), [(graph, results)])
    return found[0] if len(vectors) == 1 else tuple(found)


def branch(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()
) -> Any:
    """Stand for ``torch.cond`` while functions are captured; without stand-ins it is that."""
    tracer = _tracer_of(pred, *operands)
    if isinstance(pred, torch.Tensor) and tracer is not None:
        pred = bool(pred)
    if isinstance(pred, CapturedVector | Symbolic):
        _refuse_vector("the condition of a branch is a vector", "a condition() input")
    if isinstance(pred, SymbolicNumber):
        chosen = branch_calls(pred, (true_fn, false_fn), operands)
        return chosen[0] if len(chosen) == 1 else tuple(chosen)
    if not isinstance(pred, CapturedNumber):
        return _EAGER_COND(pred, true_fn, false_fn, operands)
    bodies, single = [], []
    for function in (true_fn, false_fn):
        graph = fx.Graph()

        def call(function: Callable[..., Any] = function) -> Any:
            found = function(*operands)
            single.append(not isinstance(found, tuple | list))
            return found

        bodies.append((graph, _inside(tracer, graph, call)))
    counts = [len(results) for _, results in bodies]
    if counts[0] != counts[1] or not _only_vectors(*bodies[0][1], *bodies[1][1]):
        raise CaptureError(
            place(user_frame()),
            f"one branch returns {counts[0]} values and the other {counts[1]}",
            "Both branches return captured vectors, and as many",
            "Return the same number of vectors from both",
        )
    found = _note(tracer, branch, (pred,), bodies)
    return found[0] if all(single) else tuple(found)


@contextmanager
def captured_cond() -> Iterator[None]:
    """Let ``torch.cond`` take stand-ins; it is a plain function that looks at types itself."""
    with _INSTALLED:
        given = torch.cond
        torch.cond = branch  # type: ignore[assignment]
        try:
            yield
        finally:
            torch.cond = given


def _tracer_of(*values: Any) -> Any:
    return next((value.tracer for value in values if isinstance(value, fx.Proxy)), None)


def _refuse_vector(fact: str, public: str) -> NoReturn:
    raise CaptureError(
        place(user_frame()),
        fact,
        _PUBLIC,
        f"Make it {public} or static; where it is to stay secret, compute all ways and combine "
        "them: mask * f(x) + (1 - mask) * g(x)",
    )


def _only_vectors(*values: Any) -> bool:
    return all(isinstance(value, CapturedVector) for value in values)


def _inside(tracer: Any, graph: fx.Graph, body: Callable[[], Any]) -> list[Any]:
    """Call a function and record what it does in a graph of its own."""
    around, tracer.graph = tracer.graph, graph
    try:
        found = body()
    finally:
        tracer.graph = around
    return list(found) if isinstance(found, tuple | list) else [found]


def _note(
    tracer: Any,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    bodies: Sequence[tuple[fx.Graph, list[Any]]],
) -> list[fx.Proxy]:
    """Note a loop or a branch in the graph around it and return stand-ins for its results."""
    nodes = tuple(tracer.create_arg(argument) for argument in arguments)
    made = tracer.create_node("call_function", function, nodes, {})
    made.meta[NUMBER] = False
    made.meta[BODIES] = [(graph, [entry.node for entry in found]) for graph, found in bodies]
    count = len(bodies[0][1])
    parts = [tracer.create_node("call_function", part, (made, k), {}) for k in range(count)]
    return [CapturedVector(node, tracer) for node in parts]


def part(results: list[SSAValue], index: int) -> SSAValue:
    """Return one of the values that a loop or a branch gives."""
    return results[index]


def write_structured(
    emit: Emitter, node: fx.Node, values: dict[fx.Node, Any], write: Write
) -> list[SSAValue]:
    """Write a loop as scf.for, or a branch as scf.if.

    Args:
        emit: Writes operations.
        node: The loop or branch.
        values: Values by node; those of the bodies join them.
        write: Writes the nodes of a graph.
    """
    given: Any = node.args
    deciding, *carried = (values[entry] if isinstance(entry, fx.Node) else entry for entry in given)
    made: Any
    if node.target is repeat:
        first, last, step = (number(emit, value, IndexType()) for value in (0, deciding, 1))
        block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        ((graph, results),) = node.meta[BODIES]
        placeholders = [entry for entry in graph.nodes if entry.op == "placeholder"]
        values.update(zip(placeholders, block.args[1:], strict=True))
        _fill(emit, block, graph, results, values, write)
        for start, result in zip(carried, results, strict=True):
            _require_period(start, values[result])
        made = scf.ForOp(first, last, step, carried, Region(block))
    else:
        blocks = [Block(), Block()]
        for block, (graph, results) in zip(blocks, node.meta[BODIES], strict=True):
            _fill(emit, block, graph, results, values, write)
        pairs = zip(*(yield_of(block).operands for block in blocks), strict=True)
        kinds = [shared_type([value.type for value in pair]) for pair in pairs]
        made = scf.IfOp(condition_of(emit, deciding), kinds, Region(blocks[0]), Region(blocks[1]))
    emit.block.add_op(made)
    return list(made.results)


def _require_period(start: SSAValue, given: SSAValue) -> None:
    """Refuse a loop whose rounds give a vector that does not repeat as the one it starts from."""
    period, found = (value.type.known.get("slots") for value in (start, given))  # type: ignore[attr-defined]
    if period is not None and (found is None or period % found):
        shown = "no known period" if found is None else f"a period of {found} slots"
        raise Unsupported(f"a loop starts from a period of {period} slots and gives {shown}")


def _fill(
    emit: Emitter,
    block: Block,
    graph: fx.Graph,
    results: list[fx.Node],
    values: dict[fx.Node, Any],
    write: Write,
) -> None:
    around, emit.block = emit.block, block
    write(emit, graph, values)
    block.add_op(scf.YieldOp(*(values[result] for result in results)))
    emit.block = around
