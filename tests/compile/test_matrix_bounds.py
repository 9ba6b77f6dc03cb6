"""Bounds of products with matrices: what the matrix says, and never less than a slot can be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import torch

from fhelium import DecryptPolicy
from fhelium import compile as fc
from fhelium.errors import KeyMismatchError, StateError
from fhelium.ir.dialects.core import ConstantOp
from fhelium.ir.dialects.semantic import BoundByOp, SemanticOperation
from tests.compile.support import CompileRing

SLOTS = 512
SHAPES = [(8, 8), (30, 7), (7, 30), (5, 1), (1, 5), (32, 3), (17, 16)]
"""Odd ones, and wider and narrower ones than a period."""


def dyadic(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    """Return a matrix whose products with small integers are exact in doubles."""
    generator = torch.Generator().manual_seed(97 * rows + columns + seed)
    return torch.randint(-255, 256, (rows, columns), generator=generator).double() / 256


def signs(weights: torch.Tensor) -> list[torch.Tensor]:
    """Return vectors of 1 and -1: a random one, and the worst for some columns, also displaced."""
    generator = torch.Generator().manual_seed(3)
    found = [2.0 * torch.randint(0, 2, (SLOTS,), generator=generator).double() - 1]
    sums = weights.abs().sum(dim=0)
    for column in weights.T[[int(sums.argmax()), int(sums.argmin())]]:
        worst = torch.where(column < 0, -1.0, 1.0).double()
        filled = torch.nn.functional.pad(worst, (0, 32 - len(worst)), value=1.0)
        found += [torch.roll(filled, k).repeat(SLOTS // 32) for k in (0, 3)]
    return found


def period_of(slots: int | None) -> int:
    return SLOTS if slots is None else slots


def product_anywhere(x: torch.Tensor, weights: torch.Tensor, period: int) -> torch.Tensor:
    """Return what every slot holds, also where x does not have the period that was said."""
    rows, columns = weights.shape
    width = 1 << (columns - 1).bit_length()
    matrix = torch.nn.functional.pad(weights, (0, width - columns, 0, period - rows))
    place = torch.arange(SLOTS)
    return torch.stack(
        [
            x[(place + o) % SLOTS] * matrix[(place + o) % period, place % width]
            for o in range(period)
        ]
    ).sum(dim=0)


@pytest.mark.parametrize("slots", [32, 64, None])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_slot_of_any_sum_exceeds_what_is_said(
    ring: CompileRing, shape: tuple[int, int], slots: int | None
) -> None:
    weights = dyadic(*shape)
    captured = ring.capture(lambda x: x @ weights, x=fc.encrypted(slots=slots))
    for baby_steps in (None, 1, 32):
        expand = fc.ExpandMatrixProductsPass(baby_steps=baby_steps)
        program = fc.Pipeline((expand,)).run(captured).program
        for x in signs(weights):
            expected = product_anywhere(x, weights, period_of(slots))
            assert torch.equal(value_of(program, x), expected)  # exact: x has any period


def value_of(program: fc.Program, x: torch.Tensor) -> torch.Tensor:
    """Compute a semantic Program of one input, and hold what it says of bounds to the values."""
    known = {program.inputs[0].value: x}
    for operation in program.operations:
        if isinstance(operation, ConstantOp):
            numbers = operation.numbers()
            known[operation.result] = numbers.repeat(SLOTS // len(numbers))
        elif isinstance(operation, SemanticOperation):
            operands = [known[value] for value in operation.operands]
            options = operation.python_attributes()
            known[operation.result] = operation.reference(*operands, **options)
            if isinstance(operation, BoundByOp):
                assert torch.equal(operands[1], x)
                assert float(operands[0].abs().max()) <= options["factor"]
    return known[program.outputs[0]]


def factors_of(ring: CompileRing, weights: torch.Tensor) -> list[float]:
    """Return how many times its vector a product's sums are said to be."""
    captured = ring.capture(lambda x: x @ weights, x=fc.encrypted())
    program = fc.Pipeline((fc.ExpandMatrixProductsPass(),)).run(captured).program
    said = [op for op in program.operations if isinstance(op, BoundByOp)]
    return [operation.python_attributes()["factor"] for operation in said]


