"""Sums of slots, products with public matrices, powers and polynomials: expanded, and right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from fhelium import CkksConfig, Preset
from fhelium import compile as fc
from fhelium.errors import CaptureError, CompileInputError, PassError
from tests.compile.support import CompileRing
from tests.compile.test_compiled_functions import clear_message, require_right

PERIOD = 8


@pytest.fixture(scope="module")
def deep() -> CompileRing:
    """A ring with all the steps of a period of eight slots, and of sums."""
    return CompileRing.make(
        steps=[k for k in range(-PERIOD, PERIOD) if k] + [-16, -32, -64, -128, -256]
    )


def periodic(seed: int) -> torch.Tensor:
    return clear_message(seed)[:PERIOD].repeat(512 // PERIOD)


def matrix(rows: int, columns: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rows * 31 + columns)
    return torch.rand(rows, columns, dtype=torch.float64, generator=generator) - 0.5


@pytest.mark.parametrize("shape", [(8, 8), (8, 4), (8, 16), (6, 3), (8, 1), (5, 8), (1, 1)])
def test_matrix_products(deep: CompileRing, shape: tuple[int, int]) -> None:
    weights, x = matrix(*shape), periodic(1)
    function = fc.compile(
        lambda x: x @ weights, inputs={"x": fc.encrypted(slots=PERIOD)}, keys=[deep.keys]
    )
    found = function(deep.encrypt(x, output_domain="ntt"))
    width = 1 << (shape[1] - 1).bit_length()
    product = torch.nn.functional.pad(x[: shape[0]] @ weights, (0, width - shape[1]))
    require_right(deep, found, product.repeat(512 // width))
    assert found.depth == 1


def test_a_square_matrix_takes_baby_steps_and_giant_steps(deep: CompileRing) -> None:
    weights = matrix(8, 8)
    spec = {"x": fc.encrypted(slots=PERIOD, depth=0, polynomial_domain="ntt")}
    ready = fc.compile(lambda x: x @ weights, inputs=spec, config=deep.config).prepare()
    names = [operation.name for operation in ready.program.operations]
    assert names.count("ckks.rotate_many") == 1  # three baby steps
    assert names.count("ckks.rotate") == 1  # one giant step
    assert names.count("ckks.sum_plaintext_products") == 2
    assert ready.key_requirements.steps == (508, 509, 510, 511)
    passes = list(fc.default_lower_and_fuse_pipeline().passes)
    place = next(
        k for k, step in enumerate(passes) if isinstance(step, fc.ExpandMatrixProductsPass)
    )
    passes[place] = fc.ExpandMatrixProductsPass(baby_steps=8)
    one_row = fc.compile(
        lambda x: x @ weights, inputs=spec, config=deep.config, pipeline=fc.Pipeline(passes)
    )
    assert len(one_row.prepare().key_requirements.steps) == 7


def test_linear_layers_and_vectors_on_either_side(deep: CompileRing) -> None:
    weights, bias, x = matrix(3, 8), torch.tensor([0.5, -0.25, 0.125]), periodic(2)
    array = weights.numpy()
    expected = torch.nn.functional.pad(weights @ x[:8] + bias, (0, 1)).repeat(128)
    for function in (
        lambda x: torch.nn.functional.linear(x, weights, bias),
        lambda x: weights @ x + torch.nn.functional.pad(bias, (0, 1)),
        lambda x: array @ x + np.append(bias.numpy(), 0.0),
    ):
        compiled = fc.compile(function, inputs={"x": fc.encrypted(slots=PERIOD)}, keys=[deep.keys])
        require_right(deep, compiled(deep.encrypt(x)), expected)


def test_two_layers_with_an_activation(deep: CompileRing) -> None:
    first, second, x = matrix(8, 8) / 4, matrix(8, 2) / 4, periodic(3)
    function = fc.compile(
        lambda x: torch.square(x @ first + 0.25) @ second,
        inputs={"x": fc.encrypted(slots=PERIOD)},
        keys=[deep.keys],
    )
    expected = (x[:8] @ first + 0.25) ** 2 @ second
    require_right(deep, function(deep.encrypt(x)), expected.repeat(256))


def test_layers_of_odd_widths_meet_their_bias_and_the_next_layer(deep: CompileRing) -> None:
    first, second, bias = matrix(6, 3) / 4, matrix(3, 5) / 4, torch.tensor([0.5, -0.25, 0.125])
    x = periodic(3)
    expected = (x[:6] @ first + bias) * bias @ second
    for inputs in ({"x": fc.encrypted(slots=PERIOD)}, None):  # known to repeat, and not known
        function = fc.compile(
            lambda x: (x @ first + bias) * bias @ second, inputs=inputs, keys=[deep.keys]
        )
        found = function(deep.encrypt(x))
        padded = torch.nn.functional.pad(expected, (0, 3))
        require_right(deep, found, padded.repeat(64))


@pytest.mark.parametrize("inputs", [{"x": fc.encrypted(slots=PERIOD)}, None])
def test_a_sum_after_a_matrix_product_takes_its_columns_alone(
    deep: CompileRing, inputs: dict[str, fc.InputSpec] | None
) -> None:
    weights, x = matrix(8, 4) / 4, periodic(2)
    function = fc.compile(lambda x: (x @ weights + 0.25).sum(), inputs=inputs, keys=[deep.keys])
    expected = (x[:8] @ weights + 0.25).sum().expand(512)
    require_right(deep, function(deep.encrypt(x)), expected)


@pytest.mark.parametrize("function", [torch.sum, lambda y: torch.roll(y, 1)])
def test_what_fills_a_period_up_is_no_value(ring: CompileRing, function: Any) -> None:
    weights = matrix(8, 3)
    with pytest.raises(CaptureError, match=r"3 values in a period of 4 .*columns of zeros, 4 in"):
        ring.capture(lambda x: function(x @ weights + 1), x=fc.encrypted(slots=8))


@pytest.mark.parametrize("function", [torch.sum, lambda w: torch.roll(w + 1, 1)])
def test_public_vectors_that_are_passed_are_rolled_before(ring: CompileRing, function: Any) -> None:
    compiled = fc.compile(lambda x, w: x * function(w), keys=[ring.keys])
    with pytest.raises(PassError, match=r"public one that a run passes.*before the call"):
        compiled(ring.encrypt(clear_message(1)), clear_message(2))


@pytest.mark.parametrize("spec", [fc.encrypted, fc.plaintext, fc.message])
@pytest.mark.parametrize("slots", [0, 30])
def test_a_period_is_a_power_of_two(spec: Any, slots: int) -> None:
    with pytest.raises(CompileInputError, match=r"no power of two.*zeros and say slots=(1|32)"):
        spec(slots=slots)


def test_sums_of_slots(deep: CompileRing) -> None:
    x = 0.1 * clear_message(4)
    found = fc.compile(lambda x: torch.sum(x), keys=[deep.keys])(deep.encrypt(x))
    require_right(deep, found, x.sum().expand(512))
    x = periodic(5)
    spec = {"x": fc.encrypted(slots=PERIOD)}
    centred = fc.compile(lambda x: x - x.sum(-1) / PERIOD, inputs=spec, keys=[deep.keys])
    require_right(deep, centred(deep.encrypt(x)), x - x[:PERIOD].mean())


def test_means_are_over_the_vector_s_own_length(deep: CompileRing) -> None:
    x = periodic(5)
    for spec in ({}, {"x": fc.encrypted(slots=PERIOD)}):
        centred = fc.compile(lambda x: x - x.mean(-1), inputs=spec, keys=[deep.keys])
        require_right(deep, centred(deep.encrypt(x)), x - x.mean())
    weights = torch.linspace(-1, 1, PERIOD * 8, dtype=torch.float64).reshape(PERIOD, 8)
    layer = fc.compile(lambda x: torch.mean(x @ weights), inputs=spec, keys=[deep.keys])
    require_right(deep, layer(deep.encrypt(x)), (x[:PERIOD] @ weights).mean().expand(512))
    with pytest.raises(CaptureError, match=r"mean meets a vector of 7 values.*sum\(\) / 7"):
        fc.compile(lambda x: (x @ weights[:, :7]).mean(), inputs=spec)(deep.encrypt(x))


def test_summands_have_a_factor(ring: CompileRing) -> None:
    x, y = clear_message(8), clear_message(9)

    def function(x, y):
        total = torch.add(x, y, alpha=0.5) - torch.sub(y, 1, alpha=0.25)
        return torch.sub(total, torch.ones(512), alpha=2)

    found = fc.compile(function, keys=[ring.keys])(ring.encrypt(x), ring.encrypt(y))
    require_right(ring, found, function(x, y))


@pytest.mark.parametrize("exponent", range(1, 9))
def test_powers(ring: CompileRing, exponent: int) -> None:
    x = clear_message(6)
    found = fc.compile(lambda x: x**exponent, keys=[ring.keys])(ring.encrypt(x))
    require_right(ring, found, x**exponent)
    assert found.depth == math.ceil(math.log2(exponent))


POLYNOMIALS = [
    [0.5, 0.25],
    [0.0, 0.0, 1.0],
    [0.25, -0.5, 0.0, 0.125],
    [0.1, 0.0, -0.2, 0.0, 0.3, 0.0],
    [0.01 * k for k in range(1, 8)],
    [0.5, 0.0],
    [0.0, 0.0],
]


@pytest.mark.parametrize("coefficients", POLYNOMIALS, ids=str)
def test_polynomials(ring: CompileRing, coefficients: list[float]) -> None:
    x = clear_message(7)
    function = fc.compile(lambda x: fc.polynomial(x, coefficients), keys=[ring.keys])
    found = function(ring.encrypt(x, output_domain="ntt"))
    require_right(ring, found, fc.polynomial(x, coefficients))


def test_a_polynomial_of_high_degree_takes_few_products() -> None:
    coefficients = [1 / (k + 1) for k in range(32)]
    function = fc.compile(
        lambda x: fc.polynomial(x, coefficients),
        config=CkksConfig.parse(Preset.slots8192_scale40_depth7_int64),
        inputs={"x": fc.encrypted(depth=0, polynomial_domain="ntt")},
    )
    ready = function.prepare()
    names = [operation.name for operation in ready.program.operations]
    products = sum(
        names.count(f"ckks.{name}") for name in ("multiply", "square", "multiply_rescale")
    )
    assert products <= 14
    assert ready.program.outputs[0].type.known["depth"] <= 6


def test_what_does_not_fit_is_named(ring: CompileRing) -> None:
    weights = matrix(16, 2)
    function = fc.compile(
        lambda x: x @ weights, inputs={"x": fc.encrypted(slots=8)}, config=ring.config
    )
    with pytest.raises(PassError, match=r"\[16, 2\], the vector has a period of 8"):
        function.prepare()
    captured = ring.capture(lambda x: x @ weights, x=fc.encrypted(slots=16))
    with pytest.raises(PassError, match=r"semantic.matrix_product.*ExpandMatrixProductsPass"):
        fc.Pipeline((fc.LowerSemanticToLogicalPass(),)).run(captured)
