"""Refusals for what looks like tensor arithmetic on an encrypted value, with the way to do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from fhelium.errors import OperandTypeError

_ADVICE: Final = {
    "add": "engine.add(a, b), engine.add_plaintext(a, plaintext) or engine.add_scalar(a, number)",
    "sub": "engine.subtract(a, b), or engine.negate(b) and engine.add_plaintext",
    "mul": "engine.multiply(a, b), engine.multiply_plaintext(a, plaintext) or "
    "engine.multiply_scalar(a, number)",
    "neg": "engine.negate(a)",
    "square": "engine.square(a)",
    "pow": "engine.square(a) and engine.multiply(a, b)",
    "div": "engine.multiply_scalar(a, 1 / number); encrypted values cannot be divided by another",
    "matmul": "engine.multiply_plaintext(a, row) with engine.sum_slots or rotations",
    "roll": "engine.rotate_by_step(a, step), which moves slots as torch.roll does",
    "sum": "engine.sum_slots(a)",
    "conj": "engine.conjugate(a)",
    "clone": "the value's own clone()",
    "stack": "Ciphertext.stack(values) or Plaintext.stack(values)",
    "unbind": "the value's own unbind()",
    "reshape": "the value's own reshape_batch(*shape)",
}
_ALIASES: Final = {
    "subtract": "sub",
    "rsub": "sub",
    "multiply": "mul",
    "negative": "neg",
    "divide": "div",
    "true_divide": "div",
    "truediv": "div",
    "floor_divide": "div",
    "power": "pow",
    "float_power": "pow",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "dot": "matmul",
    "linear": "matmul",
    "view": "reshape",
    "radd": "add",
    "iadd": "add",
    "isub": "sub",
    "rmul": "mul",
    "imul": "mul",
    "itruediv": "div",
    "rtruediv": "div",
    "rdiv": "div",
    "rmatmul": "matmul",
    "rpow": "pow",
    "conj_physical": "conj",
    "conjugate": "conj",
}
_ORDER: Final = "a polynomial approximation of the comparison, or decrypt first"


def advice(name: str) -> str:
    """Return what to call instead of a torch, NumPy or Python operation of that name.

    Example:
        >>> advice("__radd__") == advice("add")
        True
        >>> advice("roll")
        'Use engine.rotate_by_step(a, step), which moves slots as torch.roll does'
        >>> advice("tanh")
        'Use a method of the Engine on the value, or decrypt first'
    """
    key = name.strip("_")
    known = _ADVICE.get(_ALIASES.get(key, key))
    return f"Use {known}" if known else "Use a method of the Engine on the value, or decrypt first"


def refuse_operation(operation: str, kind: str, remedy: str | None = None) -> NoReturn:
    """Raise the TypeError for an operation that no value of FHElium supports.

    Args:
        operation: What was called, for example "+" or "torch.add".
        kind: Class name of the value.
        remedy: What to do; derived from the operation's name where it is omitted.

    Raises:
        TypeError: Always; follow the remedy in its text.
    """
    raise OperandTypeError(
        operation,
        f"operand is a {kind}, which is not a tensor",
        "Encrypted arithmetic needs an Engine, which holds parameters and keys",
        advice(operation.rpartition(".")[2]) if remedy is None else remedy,
    )


def _trap(symbol: str, name: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *_: object) -> NoReturn:
        refuse_operation(symbol, type(self).__name__, advice(name))

    return refuse


def _no_order(symbol: str) -> Callable[..., NoReturn]:
    def refuse(self: object, _: object) -> NoReturn:
        raise OperandTypeError(
            symbol,
            f"operand is a {type(self).__name__}, whose slots are encoded or encrypted",
            "Such values have no order",
            f"Use {_ORDER}",
        )

    return refuse


def _no_number(name: str) -> Callable[..., NoReturn]:
    def refuse(self: object) -> NoReturn:
        raise OperandTypeError(
            name,
            f"a {type(self).__name__} holds encoded or encrypted slots",
            "It has no number or truth value of its own",
            "Decrypt with engine.decrypt_message(value, secret_key) to see slots; compare with "
            "`is None` to test for absence",
        )

    return refuse


class TensorTraps:
    """Refuse torch functions and conversion to an array, for every value and key.

    Raises:
        TypeError: From each torch or NumPy function that meets the value; the text names the
            Engine's method.
    """

    __slots__ = ()

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: object,
        args: object = (),
        kwargs: object = None,
    ) -> NoReturn:
        """Refuse a torch function."""
        refuse_operation(f"torch.{getattr(func, '__name__', 'function')}", cls.__name__)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to become a NumPy array."""
        raise OperandTypeError(
            "numpy.asarray",
            f"operand is a {type(self).__name__}, whose residues mean nothing by themselves",
            "Only clear messages become arrays",
            "Decrypt first, or use .data for the raw residues",
        )

    def __array_ufunc__(self, ufunc: Any, *_: object, **__: object) -> NoReturn:
        """Refuse a NumPy ufunc."""
        refuse_operation(f"numpy.{ufunc.__name__}", type(self).__name__)


class ArithmeticTraps:
    """Refuse Python's operators, order and numbers, for values that have slots.

    Equality stays identity, as for a torch module: two ciphertexts of one message differ.

    Raises:
        TypeError: From each operator; the text names the Engine's method.
    """

    __slots__ = ()

    __add__ = __radd__ = __iadd__ = _trap("+", "add")
    __sub__ = __rsub__ = __isub__ = _trap("-", "sub")
    __mul__ = __rmul__ = __imul__ = _trap("*", "mul")
    __truediv__ = __rtruediv__ = __itruediv__ = _trap("/", "div")
    __floordiv__ = __rfloordiv__ = _trap("//", "div")
    __matmul__ = __rmatmul__ = __imatmul__ = _trap("@", "matmul")
    __pow__ = __rpow__ = __ipow__ = _trap("**", "pow")
    __neg__ = _trap("-", "neg")
    __lt__ = _no_order("<")
    __le__ = _no_order("<=")
    __gt__ = _no_order(">")
    __ge__ = _no_order(">=")
    __bool__ = _no_number("bool")
    __int__ = _no_number("int")
    __float__ = _no_number("float")
    __complex__ = _no_number("complex")
