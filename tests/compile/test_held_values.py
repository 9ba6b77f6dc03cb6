"""What a compiled function holds is read anew when it has changed, and compared cheaply."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from fhelium import compile as fc
from fhelium.compile.held_values import HeldValues
from tests.compile.support import CompileRing

TENSOR, ARRAY, NUMBER = torch.ones(2), np.ones(2), 1.0


class Layer:
    """An object with values, a method and a property."""

    shift = 0.5
    __slots__ = ("factors", "weights")

    def __init__(self) -> None:
        self.weights, self.factors = torch.ones(2), [1.0, 2.0]

    @property
    def doubled(self) -> Any:
        return self.weights * self.factors[1]

    def apply(self, x: Any) -> Any:
        return x * self.doubled + self.shift


LAYER = Layer()


def helper(x: Any) -> Any:
    return LAYER.apply(x)


def scaled(layer: Any, x: Any) -> Any:
    return layer.weights * x


def of_globals() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    def function(x):
        return x * TENSOR + ARRAY * NUMBER

    return function, [
        lambda: TENSOR.mul_(2),
        lambda: ARRAY.__imul__(2),
        lambda: globals().update(NUMBER=NUMBER + 1),
        lambda: globals().update(TENSOR=TENSOR.clone()),
    ]


def of_a_closure() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    number: float = 1.0
    parts: dict[str, Any] = {"bias": [torch.ones(2)]}

    def change() -> None:
        nonlocal number
        number += 1

    def function(x):
        return [number * entry for entry in (x, parts["bias"][0])]

    more = parts["bias"]
    return function, [
        change,
        lambda: more[0].add_(1),
        lambda: more.append(1),
        lambda: parts.update(gain=2.0),
    ]


def of_an_object() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    return lambda x: helper(x), [
        lambda: LAYER.weights.mul_(2),
        lambda: LAYER.factors.__setitem__(1, 3.0),
        lambda: setattr(Layer, "shift", Layer.shift + 1),
        lambda: setattr(LAYER, "weights", torch.ones(2)),
    ]


def of_a_method() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    layer = Layer()
    return layer.apply, [lambda: layer.weights.mul_(2)]


def of_a_partial() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    layer = Layer()
    return functools.partial(scaled, layer), [lambda: layer.weights.mul_(2)]


def of_a_module() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def train() -> None:
        model(torch.ones(2)).sum().backward()
        optimizer.step()

    return lambda x: model(x), [train, lambda: model.append(torch.nn.Identity())]


def of_what_torch_does_not_count() -> tuple[Callable[..., Any], list[Callable[[], Any]]]:
    with torch.inference_mode():
        weights = torch.ones(2, dtype=torch.bfloat16)

    def change() -> None:
        with torch.inference_mode():
            weights.mul_(2)

    return lambda x: x * weights, [change]


KINDS = [
    of_globals,
    of_a_closure,
    of_an_object,
    of_a_method,
    of_a_partial,
    of_a_module,
    of_what_torch_does_not_count,
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_change_is_noticed(kind: Callable[[], Any]) -> None:
    function, changes = kind()
    for change in changes:
        held = HeldValues([function])
        assert held.unchanged()
        assert held.unchanged()
        change()
        assert not held.unchanged()


def test_what_is_no_change_and_what_is_gone() -> None:
    number, unread, parts = 1000, 1, {"bias": [torch.ones(2)]}

    def function(x):
        return number * x + parts["bias"][0]

    held = HeldValues([function])
    number, unread = int("1000"), unread + 1
    assert held.unchanged()
    del parts["bias"]
    assert not held.unchanged()


def test_a_compiled_function_follows_a_tensor_and_a_number(ring: CompileRing) -> None:
    weights, traced = torch.ones(512, dtype=torch.float64), []
    number = 1.0

    @fc.compile(keys=[ring.keys])
    def function(x, layer=None):
        traced.append(number)
        held = x * weights * number
        return held if layer is None else held * layer.weights

    def slot(*arguments: Any) -> float:
        found = ring.engine.decrypt_message(function(x, *arguments), ring.secret_key, real=True)
        return round(float(found[0]), 2)

    x = ring.encrypt(0.5)
    assert [slot(), slot()] == [0.5, 0.5]
    weights.mul_(0.5)
    assert [slot(), slot()] == [0.25, 0.25]
    number = 2.0
    assert [slot(), slot()] == [0.5, 0.5]
    assert traced == [1.0, 1.0, 2.0]
    assert len(function.specializations) == 1
    layer = Layer()
    assert slot(layer) == 0.5
    layer.weights.mul_(0.5)  # an argument that is static
    assert [slot(layer), slot(layer), slot()] == [0.25, 0.25, 0.5]
    weights.zero_()
    ready = function.prepare(x)
    assert function.specializations == (ready,)


def test_a_program_holds_nothing_else(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: x + x, x=fc.encrypted())
    function = fc.compile(captured.program)
    assert function(ring.encrypt(0.5)).components == 2
