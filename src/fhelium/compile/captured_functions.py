"""What torch functions and operators mean: each becomes semantic operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from xdsl.ir import SSAValue

from fhelium.ir.dialects import semantic
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.program import Program


class Unsupported(Exception):  # noqa: N818, it becomes a CaptureError with the source line
    """A call that no operation stands for, and what to write instead where that is known."""

    def __init__(self, fact: str, remedy: str = "Use these, or compute it before encryption"):
        super().__init__(fact)
        self.remedy = remedy


class Emitter:
    """Write semantic operations at the end of a Program, and the constants that they meet.

    Args:
        program: Changed in place.
        slots: The number of all slots, if it is known.
    """

    def __init__(self, program: Program, slots: int | None = None) -> None:
        self.block, self.slots = program.block, slots
        self._program = program
        # The tensor stays with its value: the id of one that is gone may be another's.
        self._constants: dict[tuple[int, bool], tuple[torch.Tensor, SSAValue]] = {}

    def __call__(
        self, operation: type[semantic.SemanticOperation], *operands: SSAValue, **attributes: Any
    ) -> SSAValue:
        """Write an operation and return its result."""
        kind = operation.result_type_of(operands)
        made = operation.make(*operands, result_type=kind, **attributes)
        self.block.add_op(made)
        return made.results[0]

    def constant(self, numbers: torch.Tensor, *, padded: bool = False) -> SSAValue:
        """Return the value of a public vector; the same tensor is written once.

        Args:
            numbers: One axis.
            padded: Whether zeros fill it up to a power of two, as they do the result of a product
                with a matrix of as many columns.
        """
        key, count = (id(numbers), padded), numbers.shape[-1]
        if key not in self._constants:
            kind = semantic.TensorType.of(role="message", slots=count)
            filled = torch.nn.functional.pad(numbers, (0, _width(count) - count))
            made = ConstantOp.of(filled if padded else numbers, kind)
            self._program.block.add_op(made)
            self._constants[key] = numbers, made.result
        return self._constants[key][1]


def _width(count: int) -> int:
    """Return the smallest power of two that holds so many values."""
    return 1 << (count - 1).bit_length()


def _public(value: Any) -> float | torch.Tensor:
    """Return what a vector meets: a number, or a tensor of at least one axis."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.dtype == torch.bool:
            raise Unsupported(f"a vector meets a Tensor of {value.dtype}, captured are real ones")
        if not bool(value.isfinite().all()):
            raise Unsupported("a vector meets a Tensor that holds a number that is not finite")
        return value if value.ndim else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        shown = f"the number {value}" if isinstance(value, float) else f"a {type(value).__name__}"
        raise Unsupported(f"a vector meets {shown}")
    return float(value)


def _operand(emit: Emitter, value: Any, partner: Any = None) -> SSAValue | float:
    """Return an operand: a vector of the Program, a constant that meets one, or a number."""
    if isinstance(value, SSAValue):
        return value
    found = _public(value)
    if not isinstance(found, torch.Tensor):
        return found
    if found.ndim > 1 or not found.numel():
        shape = tuple(found.shape)
        raise Unsupported(f"a vector meets a Tensor of shape {shape}, captured is one axis")
    return emit.constant(found, padded=semantic.count_of(partner) == len(found))


def _commutative(emit: Emitter, vectors: Any, number: Any, input: Any, other: Any) -> SSAValue:
    """Write the operation on two vectors, or the one on a vector and a number."""
    first, second = _operand(emit, input, other), _operand(emit, other, input)
    if not isinstance(first, SSAValue):
        first, second = second, first
    assert isinstance(first, SSAValue)
    if isinstance(second, SSAValue):
        return emit(vectors, first, second)
    return emit(number, first, value=second)


def _add(emit: Emitter, input: Any, other: Any, *, alpha: Any = 1) -> SSAValue:
    return _commutative(
        emit, semantic.AddOp, semantic.AddScalarOp, input, _times(emit, other, alpha)
    )


def _subtract(emit: Emitter, input: Any, other: Any, *, alpha: Any = 1) -> SSAValue:
    other = _times(emit, other, alpha)
    if not isinstance(other, SSAValue):
        return _add(emit, input, -_public(other))
    if not isinstance(input, SSAValue):
        return _add(emit, emit(semantic.NegateOp, other), input)
    return emit(semantic.SubtractOp, input, other)


def _times(emit: Emitter, vector: Any, factor: Any) -> Any:
    """Return a summand times torch's ``alpha``."""
    number = _number(factor)
    if number == 1:
        return vector
    return _multiply(emit, vector, number) if isinstance(vector, SSAValue) else vector * number