@pytest.mark.parametrize("rows", [1, 2, 3, 30, 255])
def test_the_column_sum_is_never_rounded_down(ring: CompileRing, rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    for size in (0.0, 20.0, 600.0):
        spread = torch.rand(rows, 3, dtype=torch.float64, generator=generator) - 0.5
        weights = 0.1 * torch.exp2(size * spread)
        said = factors_of(ring, weights)
        largest = max(sum(map(Fraction, column)) for column in weights.T.tolist())
        assert said
        for bound in (1.0, 0.1, 3.7):
            assert all(largest * Fraction(bound) <= Fraction(f * bound) for f in said)
            assert all(f * bound < float(largest * Fraction(bound)) * (1 + 1e-12) for f in said)


def compiled(ring: CompileRing, function: Any, slots: int | None) -> fc.CompiledFunction:
    """Compile a function of one vector and make the keys that it needs."""
    found = fc.compile(function, inputs={"x": fc.encrypted(slots=slots)}, config=ring.config)
    spec = {"x": fc.encrypted(slots=slots, depth=0, polynomial_domain="ntt")}
    needed = fc.compile(function, inputs=spec, config=ring.config).prepare().key_requirements
    found.add_keys(ring.engine.create_evaluation_keys(ring.secret_key, steps=needed.steps))
    return found


def clear(ring: CompileRing, value: Any) -> torch.Tensor:
    return ring.engine.decrypt_message(
        value, ring.secret_key, real=True, policy=DecryptPolicy.private()
    )


@pytest.mark.parametrize("slots", [32, None])
@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (5, 1)])
def test_runs_stay_within_both_bounds_and_reach_the_worst(
    ring: CompileRing, shape: tuple[int, int], slots: int | None
) -> None:
    weights = dyadic(*shape)
    function = compiled(ring, lambda x: x @ weights, slots)
    column_sums = weights.abs().sum(dim=0)
    reached = 0.0
    worst = torch.where(weights[:, int(column_sums.argmax())] < 0, -1.0, 1.0).double()
    periodic = torch.nn.functional.pad(worst, (0, 32 - len(worst)), value=1.0).repeat(SLOTS // 32)
    for x in (periodic, signs(weights)[0]):  # the last one has no period
        found = function(ring.encrypt(x, output_domain="ntt"))
        exact = product_anywhere(x, weights, period_of(slots))
        assert float(exact.abs().max()) <= found.message_bound
        assert float((clear(ring, found) - exact).abs().max()) <= found.noise_bound
        assert found.message_bound <= float(column_sums.max()) * (1 + 1e-12)
        reached = max(reached, float(exact.abs().max()) / found.message_bound)
        ring.engine.decrypt_message(found, ring.secret_key)
    assert reached > 1 - 1e-12


def test_layers_on_all_slots_fit_where_the_bounds_of_their_terms_would_not(
    ring: CompileRing,
) -> None:
    first, second, x = dyadic(30, 7), dyadic(7, 3), signs(dyadic(30, 7))[1]
    found = compiled(ring, lambda x: (x @ first) @ second, None)(ring.encrypt(x))
    expected = (x[:30] @ first) @ second
    assert float((clear(ring, found)[:3] - expected).abs().max()) <= found.noise_bound
    norms = [float(weights.abs().sum(dim=0).max()) for weights in (first, second)]
    assert float(expected.abs().max()) <= found.message_bound <= norms[0] * norms[1] * (1 + 1e-12)


def test_a_relation_tightens_a_bound_and_nothing_else(ring: CompileRing) -> None:
    engine, x = ring.engine, ring.encrypt(torch.full((SLOTS,), 0.5).double(), message_bound=0.75)
    total = engine.add(x, x)
    tight = engine.bound_by(total, x, 1.5)
    assert (tight.message_bound, tight.noise_bound) == (1.125, total.noise_bound)
    assert torch.equal(tight.data, total.data)
    assert engine.bound_by(total, x, 4.0).message_bound == total.message_bound
    for factor in (0.0, -1.0, float("inf"), float("nan"), True, "1"):
        with pytest.raises(StateError, match="factor is"):
            engine.bound_by(total, x, factor)
    other_key = engine.create_secret_key()
    foreign = engine.encrypt_message(0.5, engine.create_public_key(other_key))
    with pytest.raises(KeyMismatchError, match="the other"):
        engine.bound_by(total, foreign, 1.5)
