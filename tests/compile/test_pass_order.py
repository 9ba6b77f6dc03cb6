"""Passes in any order: a right Program or an error that names what is wrong."""

from __future__ import annotations

from contextlib import suppress

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.errors import FHEliumError
from tests.compile.support import TO_CKKS, CompileRing
from tests.compile.test_compiled_functions import clear_message, require_right
from tests.compile.test_routes import require_equal

REGISTRY = OperationBackend().registry
PLACEMENT = (
    fc.OpenStatesPass(),
    fc.BalanceProductsPass(),
    fc.PlaceNttTransitionsPass(),
    fc.PlaceRelinearizationsPass(),
    fc.PlaceRelinearizationsPass("immediate"),
    fc.PlaceRescalesPass(),
    fc.PlaceRescalesPass("immediate"),
    fc.AlignOperandsPass(),
    fc.PreparePlaintextsPass(),
    fc.ReuseValuesPass(),
    fc.CollectSumsPass(),
    fc.HoistRotationsPass(),
    fc.FuseOperationsPass(),
    fc.ScheduleOperationsPass(),
)
PASSES = (
    *TO_CKKS,
    *PLACEMENT,
    fc.EliminateDeadValuesPass(),
    fc.AssignNttImplementationPass("native-ntt", ntt_backend="radix2_indexed"),
    fc.LowerCkksToRnsNttPass(),
    fc.SelectNttImplementationsPass(REGISTRY),
    fc.PrepareOperationOperandsPass(REGISTRY),
    fc.ValidateForLinkingPass(),
    fc.EmitEagerPythonPass(),
    fc.EmitBackendPythonPass(),
)


def function(x, y, shift):
    unused = x * 0.5  # noqa: F841
    return torch.roll(x - y, shift) + 0.25, 2 - x


@pytest.fixture(scope="module")
def captured(ring: CompileRing) -> fc.Compilation:
    given_type = fc.encrypted(polynomial_domain="coefficient")
    return ring.capture(function, x=given_type, y=given_type, shift=fc.static(3))


@pytest.fixture(scope="module")
def values(ring: CompileRing) -> list:
    return [ring.encrypt(number) for number in (0.25, 0.5)]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(order=st.lists(st.sampled_from(PASSES), max_size=10))
def test_any_order(ring: CompileRing, captured, values, order) -> None:
    text, current = captured.program.to_text(), captured
    for step in order:
        with suppress(FHEliumError):  # named, and the compilation is as it was
            current = fc.Pipeline((step,)).run(current)
    assert captured.program.to_text() == text
    # Whatever was done so far, the rest of the way leads to the same values.
    linked = ring.link(fc.Pipeline((*TO_CKKS, fc.AlignOperandsPass())).run(current))
    engine, (x, y) = ring.engine, values
    expected = (
        engine.add_scalar(engine.rotate_by_step(engine.subtract(x, y), 3), 0.25),
        engine.add_scalar(engine.negate(x), 2.0),
    )
    require_equal({"linked": linked.run(x, y)}, expected)


def structured(x, y, rounds, flip):
    moved = fc.repeat(rounds, lambda a: torch.roll(a, 1) + 0.25 * y, x)
    chosen = torch.cond(flip & (rounds > 0), lambda: moved * y, lambda: moved - x)
    return chosen + 0.5, fc.repeat(2, lambda a: moved - a, y)


@pytest.fixture(scope="module")
def captured_loop(ring: CompileRing) -> fc.Compilation:
    specs = [fc.encrypted(polynomial_domain=domain) for domain in ("coefficient", "ntt")]
    inputs = {"rounds": fc.count(), "flip": fc.condition()}
    return ring.capture(structured, x=specs[0], y=specs[1], **inputs)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(order=st.lists(st.sampled_from((*PASSES, fc.UnrollControlFlowPass())), max_size=10))
def test_any_order_around_loops_and_branches(ring: CompileRing, captured_loop, order) -> None:
    current = captured_loop
    for step in order:
        with suppress(FHEliumError):
            current = fc.Pipeline((step,)).run(current)
    text = current.program.to_text()
    assert fc.Program.parse(text).to_text() == text
    try:
        linked = ring.link(fc.default_lower_and_fuse_pipeline().run(current))
    except FHEliumError as error:
        assert "operation " in str(error)  # noqa: PT017
        return
    x, y = clear_message(41), clear_message(42)
    values = ring.encrypt(x), ring.encrypt(y, output_domain="ntt")
    for numbers in ((0, True), (2, True), (1, False)):
        expected = structured(x, y, *numbers)
        for found, wanted in zip(linked.run(*values, *numbers), expected, strict=True):
            require_right(ring, found, wanted)


def test_a_pass_with_nothing_to_do_changes_nothing(captured) -> None:
    for step in set(PASSES[3:-3]) - {fc.OpenStatesPass(), fc.ScheduleOperationsPass()}:
        if isinstance(step, fc.AssignCkksDepthsPass | fc.AssignCkksScalesPass):
            continue  # an input of any stage can be put at a depth
        if isinstance(step, fc.AssignNttImplementationPass | fc.EliminateDeadValuesPass):
            continue  # one notes a choice, the other finds the unused product
        assert fc.Pipeline((step,)).run(captured).program.to_text() == captured.program.to_text()