def _multiply(emit: Emitter, input: Any, other: Any) -> SSAValue:
    return _commutative(emit, semantic.MultiplyOp, semantic.MultiplyScalarOp, input, other)


def _divide(emit: Emitter, input: Any, other: Any, *, rounding_mode: Any = None) -> SSAValue:
    _require_default(rounding_mode is None, "div", "rounding_mode", rounding_mode)
    if isinstance(other, SSAValue):
        raise Unsupported("something is divided by a vector")
    divisor = _public(other)
    factor = 1 / torch.as_tensor(divisor, dtype=torch.float64)
    if not bool(factor.isfinite().all()):
        shown = divisor if isinstance(divisor, float) else "a Tensor that holds a 0"
        raise Unsupported(f"a vector is divided by {shown}")
    return _multiply(emit, input, factor)


def _negate(emit: Emitter, input: SSAValue) -> SSAValue:
    return emit(semantic.NegateOp, input)


def _positive(emit: Emitter, input: SSAValue) -> SSAValue:
    return input


def _square(emit: Emitter, input: SSAValue) -> SSAValue:
    return emit(semantic.MultiplyOp, input, input)


def _roll(emit: Emitter, input: SSAValue, shifts: Any, dims: Any = None) -> SSAValue:
    step = shifts[0] if isinstance(shifts, tuple | list) and len(shifts) == 1 else shifts
    axis = dims[0] if isinstance(dims, tuple | list) and len(dims) == 1 else dims
    if isinstance(step, bool) or not isinstance(step, int):
        raise Unsupported(f"torch.roll has shifts {step!r}, captured is one int")
    if axis not in (None, -1):
        raise Unsupported(f"torch.roll has dims {axis!r}, slots are the last axis, -1")
    _require_full_period(input, "roll")
    return emit(semantic.RollOp, input, step=step)


def assume_message_bound(vector: Any, bound: float) -> Any:
    """Take the caller's word that no slot exceeds a bound; a tensor is returned as it is.

    In a captured function it is what ``engine.assume_message_bound`` is among an Engine's calls:
    tracked bounds follow intervals and overestimate, and a tighter one leaves more room.

    Args:
        vector: A vector of a captured function, or a tensor.
        bound: Largest magnitude that any slot can have.

    Example:
        >>> assume_message_bound(torch.ones(2), 1.0)
        tensor([1., 1.])
    """
    if isinstance(vector, fx.Proxy):
        arguments = (vector, bound)
        return vector.tracer.create_proxy("call_function", assume_message_bound, arguments, {})
    return vector


def polynomial(vector: Any, coefficients: Sequence[float]) -> Any:
    """Evaluate a polynomial on a vector of a captured function, or on a tensor.

    Compiled, it takes about 2 sqrt(d) products and depth log2(d) + 1 for the degree d.

    Args:
        vector: A vector of a captured function, or a tensor.
        coefficients: Real numbers, the constant first.

    Example:
        >>> polynomial(torch.tensor([2.0]), [1, 0, 3])
        tensor([13.])

    Source:
        Paterson, Stockmeyer (SIAM J. Comput. 1973), "On the number of nonscalar multiplications
        necessary to evaluate polynomials".
    """
    if isinstance(vector, fx.Proxy):
        arguments = (vector, tuple(coefficients))
        return vector.tracer.create_proxy("call_function", polynomial, arguments, {})
    return semantic.PolynomialOp.reference(vector, coefficients=tuple(coefficients))


def _polynomial(emit: Emitter, vector: SSAValue, coefficients: Any) -> SSAValue:
    numbers = tuple(_number(entry) for entry in coefficients)
    if len(numbers) < 2:
        raise Unsupported(f"a polynomial has {len(numbers)} coefficients, captured are 2 and more")
    return emit(semantic.PolynomialOp, vector, coefficients=numbers)


def _number(value: Any) -> float:
    found = _public(value)
    if not isinstance(found, float):
        raise Unsupported("a tensor stands where a number is needed")
    return found


def _power(emit: Emitter, base: Any, exponent: Any) -> SSAValue:
    if not isinstance(base, SSAValue) or type(exponent) is not int or exponent < 1:
        raise Unsupported(f"a power has the exponent {exponent!r}, captured are ints from 1 on")
    result = base
    for _ in range(exponent - 1):
        result = emit(semantic.MultiplyOp, result, base)
    return result


