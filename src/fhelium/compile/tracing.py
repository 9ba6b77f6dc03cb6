"""Tracing: call a function on stand-ins for its vectors, and refuse what Python cannot trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import torch
from torch import fx
from torch.fx.proxy import Attribute, GraphAppendingTracer

from fhelium.compile.places import inside, place, raising_frame, user_frame
from fhelium.compile.public_numbers import RunNumber
from fhelium.errors import CaptureError


class CapturedVector(fx.Proxy):
    """Stand for a vector; what fx does not forbid and torch would do differently is refused."""

    def _refuse_in_place(self, *others: Any) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "a vector is changed in place",
            "A Program has values and no storage, so a second name of it would go on unchanged",
            "Write x = x + y instead of x += y, and make a new vector instead of setting slots",
        )

    def _refuse_conversion(self) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "a vector is converted to a number",
            "The values of a captured vector are not known",
            "Keep it a vector, or make the argument static",
        )

    def _refuse_slots(self) -> NoReturn:
        raise CaptureError(
            place(user_frame()),
            "Python takes a vector apart",
            "A vector's slots are not there one by one, nor their number",
            "Write x.sum() for the sum of the slots, and pick slots with masks and torch.roll",
        )

    __iter__ = _refuse_slots  # type: ignore[assignment]
    __array_ufunc__ = None  # an array on the left leaves the operator to this side
    __float__ = __int__ = __complex__ = __index__ = __len__ = _refuse_conversion
    __cuda_array_interface__ = property(_refuse_conversion)  # asked for by torch.tensor
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __setitem__ = __delitem__ = _refuse_in_place


class CapturedNumber(RunNumber, fx.Proxy):
    """Stand for a public number that is known at each run."""


NUMBER = "number"
"""Key in the ``meta`` of a node that stands for a public number."""


class _Tracer(GraphAppendingTracer):
    """Note with each node the place in the user's source that made it."""

    def create_node(self, *arguments: Any, **options: Any) -> fx.Node:
        node = super().create_node(*arguments, **options)
        node.meta["place"] = place(user_frame())
        met = node.all_input_nodes
        node.meta[NUMBER] = bool(met) and all(entry.meta.get(NUMBER) for entry in met)
        return node

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, np.generic):
            return a.item()
        return torch.from_numpy(a) if isinstance(a, np.ndarray) else super().create_arg(a)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return (CapturedNumber if node.meta.get(NUMBER) else CapturedVector)(node, self)


def trace(
    name: str, function: Callable[..., Any], order: Mapping[str, bool], fixed: dict[str, Any]
) -> tuple[fx.Graph, list[fx.Node]]:
    """Call a function and return the graph of its calls, with the nodes that it returns.

    Args:
        name: What an error calls the function.
        function: Called once; what it raises itself is not touched.
        order: Parameters that have a stand-in, and whether it is one for a public number.
        fixed: The other arguments.

    Raises:
        CaptureError: torch.fx or Python cannot do with a stand-in what the function asks for.
    """
    graph = fx.Graph()
    tracer = _Tracer(graph)
    stand_ins = {}
    for key, is_number in order.items():
        node = graph.placeholder(key)
        node.meta[NUMBER] = is_number
        stand_ins[key] = tracer.proxy(node)
    try:
        result = function(**stand_ins, **fixed)
    except Exception as error:
        if isinstance(error, CaptureError) or not _is_about_a_stand_in(error):
            raise
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise CaptureError(
            place(raising_frame(error)),
            f"Python asked for the values of a vector: {reason}",
            "A captured function decides nothing by the values of its vectors",
            "Make the argument static, or use arithmetic instead of if and for",
        ) from error
    results = result if isinstance(result, tuple | list) else [result]
    for entry in results:
        if not isinstance(entry, CapturedVector) or isinstance(entry, Attribute):
            attribute = isinstance(entry, Attribute)
            shown = f"vector's {entry.attr}" if attribute else type(entry).__name__
            raise CaptureError(
                f"capture of {name}",
                f"the function returns a {shown}",
                "A Program returns vectors that are made of its inputs, with one axis",
                "Return one such vector or a tuple of them, x instead of x.T",
            )
    return graph, [entry.node for entry in results]


def _is_about_a_stand_in(error: Exception) -> bool:
    """Say whether torch.fx raised an error, or Python for what a stand-in does not have."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_inside = trace is not None and inside(trace.tb_frame)
    names = (CapturedVector.__name__, CapturedNumber.__name__)
    return raised_inside or any(name in str(error) for name in names)
