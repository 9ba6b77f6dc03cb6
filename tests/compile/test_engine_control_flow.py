"""Loops and branches that a run decides, in functions written against the Engine."""

from __future__ import annotations

import pytest
import torch

from fhelium import compile as fc
from fhelium.errors import CaptureError
from tests.compile.support import CompileRing
from tests.compile.test_compiled_functions import clear_message


def test_functions_of_the_engine_loop_and_branch_as_the_engine_does(ring: CompileRing) -> None:
    def function(engine, x, y, rounds, flip):
        def body(a, b):
            moved = engine.rotate_by_step(a, 1)
            inner = fc.repeat(rounds - 1, lambda c: engine.subtract(c, y), b)
            return engine.add(moved, y), inner

        x, y = fc.repeat(rounds + 1, body, x, y)
        return torch.cond(
            flip & (rounds > 1),
            lambda v: engine.rescale_to_next_depth(engine.multiply_scalar(v, 0.5)),
            lambda v: engine.align_to_depth(engine.add(x, y), 1),
            (x,),
        )

    inputs = {"engine": fc.engine(), "rounds": fc.count(), "flip": fc.condition()}
    compiled = fc.compile(function, keys=[ring.keys], inputs=inputs)
    values = [ring.encrypt(v, output_domain="ntt") for v in (clear_message(35), clear_message(36))]
    for numbers in ((0, True), (2, True), (3, False)):
        expected = function(ring.engine, *values, *numbers)
        found = compiled(*values, *numbers)
        assert torch.equal(found.data, expected.data)
        assert found.state == expected.state
    (ready,) = compiled.specializations
    assert ready.program.to_text().count("scf.for") == 2


def test_wrong_control_flow_of_an_engine_is_named_at_its_line(ring: CompileRing) -> None:
    leaked = []

    def keep(engine, x):
        leaked.append(engine.negate(x))
        return x

    wrong = {
        "a loop carries depth 0 into a round and depth 1 out": lambda e, x, n, c: fc.repeat(
            n, lambda a: e.multiply_and_rescale(a, a), x
        ),
        "the branches give polynomial domain ntt and polynomial domain coefficient": (
            lambda e, x, n, c: torch.cond(
                c, lambda: x, lambda: e.ntt_domain_to_coefficient_domain(x)
            )
        ),
        "a loop carries 1 values into a round and 2": lambda e, x, n, c: fc.repeat(
            n, lambda a: (a, a), x
        ),
        "a float leaves": lambda e, x, n, c: torch.cond(c, lambda: x, lambda: 1.0),
        "Python decides by a public number": lambda e, x, n, c: x if c else e.negate(x),
        "condition of a branch is a vector.*public": lambda e, x, n, c: torch.cond(
            x, lambda: x, lambda: x
        ),
        "a loop's bound is a vector": lambda e, x, n, c: fc.repeat(x, lambda a: a, x),
        "a public int meets a float": lambda e, x, n, c: fc.repeat(n * 0.5, lambda a: a, x),
        "of a loop or branch that ended": lambda e, x, n, c: e.add(
            fc.repeat(n, lambda a: keep(e, a), x), leaked[-1]
        ),
    }
    for shown, function in wrong.items():
        with pytest.raises(CaptureError, match=shown) as found:
            ring.capture(
                function,
                e=fc.engine(), n=fc.count(), c=fc.condition(),
                x=fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain="ntt"),
            )  # fmt: skip
        assert __file__ in found.value.operation
