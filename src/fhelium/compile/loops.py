"""Loops with public bounds: captured as scf.for, its body once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from fhelium.compile.captured_functions import Emitter
from fhelium.compile.places import place, user_frame
from fhelium.compile.tracing import CapturedVector
from fhelium.errors import CaptureError
from fhelium.ir.dialects.core import CastOp

BODY = "body"
"""Key in a node's ``meta`` of a loop's body: its graph and the nodes that it gives."""


def repeat(count: int, body: Callable[..., Any], *vectors: Any) -> Any:
    """Apply a function to vectors again and again: ``vectors = body(*vectors)``, ``count`` times.

    On tensors it is that loop. In a captured function the body is captured once, as a structured
    loop with a public bound, which a pass unrolls: each round may take depth.

    Args:
        count: How many times; a public int.
        body: Takes as many vectors as there are, and returns as many.
        *vectors: What the loop starts from.

    Returns:
        The vector after the last round, or a tuple of them.

    Example:
        >>> import torch
        >>> repeat(3, lambda x: x * x, torch.tensor([2.0]))
        tensor([256.])
    """
    if type(count) is not int or count < 0:
        raise CaptureError(
            place(user_frame()),
            f"a loop has the bound {count!r}",
            "A bound is a public int of at least 0",
            "Make it a static argument",
        )
    if not any(isinstance(vector, fx.Proxy) for vector in vectors):
        for _ in range(count):
            found = body(*vectors)
            vectors = found if isinstance(found, tuple) else (found,)
        return vectors[0] if len(vectors) == 1 else vectors
    tracer = next(vector.tracer for vector in vectors if isinstance(vector, fx.Proxy))
    found = _traced(tracer, count, body, vectors)
    return found[0] if len(found) == 1 else found


def _traced(
    tracer: Any, count: int, body: Callable[..., Any], vectors: tuple[Any, ...]
) -> tuple[fx.Proxy, ...]:
    """Trace the body on stand-ins of its own, and note the loop in the graph around it."""
    outer, inner = tracer.graph, fx.Graph()
    tracer.graph = inner
    try:
        names = [f"carried_{index}" for index in range(len(vectors))]
        found = body(*(tracer.proxy(inner.placeholder(name)) for name in names))
    finally:
        tracer.graph = outer
    results = found if isinstance(found, tuple) else (found,)
    vectors_only = all(isinstance(entry, CapturedVector) for entry in (*results, *vectors))
    if len(results) != len(vectors) or not vectors_only:
        raise CaptureError(
            place(user_frame()),
            f"a loop carries {len(vectors)} values and its body returns {len(results)}",
            "The body of a loop takes captured vectors and returns as many",
            "Return one vector for each that it takes",
        )
    loop = outer.create_node("call_function", repeat, (count, *(v.node for v in vectors)))
    loop.meta[BODY] = inner, [entry.node for entry in results]
    parts = [outer.create_node("call_function", part, (loop, k)) for k in range(len(vectors))]
    return tuple(tracer.proxy(node) for node in parts)


def part(loop: list[SSAValue], index: int) -> SSAValue:
    """Return one of the values that a loop carries."""
    return loop[index]


def write_loop(
    emit: Emitter,
    node: fx.Node,
    values: dict[fx.Node, Any],
    write: Callable[[Emitter, fx.Graph, dict[fx.Node, Any]], None],
) -> list[SSAValue]:
    """Write a loop as scf.for.

    Args:
        emit: Writes operations.
        node: The loop.
        values: Values by node; those of the body join them.
        write: Writes the nodes of a graph.
    """
    arguments: Any = node.args
    count, *carried = arguments
    initial = [values[entry] for entry in carried]
    graph, results = node.meta[BODY]
    bounds = [arith.ConstantOp.from_int_and_width(k, IndexType()) for k in (0, count, 1)]
    block = Block(arg_types=[IndexType(), *(value.type for value in initial)])
    around, emit.block = emit.block, block
    placeholders = [entry for entry in graph.nodes if entry.op == "placeholder"]
    values.update(zip(placeholders, block.args[1:], strict=True))
    write(emit, graph, values)
    # What is carried keeps its type from round to round; what is known of one round is not of all.
    casts = [
        CastOp.build(operands=[values[result]], result_types=[value.type])
        for result, value in zip(results, initial, strict=True)
    ]
    block.add_ops([*casts, scf.YieldOp(*(cast.result for cast in casts))])
    emit.block = around
    first, last, step = (bound.result for bound in bounds)
    loop = scf.ForOp(first, last, step, initial, Region(block))
    emit.block.add_ops([*bounds, loop])
    return list(loop.results)
