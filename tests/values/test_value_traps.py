"""What looks like tensor arithmetic is refused, and the text says what to call."""

from __future__ import annotations

import math
import operator

import numpy
import pytest
import torch

OPERATORS = {
    "+": (operator.add, "engine.add(a, b)"),
    "+=": (operator.iadd, "engine.add(a, b)"),
    "-": (operator.sub, "engine.subtract(a, b)"),
    "-=": (operator.isub, "engine.subtract(a, b)"),
    "*": (operator.mul, "engine.multiply(a, b)"),
    "*=": (operator.imul, "engine.multiply(a, b)"),
    "/": (operator.truediv, "engine.multiply_scalar"),
    "//": (operator.floordiv, "engine.multiply_scalar"),
    "@": (operator.matmul, "engine.multiply_plaintext"),
    "**": (operator.pow, "engine.square(a)"),
    "<": (operator.lt, "decrypt first"),
    "<=": (operator.le, "decrypt first"),
    ">": (operator.gt, "decrypt first"),
    ">=": (operator.ge, "decrypt first"),
}
TORCH = {
    "add": (lambda v: torch.add(v, v), "engine.add(a, b)"),
    "sub": (lambda v: torch.sub(v, 1), "engine.subtract(a, b)"),
    "subtract": (lambda v: torch.subtract(v, 1), "engine.subtract(a, b)"),
    "mul": (lambda v: torch.mul(v, 2), "engine.multiply(a, b)"),
    "multiply": (lambda v: torch.multiply(v, 2), "engine.multiply(a, b)"),
    "neg": (torch.neg, "engine.negate(a)"),
    "square": (torch.square, "engine.square(a)"),
    "pow": (lambda v: torch.pow(v, 2), "engine.square(a)"),
    "div": (lambda v: torch.div(v, 2), "engine.multiply_scalar"),
    "matmul": (lambda v: torch.matmul(v, v), "engine.sum_slots"),
    "linear": (lambda v: torch.nn.functional.linear(v, torch.ones(2, 2)), "engine.sum_slots"),
    "roll": (lambda v: torch.roll(v, 1), "engine.rotate_by_step"),
    "sum": (torch.sum, "engine.sum_slots"),
    "conj": (torch.conj, "engine.conjugate"),
    "stack": (lambda v: torch.stack([v, v]), "Ciphertext.stack"),
    "unbind": (torch.unbind, "unbind()"),
    "reshape": (lambda v: torch.reshape(v, (1,)), "reshape_batch"),
    "clone": (torch.clone, "clone()"),
    "tanh": (torch.tanh, "a method of the Engine"),
    "add_": (lambda v: torch.ones(2).add_(v), "engine.add(a, b)"),
}
KINDS = ("ciphertext", "plaintext")


@pytest.fixture(params=KINDS)
def value(request, config, make):
    return getattr(make, request.param)(config)


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_name_the_engine_method(value, symbol):
    call, remedy = OPERATORS[symbol]
    others = [value, 2, 1.5, 1j, None, "x", torch.ones(3), numpy.ones(3), numpy.float64(2)]
    for other in others:
        with pytest.raises(TypeError) as caught:
            call(value, other)
        assert remedy in str(caught.value), other
        assert type(value).__name__ in str(caught.value)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "@", "**"])
def test_reflected_operators_name_the_engine_method(value, symbol):
    call, remedy = OPERATORS[symbol]
    for other in (2, 1.5, 1j, None, torch.ones(3), numpy.ones(3), numpy.float64(2)):
        with pytest.raises(TypeError) as caught:
            call(other, value)
        assert remedy in str(caught.value), other


@pytest.mark.parametrize("name", TORCH)
def test_torch_functions_name_the_engine_method(value, name):
    call, remedy = TORCH[name]
    with pytest.raises(TypeError) as caught:
        call(value)
    assert str(caught.value).startswith(f"torch.{name}: operand is a {type(value).__name__}")
    assert remedy in str(caught.value)


def test_keys_are_no_tensors_either(config, make):
    for key in make.all_values(config)[2:]:
        with pytest.raises(TypeError, match=f"operand is a {type(key).__name__}"):
            torch.add(key, key)
        with pytest.raises(TypeError):
            torch.ones(2) + key
        with pytest.raises(TypeError, match=r"numpy\.asarray"):
            numpy.asarray(key)


@pytest.mark.parametrize(
    "call",
    [numpy.asarray, numpy.array, lambda v: numpy.stack([v, v]), lambda v: numpy.roll(v, 1)],
)
def test_arrays_are_refused(value, call):
    with pytest.raises(TypeError, match=r"numpy\.asarray: operand is a \w+text, .*Decrypt first"):
        call(value)


def test_ufuncs_name_the_engine_method(value):
    with pytest.raises(TypeError, match=r"numpy\.add: .*engine\.add"):
        numpy.add(value, 1)
    with pytest.raises(TypeError, match=r"numpy\.negative: .*engine\.negate"):
        numpy.negative(value)


@pytest.mark.parametrize("call", [torch.tensor, torch.as_tensor])
def test_torch_makes_no_tensor_of_a_value(value, call):
    with pytest.raises(TypeError):
        call(value)


@pytest.mark.parametrize("call", [bool, int, float, complex, math.sqrt, operator.not_])
def test_values_have_no_number_or_truth(value, call):
    with pytest.raises(TypeError, match=r"has no number or truth value.*engine\.decrypt_message"):
        call(value)


def test_if_and_or_are_refused(value):
    with pytest.raises(TypeError, match="is None"):
        _ = value or None


def test_negation_names_the_engine_method(value):
    with pytest.raises(TypeError, match=r"engine\.negate\(a\)"):
        _ = -value


def test_refused_operations_change_nothing(config, make):
    value = make.ciphertext(config)
    before = value.data.clone()
    tensor = torch.ones(3)
    for call in (lambda: tensor.add_(value), lambda: tensor + value, lambda: value + value):
        with pytest.raises(TypeError):
            call()
    assert torch.equal(value.data, before)
    assert torch.equal(tensor, torch.ones(3))


def test_no_text_shows_residues(config, make):
    value = make.ciphertext(config)
    value.data.fill_(987654321)
    calls = [lambda: value + 1, lambda: float(value), lambda: value[3], lambda: torch.add(value, 1)]
    for call in calls:
        with pytest.raises((TypeError, IndexError)) as caught:
            call()
        assert "987654321" not in str(caught.value)