def _sum(emit: Emitter, input: SSAValue, dim: Any = None, keepdim: bool = False) -> SSAValue:
    return _total(emit, input, dim, "sum")[0]


def _mean(emit: Emitter, input: SSAValue, dim: Any = None, keepdim: bool = False) -> SSAValue:
    total, count = _total(emit, input, dim, "mean")
    if count is None:
        raise Unsupported(
            "torch.mean meets a vector of unknown length",
            "Say encrypted(slots=...), or capture in a workspace that holds a CkksConfig",
        )
    return _multiply(emit, total, 1 / count)


def _total(emit: Emitter, input: SSAValue, dim: Any, function: str) -> tuple[SSAValue, int | None]:
    """Write the sum of one period, of all slots where none is known; return it and their number."""
    axis = dim[0] if isinstance(dim, tuple | list) and len(dim) == 1 else dim
    if axis not in (None, -1):
        raise Unsupported(f"torch.{function} has dim {dim!r}, slots are the last axis, -1")
    period = _require_full_period(input, function)
    if period is None:
        return emit(semantic.SumOp, input), emit.slots
    return emit(semantic.SumOp, input, period=period), period


def _require_full_period(vector: SSAValue, function: str) -> int | None:
    """Refuse what would take the slots that fill a period up for values; return the period."""
    count = semantic.count_of(vector)
    if count is not None and count != _width(count):
        raise Unsupported(
            f"torch.{function} meets a vector of {count} values in a period of {_width(count)} "
            "slots, whose others need not be 0",
            f"Give the matrix that makes it columns of zeros, {_width(count)} in all, and mask "
            f"what is added after it (a mean is x.sum() / {count} then), or work on the values "
            "after decryption",
        )
    return count


def _matrix_product(emit: Emitter, lhs: Any, rhs: Any) -> SSAValue:
    if isinstance(lhs, torch.Tensor) and lhs.ndim in (1, 2):
        return _matrix_product(emit, rhs, lhs.T if lhs.ndim == 2 else lhs)
    if not isinstance(lhs, SSAValue) or not isinstance(rhs, torch.Tensor) or rhs.ndim > 2:
        raise Unsupported("a matrix product without a public matrix")
    matrix = rhs.reshape(rhs.shape[0], -1)
    rows, columns = matrix.shape
    found = _operand(emit, matrix.reshape(-1))
    assert isinstance(found, SSAValue)
    return emit(semantic.MatrixProductOp, lhs, found, rows=rows, columns=columns)


def _linear(emit: Emitter, input: SSAValue, weight: Any, bias: Any = None) -> SSAValue:
    if not isinstance(weight, torch.Tensor) or weight.ndim != 2:
        raise Unsupported("torch.nn.functional.linear without a public matrix")
    product = _matrix_product(emit, input, weight.T)
    return product if bias is None else _add(emit, product, torch.as_tensor(bias))


def _assume(emit: Emitter, vector: SSAValue, bound: Any) -> SSAValue:
    return emit(semantic.AssumeMessageBoundOp, vector, bound=_public(bound))


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
    _assume: (assume_message_bound,),
    _polynomial: (polynomial,),
    _power: (operator.pow, torch.pow, "pow"),
    _sum: (torch.sum, "sum"),
    _mean: (torch.mean, "mean"),
    _matrix_product: (operator.matmul, torch.matmul, torch.dot, "matmul", "dot"),
    _linear: (torch.nn.functional.linear,),
}

_REMEDIES = {
    "Approximate it by fhelium.compile.polynomial(x, coefficients) on the interval of the values": (
        "gt ge lt le eq ne where relu gelu silu sigmoid special_expit tanh exp log sqrt rsqrt sin "
        "cos abs max min amax amin maximum minimum clamp clip floor round softmax reciprocal erf"
    ),
    "Multiply with a mask of zeros and ones, and move slots with torch.roll": (
        "getitem select narrow index_select gather"
    ),
    "Return the vector; its owner reads it with engine.decrypt_message": "item tolist numpy cpu",
    "A vector has one axis, its slots: leave .T, .shape and reshapes out": (
        "getattr reshape view flatten squeeze unsqueeze t"
    ),
}


def unknown(shown: str) -> Unsupported:
    """Return what is said of a function that no operation stands for."""
    name = shown.rpartition(".")[2]
    found = (remedy for remedy, names in _REMEDIES.items() if name in names.split())
    return Unsupported(f"{shown} is called", *next(zip(found), ()))


MEANINGS = {target: meaning for meaning, targets in _FUNCTIONS.items() for target in targets}
"""The meaning of each captured function, operator and method name."""
