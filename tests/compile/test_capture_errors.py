"""What a captured function cannot do is said at its line; what it raises itself is left alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from fhelium import compile as fc
from fhelium.errors import CaptureError, CompileInputError


def capture(function) -> fc.Compilation:
    return fc.capture(function, inputs={"x": fc.encrypted()}, workspace=fc.CompileWorkspace())


def iterate(x):
    total = 0
    for slot in x:
        total = total + slot
    return total


def branch(x):
    assert x
    return x


def set_a_slot(x):
    x[0] = 1.0
    return x


def delete_a_slot(x):
    del x[0]
    return x


VALUES = {
    "a vector is converted to a number": [
        lambda x: x * len(x),
        lambda x: x * sum(range(x)),
        lambda x: x * math.sqrt(x),
        lambda x: x * int(x),
        lambda x: [x, x][x],
    ],
    "Python takes a vector apart": [iterate, lambda x: sum(x), lambda x: max(*x)],
    "Python asked for the values of a vector": [
        branch,
        lambda x: max(x, -x),
        lambda x: x if x in (1, 2) else -x,
        lambda x: x and -x,
        lambda x: x + object(),
        lambda x: np.sin(x),
        lambda x: torch.tensor(x),
    ],
    "a vector is changed in place": [set_a_slot, delete_a_slot],
}


@pytest.mark.parametrize(
    ("shown", "function"),
    [(shown, function) for shown, functions in VALUES.items() for function in functions],
)
def test_the_line_that_asks_for_values_is_named(shown: str, function) -> None:
    with pytest.raises(CaptureError) as found:
        capture(function)
    assert found.value.operation.startswith(f"{__file__}, line ")
    assert found.value.fact.startswith(shown)


def refused_without_a_text(x):
    return torch.distributions.Distribution(validate_args=False).log_prob(x)


def refused_in_one_line(x):
    return torch.utils.data.Dataset()[x]


def refused_in_many_lines(x):
    return torch.jit.script(x)


@pytest.mark.parametrize(
    ("quoted", "function"),
    [
        ("NotImplementedError", refused_without_a_text),
        ("Subclasses of Dataset should implement __getitem__.", refused_in_one_line),
        ("Compiled functions can't take variable number of arguments", refused_in_many_lines),
    ],
)
def test_an_error_of_torch_is_quoted_by_its_first_line_or_its_name(quoted: str, function) -> None:
    with pytest.raises(CaptureError) as found:
        capture(function)
    fact = found.value.fact
    assert fact.startswith(f"Python asked for the values of a vector: {quoted}")
    assert "\n" not in fact
    assert "return torch." in found.value.operation


@pytest.mark.parametrize(
    "error", [RuntimeError(), RuntimeError("mine"), ValueError("mine"), TypeError()]
)
def test_what_the_function_raises_itself_is_left_alone(error: Exception) -> None:
    def function(x):
        raise error

    with pytest.raises(type(error)) as found:
        capture(function)
    assert found.value is error


@pytest.mark.parametrize(
    ("shown", "function"),
    [
        ("a vector's T", lambda x: x.T),
        ("a Tensor", lambda x: torch.ones(3)),
        ("a dict", lambda x: {"y": x}),
        ("a tuple", lambda x: (x, (x,))),
        ("a NoneType", lambda x: None),
    ],
)
def test_what_is_returned_is_named(shown: str, function) -> None:
    with pytest.raises(CaptureError, match=f"the function returns {shown}"):
        capture(function)


def positional(x, /):
    return x


@pytest.mark.parametrize(
    ("shown", "function"),
    [
        ("the parameters of a builtin_function_or_method are not known", torch.neg),
        ("the parameters of a int are not known", 3),
        ("the parameter 'x' is positional only", positional),
    ],
)
def test_functions_without_names_for_their_inputs(shown: str, function) -> None:
    with pytest.raises(CompileInputError, match=shown):
        capture(function)


def test_torch_functions_are_captured_by_the_names_of_their_parameters() -> None:
    found = capture(lambda x: torch.roll(input=torch.mul(other=2, input=x), shifts=1, dims=(-1,)))
    names = [op.name for op in found.program.operations]
    assert names == ["semantic.multiply_scalar", "semantic.roll", "func.return"]


@pytest.mark.parametrize(
    ("remedy", "function"),
    [
        ("fhelium.compile.polynomial", lambda x: x > 0),
        ("fhelium.compile.polynomial", torch.nn.functional.relu),
        ("fhelium.compile.polynomial", lambda x: x.sigmoid()),
        ("mask of zeros and ones", lambda x: x[3]),
        ("engine.decrypt_message", lambda x: x.item()),
        ("instead of x.T", lambda x: x.T),
        ("leave .T, .shape and reshapes out", lambda x: x * x.shape[0]),
        ("leave .T, .shape and reshapes out", lambda x: x.reshape(-1, 32).sum(-1)),
        (r"encrypted\(slots=...\)", torch.mean),
        ("compute it before encryption", lambda x: x.cumsum(0)),
    ],
)
def test_what_to_write_instead_is_said(remedy: str, function) -> None:
    with pytest.raises(CaptureError, match=remedy):
        capture(lambda x: function(x))


@pytest.mark.parametrize(
    ("shown", "function"),
    [
        (
            r"capture of Linear: the function takes \*args.*lambda x: module\(x\)",
            torch.nn.Linear(8, 8),
        ),
        (r"builtin_function_or_method are not known.*lambda x: f\(x\)", torch.square),
    ],
)
def test_the_decorator_says_at_once_what_it_takes(shown: str, function) -> None:
    with pytest.raises(CompileInputError, match=shown):
        fc.compile(function)


def test_the_rule_names_every_function() -> None:
    with pytest.raises(CaptureError, match=r"linear, matmul, mean, .* polynomial, "):
        capture(lambda x: x.cumsum(0))


def test_numbers_of_numpy_are_numbers() -> None:
    found = capture(lambda x: np.float32(0.5) * torch.roll(x, np.int64(3)) + np.float64(2))
    expected = capture(lambda x: 0.5 * torch.roll(x, 3) + 2.0)
    assert found.program.to_text() == expected.program.to_text()
