"""What torch functions and operators mean: each becomes semantic operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from xdsl.ir import SSAValue

from fhelium.ir.dialects import semantic

Emit = Callable[..., SSAValue]


class Unsupported(Exception):  # noqa: N818, it becomes a CaptureError with the source line
    """A call that no operation stands for."""


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        shown = f"the number {value}" if isinstance(value, float) else f"a {type(value).__name__}"
        raise Unsupported(f"a vector meets {shown}")
    return float(value)


def _add(emit: Emit, lhs: Any, rhs: Any, *, alpha: Any = 1) -> SSAValue:
    _require_default(alpha == 1, "add", "alpha", alpha)
    vectors = [value for value in (lhs, rhs) if isinstance(value, SSAValue)]
    if len(vectors) == 2:
        return emit(semantic.AddOp, lhs, rhs)
    other = rhs if vectors[0] is lhs else lhs
    return emit(semantic.AddScalarOp, vectors[0], value=_number(other))


def _subtract(emit: Emit, lhs: Any, rhs: Any, *, alpha: Any = 1) -> SSAValue:
    _require_default(alpha == 1, "sub", "alpha", alpha)
    if not isinstance(rhs, SSAValue):
        return emit(semantic.AddScalarOp, lhs, value=-_number(rhs))
    if not isinstance(lhs, SSAValue):
        return emit(semantic.AddScalarOp, emit(semantic.NegateOp, rhs), value=_number(lhs))
    return emit(semantic.SubtractOp, lhs, rhs)


def _multiply(emit: Emit, lhs: Any, rhs: Any) -> SSAValue:
    vectors = [value for value in (lhs, rhs) if isinstance(value, SSAValue)]
    if len(vectors) == 2:
        return emit(semantic.MultiplyOp, lhs, rhs)
    other = rhs if vectors[0] is lhs else lhs
    return emit(semantic.MultiplyScalarOp, vectors[0], value=_number(other))


def _divide(emit: Emit, lhs: Any, rhs: Any, *, rounding_mode: Any = None) -> SSAValue:
    _require_default(rounding_mode is None, "div", "rounding_mode", rounding_mode)
    if isinstance(rhs, SSAValue):
        raise Unsupported("something is divided by a vector")
    divisor = _number(rhs)
    if divisor == 0 or not math.isfinite(1 / divisor):
        raise Unsupported(f"a vector is divided by {divisor}")
    return emit(semantic.MultiplyScalarOp, lhs, value=1 / divisor)


def _negate(emit: Emit, input: SSAValue) -> SSAValue:
    return emit(semantic.NegateOp, input)


def _positive(emit: Emit, input: SSAValue) -> SSAValue:
    return input


def _square(emit: Emit, input: SSAValue) -> SSAValue:
    return emit(semantic.MultiplyOp, input, input)


def _roll(emit: Emit, input: SSAValue, shifts: Any, dims: Any = None) -> SSAValue:
    step = shifts[0] if isinstance(shifts, tuple | list) and len(shifts) == 1 else shifts
    axis = dims[0] if isinstance(dims, tuple | list) and len(dims) == 1 else dims
    if isinstance(step, bool) or not isinstance(step, int):
        raise Unsupported(f"torch.roll has shifts {step!r}, captured is one int")
    if axis not in (None, -1):
        raise Unsupported(f"torch.roll has dims {axis!r}, slots are the last axis, -1")
    return emit(semantic.RollOp, input, step=step)


def _require_default(holds: bool, function: str, name: str, value: Any) -> None:
    if not holds:
        raise Unsupported(f"torch.{function} has {name}={value!r}")


_FUNCTIONS: dict[Callable[..., SSAValue], tuple[Any, ...]] = {
    _add: (operator.add, torch.add, "add"),
    _subtract: (operator.sub, torch.sub, torch.subtract, "sub", "subtract"),
    _multiply: (operator.mul, torch.mul, torch.multiply, "mul", "multiply"),
    _divide: (operator.truediv, torch.div, torch.divide, "div", "divide"),
    _negate: (operator.neg, torch.neg, torch.negative, "neg", "negative"),
    _positive: (operator.pos, torch.positive, "positive", "clone"),
    _square: (torch.square, "square"),
    _roll: (torch.roll, "roll"),
}

MEANINGS = {target: meaning for meaning, targets in _FUNCTIONS.items() for target in targets}
"""The meaning of each captured function, operator and method name."""
