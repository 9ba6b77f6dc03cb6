"""Regions of coefficient-wise operations: one call, the residues of the operations one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fhelium import Ciphertext
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.rns.arithmetic import NativeRnsLinearImplementation
from fhelium.ir.dialects import ckks
from tests.compile.support import CompileRing

NUMBERS = torch.linspace(-1, 1, 512, dtype=torch.float64)


def executable(
    ring: CompileRing, function: Callable[..., Any], *values: Ciphertext, registry: Any = None
) -> fc.ProgramExecutable:
    """Link calls of an Engine as they are written, but for nothing that would fuse them."""
    names = ("x", "y")[: len(values)]
    specs = {
        name: fc.encrypted(
            depth=value.depth, scale=value.scale, polynomial_domain=value.polynomial_domain
        )
        for name, value in zip(names, values, strict=True)
    }
    wrapped = {
        1: lambda engine, x: function(engine, x),
        2: lambda engine, x, y: function(engine, x, y),
    }
    compilation = ring.capture(wrapped[len(values)], engine=fc.engine(), **specs)
    assert ring.bind(compilation) == ()
    return OperationBackend(registry).link(compilation)


def calls_of(program: fc.ProgramExecutable) -> tuple[int, int]:
    """Return how many calls are regions and how many are not."""
    found = re.findall(r"= (region|execute)_\d+\(", program.source)
    return found.count("region"), found.count("execute")


CASES: dict[str, tuple[int, Callable[..., Any]]] = {
    "sums": (1, lambda e, x, y: e.subtract(e.add(x, y), e.negate(e.subtract(y, x)))),
    "many": (1, lambda e, x, y: e.subtract(x, e.add_many([x, y, x, y, y]))),
    "negated": (1, lambda e, x, y: e.add_scalar(e.negate(e.add(x, y)), 0.25)),
    "scalars": (
        1,
        lambda e, x, y: e.subtract(e.multiply_scalar(x, 0.5), e.multiply_scalar(y, -0.25)),
    ),
    "products": (
        1,
        lambda e, x, y: e.subtract(
            e.add(e.multiply(x, y), e.square(e.add(x, y))), e.multiply(e.subtract(x, y), y)
        ),
    ),
    "a product and a summand": (
        1,
        lambda e, x, y: e.add(e.add(e.multiply(x, y), e.square(x)), e.multiply(y, x)),
    ),
    "plaintexts": (
        1,
        lambda e, x, y: e.subtract(
            e.sum_plaintext_products([x, y, x], [prepared(e, x, k) for k in (1, 2, 3)]),
            e.multiply_plaintext(y, prepared(e, x, 4)),
        ),
    ),
    "a plaintext of a product": (
        1,
        lambda e, x, y: e.negate(e.multiply_plaintext(e.multiply(x, y), prepared(e, x, 2))),
    ),
    "a summand": (
        1,
        lambda e, x, y: e.subtract(
            e.add_plaintext(x, e.prepare_plaintext(NUMBERS, x, "add")), e.add(x, y)
        ),
    ),
    "two results": (1, lambda e, x, y: [e.add(e.add(x, y), y), e.negate(e.rotate_by_step(x, 1))]),
    "a value that is read twice": (1, lambda e, x, y: twice(e, e.add(x, y), y)),
    "an operand as it is": (0, lambda e, x, y: summands(e, x)),
    "more rows than there is room for": (0, lambda e, x, y: pyramid(e, x, y, 40)),
}


def prepared(engine: Any, like: Any, factor: int) -> Any:
    return engine.prepare_plaintext(NUMBERS / factor, like=like)


def twice(engine: Any, value: Any, other: Any) -> Any:
    """Read a value in two ways inside one region."""
    return engine.subtract(engine.add(value, other), engine.negate(value))


def summands(engine: Any, value: Any) -> Any:
    for number in (NUMBERS, -NUMBERS / 2):
        encoded = engine.prepare_plaintext(number, value, "add")
        value = engine.add_plaintext(value, encoded)
    return value


def pyramid(engine: Any, x: Any, y: Any, count: int) -> Any:
    """Keep many values until the end."""
    values = [engine.add(x, y)]
    for _ in range(count):
        values.append(engine.subtract(y, values[-1]))
    total = values[0]
    for value in values[1:]:
        total = engine.subtract(value, total)
    return total


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_residues_are_those_of_the_engine(
    ring: CompileRing, name: str, batch: tuple[int, ...]
) -> None:
    regions, function = CASES[name]
    values = [
        ring.encrypt(torch.full((*batch, 512), number) / 8, output_domain="ntt")
        for number in (0.5, -0.25)
    ]
    program = executable(ring, function, *values)
    assert calls_of(program)[0] == regions, program.source
    found, expected = program.run(*values), function(ring.engine, *values)
    for one, other in zip(listed(found), listed(expected), strict=True):
        assert torch.equal(one.data, other.data)
        assert one.state == other.state


def listed(values: Any) -> Any:
    return values if isinstance(values, list | tuple) else [values]


def test_coefficients_are_added_in_one_pass_too(ring: CompileRing) -> None:
    def function(engine, x, y):
        return engine.add_scalar(engine.subtract(engine.add(x, y), engine.negate(y)), 0.5)

    x, y = ring.encrypt(0.25), ring.encrypt(0.5)
    program = executable(ring, function, x, y)
    assert calls_of(program) == (1, 1)  # the number joins coefficient 0 alone
    assert torch.equal(program.run(x, y).data, function(ring.engine, x, y).data)


class OwnSum(NativeRnsLinearImplementation):
    """A sum that is not the built-in one's, and says so."""

    name = "own-sum"
    operation_types = (ckks.AddOp,)
    calls = 0

    def execute(self, invocation, inputs, resources, *, in_place):
        type(self).calls += 1
        return super().execute(invocation, inputs, resources, in_place=in_place)


def test_an_implementation_of_ones_own_is_called(ring: CompileRing) -> None:
    registry = OperationBackend().registry.extended(OwnSum()).preferring("own-sum")
    x = ring.encrypt(0.25)
    program = executable(
        ring, lambda engine, x: engine.negate(engine.add(x, x)), x, registry=registry
    )
    program.run(x)
    assert OwnSum.calls == 1
    assert calls_of(program) == (0, 2)


def test_values_are_let_go_where_the_region_has_read_them(ring: CompileRing) -> None:
    def function(engine, x):
        one, two = engine.rotate_by_step(x, 1), engine.rotate_by_step(x, 3)
        return engine.add(engine.subtract(one, x), engine.rotate_by_step(engine.add(one, two), 1))

    x = ring.encrypt(0.5, output_domain="ntt")
    program = executable(ring, function, x)
    lines = [line.strip() for line in program.source.splitlines()]
    (end,) = [index for index, line in enumerate(lines) if "region" in line]
    assert lines[end + 1].startswith("del ")
    assert torch.equal(program.run(x).data, function(ring.engine, x).data)
