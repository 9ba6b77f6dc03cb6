"""Values that a function holds: found when it is compiled, and compared at each call."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, getitem
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

_NUMBERS = (int, float, complex, bool, str, bytes, np.generic, type(None))
_FOREIGN = sys.stdlib_module_names | {"torch", "numpy", "fhelium"}
_READABLE = (FunctionType, staticmethod, classmethod, MemberDescriptorType)

Place = tuple[Callable[[Any, Any], Any], Any, Any]
"""A reader, what it reads from, and the index or the name there."""


class HeldValues:
    """Remember what functions read besides their arguments.

    Followed are closures, globals, default arguments, functions of the user that are called,
    attributes that their code mentions, lists, dicts, and the parameters of torch modules. A
    number has changed when it is another; a tensor when it is another one, or was written to as
    torch counts it in ``_version``; an array, for which nothing counts, when its bytes are others.

    State: immutable; what is held stays alive with it. Cost of a comparison: about 0.2 us for each
    value, and a copy of each array.

    Args:
        roots: Functions, and arguments that they read.

    Example:
        >>> def held_by(weights):
        ...     return HeldValues([lambda x: weights * x])
        >>> weights = torch.ones(2)
        >>> held = held_by(weights)
        >>> held.unchanged(), weights.mul_(2), held.unchanged()
        (True, tensor([2., 2.]), False)
    """

    def __init__(self, roots: Sequence[Any] = ()) -> None:
        self._names: set[str] = {"forward", "__call__"}
        known = 0
        while known != len(self._names):  # code that is found late may read objects found early
            known = len(self._names)
            self._seen: dict[int, Any] = {}
            self._held: dict[tuple[int, Any], tuple[Any, ...]] = {}
            for root in roots:
                self._follow(root, own=True)
        self._entries = tuple(self._held.values())

    def unchanged(self) -> bool:
        """Say whether the functions still hold what they held."""
        try:
            for read, owner, key, value, measure, measured in self._entries:
                now = read(owner, key)
                if now is not value and not _equal(now, value):
                    return False
                if measure is not None and measure(now) != measured:
                    return False
        except (LookupError, AttributeError, ValueError):  # a cell that was emptied: ValueError
            return False
        return True

    def _follow(self, value: Any, *, own: bool = False) -> None:
        """Find what code reaches from a value; ``own`` code is followed wherever it comes from."""
        if isinstance(value, (*_NUMBERS, torch.Tensor, np.ndarray)) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, FunctionType) and (own or not _is_foreign(value)):
            self._names |= _names_of(value.__code__)
        elif isinstance(value, FunctionType):
            return
        for part in ("__self__", "__func__", "func", "args", "keywords", "__defaults__"):
            if isinstance(value, FunctionType | MethodType | functools.partial):
                self._follow(getattr(value, part, None))
        for read, owner, key in self._places(value):
            try:
                found = read(owner, key)
            except ValueError:  # a cell that is not filled yet
                continue
            if not isinstance(found, ModuleType):
                measure = _measure_of(found)
                measured = None if measure is None else measure(found)
                self._held[id(owner), key] = (read, owner, key, found, measure, measured)
            self._follow(found)

    def _places(self, value: Any) -> Iterator[Place]:
        """Give the places in a value that can hold others."""
        if isinstance(value, FunctionType):
            named = _names_of(value.__code__) & value.__globals__.keys()
            yield from ((getattr, cell, "cell_contents") for cell in value.__closure__ or ())
            yield from ((getitem, value.__globals__, name) for name in named)
        elif isinstance(value, list | tuple | dict):
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            plain = _measure_of(value) is _entries
            yield from ((getitem, value, key) for key, _ in entries if not plain)
        else:
            if isinstance(value, torch.nn.Module):
                yield from ((getattr, value, n) for n in ("_parameters", "_buffers", "_modules"))
            if not _is_foreign(value if isinstance(value, type | ModuleType) else type(value)):
                for name in tuple(self._names):
                    found = inspect.getattr_static(value, name, self)
                    if isinstance(found, property):
                        self._follow(found.fget)
                    elif found is not self and _is_readable(found):
                        yield getattr, value, name


def _is_foreign(value: Any) -> bool:
    """Say whether a function, class or module is Python's, torch's or ours, and holds no values."""
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return str(name).partition(".")[0] in _FOREIGN


def _is_readable(attribute: Any) -> bool:
    """Say whether reading an attribute runs no code of its own."""
    return isinstance(attribute, _READABLE) or not hasattr(type(attribute), "__get__")


def _names_of(code: CodeType) -> set[str]:
    """Return the globals and attributes that code mentions, and the functions inside it."""
    inner = (_names_of(entry) for entry in code.co_consts if isinstance(entry, CodeType))
    return set(code.co_names).union(*inner)


def _measure_of(value: Any) -> Callable[[Any], Any] | None:
    """Return what differs when a value that is the same object has changed."""
    if isinstance(value, torch.Tensor):
        return _bytes if value.is_inference() else attrgetter("_version")
    if isinstance(value, np.ndarray):
        return np.ndarray.tobytes
    if isinstance(value, list | tuple | dict):
        inside = value.values() if isinstance(value, dict) else value
        return _entries if all(isinstance(entry, _NUMBERS) for entry in inside) else len
    return None


def _entries(container: Any) -> tuple[Any, ...]:
    return tuple(container.items() if isinstance(container, dict) else container)


def _bytes(tensor: torch.Tensor) -> bytes:
    """Return the numbers of a tensor whose changes torch does not count."""
    return tensor.reshape(-1).view(torch.uint8).cpu().numpy().tobytes()


def _equal(now: Any, value: Any) -> bool:
    """Say whether what is made anew at each reading is the same."""
    return isinstance(now, (*_NUMBERS, MethodType)) and type(now) is type(value) and now == value
