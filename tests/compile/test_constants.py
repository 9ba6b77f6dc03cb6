"""Public vectors that a captured function holds are constants of its Program, to the last bit."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhelium import compile as fc
from fhelium.errors import ProgramError
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.semantic import TensorType

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def constants(program: fc.Program) -> list[ConstantOp]:
    return [op for op in program.operations if isinstance(op, ConstantOp)]


def captured(function) -> fc.Program:
    return fc.capture(
        function, inputs={"x": fc.encrypted(slots=2)}, workspace=fc.CompileWorkspace()
    ).program


@given(numbers=st.lists(NUMBERS, min_size=1, max_size=5))
def test_numbers_survive_the_text(numbers: list[float]) -> None:
    vector = torch.tensor(numbers, dtype=torch.float64)
    program = fc.Program.create("f", [])
    made = ConstantOp.of(vector, TensorType.of(role="message", slots=len(numbers)))
    program.block.add_op(made)
    program.finish([made.result])
    text = program.to_text()
    found = fc.Program.parse(text)
    assert found.to_text() == text
    (read,) = constants(found)
    assert torch.equal(read.numbers(), vector)
    assert torch.equal(read.numbers().signbit(), vector.signbit())


def test_a_captured_vector_is_written_once() -> None:
    weights = torch.tensor([0.5, -2.0], dtype=torch.float32)
    program = captured(lambda x: (weights * x + weights) - torch.tensor(2))
    names = [op.name for op in program.operations]
    assert names == [
        "core.constant", "semantic.multiply", "semantic.add", "semantic.add_scalar", "func.return",
    ]  # fmt: skip
    (constant,) = constants(program)
    assert str(constant.result.type) == "!semantic.tensor<role = message, slots = 2>"
    assert constant.numbers().tolist() == [0.5, -2.0]


def test_a_difference_and_a_quotient_are_a_sum_and_a_product() -> None:
    program = captured(lambda x: x / torch.tensor([2.0, 4.0]) - torch.tensor([1.0, 3.0]))
    assert [op.numbers().tolist() for op in constants(program)] == [[0.5, 0.25], [-1.0, -3.0]]
    assert [op.name for op in program.operations][1:4:2] == ["semantic.multiply", "semantic.add"]
    reversed_program = captured(lambda x: torch.tensor([1.0, 3.0]) - x)
    assert reversed_program.operations[0].name == "semantic.negate"


WRONG = {
    "1.000000e+00 : f32, needed are float64 numbers": "[1.0 : f32]",
    "a constant holds 1 : i64, needed are float64 numbers": "[1 : i64]",
    "a constant holds 0 numbers, needed is at least one": "[]",
    "a constant holds inf, needed are finite numbers": "[1.0 : f64, 0x7FF0000000000000 : f64]",
}


@pytest.mark.parametrize("shown", WRONG)
def test_a_constant_is_real_and_finite(shown: str) -> None:
    kind = "!semantic.tensor<role = message>"
    text = (
        f'func.func @f() -> {kind} {{\n%0 = "core.constant"() <{{value = {WRONG[shown]}}}> : () '
        f"-> {kind}\nfunc.return %0 : {kind}\n}}"
    )
    with pytest.raises(ProgramError) as found:
        fc.Program.parse(text)
    assert shown in str(found.value)
