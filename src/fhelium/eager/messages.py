"""Clear messages: what may be encoded, brought to one form or refused with the reason.

Everything here speaks of types, shapes, bounds and indices. The values of a message are never part
of an error.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from fhelium.errors import (
    DeviceMismatchError,
    MessageTypeError,
    MessageValueError,
    ParameterError,
)

_REAL_DTYPES = frozenset(
    {
        torch.bool,
        torch.uint8,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
    }
)
_COMPLEX_DTYPES = frozenset({torch.complex64, torch.complex128})
_PLAIN_TYPES = frozenset(
    {bool, int, float, complex, np.float32, np.float64, np.int64, np.complex64, np.complex128}
)
"""Elements of a sequence that numpy converts at once; others are converted one by one."""
_TYPE_RULE = (
    "A message is a torch tensor, a numpy array, a number or a sequence of numbers, of type bool, "
    "integer, float16, bfloat16, float32, float64, complex64 or complex128"
)
_LONGEST_NESTING = 32
_ROUNDED_MAGNITUDE = 1 + 2.0**-50  # of about one in fifteen x / |x| the magnitude is above 1


def prepare_message(
    operation: str,
    message: Any,
    *,
    num_slots: int,
    message_bound: float,
    scale: float,
    modulus_quarter: float,
    device: torch.device | str,
    argument: str = "message",
) -> torch.Tensor:
    """Return a message as slots, or refuse it before anything is computed.

    Formula:
        ``out[..., j, 0] + i out[..., j, 1] = message[..., j]``, a 0-d message fills every slot.
        Accepted are finite values with ``|x| <= message_bound`` and ``|x| scale <= Q/4``. A
        complex value may pass the bound by a factor 1 + 2^-50, the rounding of values that were
        normalised: x / |x| fits the bound 1. Integers beyond 2^53 are rounded to
        the nearest float64.

    Shapes:
        ``[*batch, num_slots]`` or ``[]`` -> float64 ``[*batch, num_slots, 2]``. The result never
        shares memory with the message; it is expanded where the message is 0-d.

    Cost:
        One copy and a few passes over the message; one synchronisation on a GPU.

    Args:
        operation: Public operation in whose name errors speak.
        message: torch tensor on ``device``, numpy array, number, or (nested) sequence of these.
        num_slots: Slots of the ring, N/2.
        message_bound: Largest magnitude that the caller declared, in message units; infinity
            where none is.
        scale: Factor from message units to integer coefficients.
        modulus_quarter: Q/4 at the depth of the encoding, an exact int or a float.
        device: Where the result lives. Numbers and numpy arrays are placed there; a tensor that
            lives elsewhere is refused.
        argument: Name of the message in errors.

    Raises:
        MessageTypeError: The type or dtype cannot be encoded; convert it first.
        MessageValueError: The shape, a value, or a pending gradient forbids encoding; the text
            shows the call that helps.
        DeviceMismatchError: The tensor is on another device; move it with ``.to``.
        ParameterError: The bound is negative, or the scale or the modulus is not above 0.

    Example:
        >>> slots = prepare_message("encode", [0.5, 1j], num_slots=2, message_bound=1.0,
        ...                         scale=2.0**40, modulus_quarter=2**60, device="cpu")
        >>> slots.tolist()
        [[0.5, 0.0], [0.0, 1.0]]
    """
    _check_parameters(operation, message_bound, scale, modulus_quarter)
    library = "torch" if isinstance(message, torch.Tensor) else "numpy"
    reader = _Reader(operation, argument, torch.device(device), library)
    values = reader.read(message, argument, 0)
    reader.check_shape(values, num_slots)
    slots = torch.zeros((*values.shape, 2), dtype=torch.float64, device=device)
    slots[..., 0] = values.real
    if values.is_complex():
        slots[..., 1] = values.imag
    reader.check_size(slots, values.is_complex(), message_bound, scale, modulus_quarter)
    return slots if values.ndim else slots.expand(num_slots, 2)


def _check_parameters(
    operation: str, message_bound: float, scale: float, modulus_quarter: float
) -> None:
    if not message_bound >= 0:
        raise ParameterError(
            operation,
            f"message_bound is {message_bound}",
            "A magnitude is at least 0",
            "Pass the largest magnitude of the message, or infinity where none is declared",
        )
    if not (math.isfinite(scale) and scale > 0):
        raise ParameterError(
            operation,
            f"scale is {scale}",
            "A scale is finite and above 0",
            "Pass a positive scale, such as 2.0**40",
        )
    if not modulus_quarter > 0:
        raise ParameterError(
            operation,
            f"modulus_quarter is {modulus_quarter}",
            "A quarter of the modulus is above 0",
            "Pass Q/4 of the depth of the encoding",
        )


@dataclass(frozen=True)
class _Reader:
    """One message on its way in: the names for its errors and the device it must be on."""

    operation: str
    argument: str
    device: torch.device
    library: str  # whose functions the remedies call: torch or numpy

    def read(self, message: Any, name: str, nesting: int) -> torch.Tensor:
        """Convert any accepted message to a float64 or complex128 tensor on the device."""
        if isinstance(message, torch.Tensor):
            return self._read_tensor(message, name)
        if isinstance(message, np.ndarray | np.generic):
            return self._read_array(message, name)
        if isinstance(message, numbers.Number):
            return self._place(np.array(self._number(message, name)))
        if isinstance(message, Sequence) and not isinstance(
            message, str | bytes | bytearray | memoryview
        ):
            return self._read_sequence(message, name, nesting)
        raise self._wrong_type(
            f"{name} is a {type(message).__qualname__}", "Convert it to a tensor or an array first"
        )

    def _read_tensor(self, message: torch.Tensor, name: str) -> torch.Tensor:
        if message.is_nested or message.layout != torch.strided:
            raise self._wrong_type(
                f"{name} is a tensor of layout {message.layout}",
                f"Convert it with {name}.to_dense()",
            )
        if message.dtype not in _REAL_DTYPES | _COMPLEX_DTYPES:
            wide = "complex128" if message.is_complex() else "float64"
            raise self._wrong_type(
                f"{name} holds {message.dtype}", f"Convert it with {name}.to(torch.{wide})"
            )
        if not _same_device(message.device, self.device):
            raise DeviceMismatchError(
                self.operation,
                f"{name} is on {message.device}, the operation is on {self.device}",
                "Nothing is moved between devices unasked",
                f'Move it with {name}.to("{self.device}")',
                devices=(str(message.device), str(self.device)),
            )
        if message.requires_grad:
            raise MessageValueError(
                self.operation,
                f"{name} requires a gradient",
                "Encoding has no derivative, the gradient would be lost silently",
                f"Pass {name}.detach()",
            )
        return message.to(torch.complex128 if message.dtype in _COMPLEX_DTYPES else torch.float64)

    def _read_array(self, message: np.ndarray | np.generic, name: str) -> torch.Tensor:
        if isinstance(message, np.ma.MaskedArray):
            raise self._wrong_type(
                f"{name} is a masked array, whose mask would be lost",
                f"Decide about masked entries with {name}.filled(0)",
            )
        self._check_dtype(message.dtype, name)
        return self._place(message)

    def _check_dtype(self, dtype: np.dtype[Any], name: str) -> None:
        largest = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}.get(dtype.kind, 0)
        if dtype.itemsize > largest or dtype.kind not in "biufc":
            wide = "complex128" if dtype.kind == "c" else "float64"
            raise self._wrong_type(
                f"{name} holds numpy {dtype}", f"Convert it with {name}.astype(numpy.{wide})"
            )

    def _read_sequence(self, message: Sequence[Any], name: str, nesting: int) -> torch.Tensor:
        if nesting >= _LONGEST_NESTING:
            raise MessageValueError(
                self.operation,
                f"{self.argument} is nested deeper than {_LONGEST_NESTING} sequences",
                "Nesting gives the axes of the message",
                "Pass an array with the axes you mean",
            )
        # By type rather than by element: a message has few types and many elements.
        types = {type(part) for part in message}
        if not any(issubclass(kind, torch.Tensor | np.ndarray | Sequence) for kind in types):
            return self._read_numbers(message, types, name)
        parts = [self.read(part, _element(name, i), nesting + 1) for i, part in enumerate(message)]
        for i, part in enumerate(parts):
            if part.shape != parts[0].shape:
                raise MessageValueError(
                    self.operation,
                    f"{_element(name, 0)} has shape {list(parts[0].shape)} and "
                    f"{_element(name, i)} has shape {list(part.shape)}",
                    "All parts of a sequence have one shape",
                    "Pad the shorter ones with zeros",
                    index=i,
                )
        if any(part.is_complex() for part in parts):
            parts = [part.to(torch.complex128) for part in parts]
        return torch.stack(parts)

    def _read_numbers(self, message: Sequence[Any], types: set[type], name: str) -> torch.Tensor:
        if all(kind in _PLAIN_TYPES for kind in types):
            is_complex = any(issubclass(kind, complex | np.complexfloating) for kind in types)
            try:
                array = np.array(list(message), dtype=complex if is_complex else float)
            except OverflowError:
                pass  # the walk below finds the index
            else:
                return self._place(array)
        return self._place(
            np.array([self._number(entry, _element(name, i)) for i, entry in enumerate(message)])
        )

    def _number(self, value: Any, name: str) -> float | complex:
        if isinstance(value, np.generic):
            self._check_dtype(value.dtype, name)
        try:
            if isinstance(value, numbers.Real | np.bool_):
                return float(value)
            if isinstance(value, numbers.Complex):
                return complex(value)
        except OverflowError:
            raise MessageValueError(
                self.operation,
                f"{name} is an integer or fraction beyond the largest float64",
                "Messages are encoded from float64",
                "Scale the message down",
            ) from None
        raise self._wrong_type(
            f"{name} is a {type(value).__qualname__}", "Convert it with float(...) first"
        )

    def _place(self, array: np.ndarray | np.generic) -> torch.Tensor:
        """Copy numpy data of any order, stride and byte order to the device."""
        dtype = np.complex128 if array.dtype.kind == "c" else np.float64
        return torch.from_numpy(np.array(array, dtype=dtype, copy=True, order="C")).to(self.device)

    def _wrong_type(self, fact: str, remedy: str) -> MessageTypeError:
        return MessageTypeError(self.operation, fact, _TYPE_RULE, remedy)

    def check_shape(self, values: torch.Tensor, num_slots: int) -> None:
        """Refuse an empty message and one whose last axis is not the slots."""
        shape = list(values.shape)
        if values.numel() == 0:
            raise MessageValueError(
                self.operation,
                f"{self.argument} is empty, its shape is {shape}",
                "A message has at least one value",
                f"Pass {num_slots} values, or one number to fill all slots",
                shape=tuple(shape),
            )
        if not shape or shape[-1] == num_slots:
            return
        raise MessageValueError(
            self.operation,
            f"{self.argument} has {shape[-1]} values in its last axis, the ring has {num_slots} "
            "slots",
            "The last axis has one value per slot, or the message is 0-d and fills all slots",
            _shape_remedy(self.argument, shape, num_slots, self.library == "torch"),
            shape=tuple(shape),
            num_slots=num_slots,
        )

    def check_size(
        self, slots: torch.Tensor, is_complex: bool, bound: float, scale: float, quarter: float
    ) -> None:
        """Refuse values that are not finite, beyond the declared bound, or beyond Q/4."""
        re, im = slots.unbind(-1)
        size = torch.hypot(re, im) if is_complex else re.abs()
        largest = float(size.amax())
        limit = bound * _ROUNDED_MAGNITUDE if is_complex else bound
        is_plain = largest <= limit and math.isfinite(largest)
        if is_plain and Fraction(largest) * Fraction(scale) <= quarter:
            return
        finite = torch.isfinite(slots).all(-1)
        if not finite.all():
            index = _first(~finite)
            raise MessageValueError(
                self.operation,
                f"{_element(self.argument, *index)} is not finite",
                "NaN and infinity cannot be encoded",
                f"Replace them with {self.library}.nan_to_num({self.argument}, nan=0.0, "
                "posinf=0.0, neginf=0.0)",
                index=index,
            )
        if largest > limit:
            index = _first(size > limit)
            raise MessageValueError(
                self.operation,
                f"the magnitude of {_element(self.argument, *index)} is above message_bound, "
                f"which is {bound}",
                "No value exceeds the declared bound, from which noise and overflow are judged",
                "Scale the message down or declare a larger message_bound",
                index=index,
                message_bound=bound,
            )
        index = _first(size == largest)  # infinite where the magnitude passes the doubles
        raise MessageValueError(
            self.operation,
            f"{_element(self.argument, *index)} times the scale 2^{math.log2(scale):.2f} is above "
            f"a quarter of the modulus, which is 2^{math.log2(quarter):.2f}",
            "A coefficient beyond Q/4 would wrap around",
            "Lower the scale or the values, or encode at a smaller depth",
            index=index,
            scale=scale,
        )


def _same_device(found: torch.device, wanted: torch.device) -> bool:
    either_open = found.index is None or wanted.index is None
    return found.type == wanted.type and (either_open or found.index == wanted.index)


def _element(name: str, *index: int) -> str:
    """Name an element: ``message[2]``, one level deeper ``message[2, 5]``."""
    if not index:
        return name
    inner = ", ".join(map(str, index))
    return f"{name[:-1]}, {inner}]" if name.endswith("]") else f"{name}[{inner}]"


def _first(mask: torch.Tensor) -> tuple[int, ...]:
    """Index of the first True of a mask; () where it is 0-d."""
    flat = int(mask.reshape(-1).to(torch.uint8).argmax())
    return tuple(int(i) for i in np.unravel_index(flat, tuple(mask.shape)))


def _shape_remedy(argument: str, shape: list[int], num_slots: int, is_tensor: bool) -> str:
    """The calls that bring the last axis to num_slots, ready to be copied."""
    size, axes = shape[-1], len(shape)
    if size > num_slots:
        array = argument if is_tensor else f"numpy.asarray({argument})"
        return f"Take the first values with {array}[..., :{num_slots}]"
    missing = num_slots - size
    if is_tensor:
        pad = f"torch.nn.functional.pad({argument}, (0, {missing}))"
        repeat = f"{argument}.repeat({', '.join(['1'] * (axes - 1) + [str(num_slots // size)])})"
    else:
        widths = ", ".join(["(0, 0)"] * (axes - 1) + [f"(0, {missing})"])
        pad = f"numpy.pad({argument}, [{widths}])"
        repeat = f"numpy.tile({argument}, {num_slots // size})"
    if num_slots % size:
        return f"Pad it with zeros: {pad}"
    return f"Repeat it: {repeat}. Or pad it with zeros: {pad}"
