"""Each placement pass on a small Program: text in, text out."""

from __future__ import annotations

import re

import pytest
import torch

from fhelium import compile as fc
from fhelium.compile.passes.schedule_operations import peak_limbs
from fhelium.errors import DepthExhaustedError, LinkError, PassError
from tests.compile.support import CompileRing

LOWER = (
    fc.LowerSemanticToLogicalPass(),
    fc.OpenStatesPass(),
    fc.LowerLogicalToCkksPass(),
)
ASSIGN = (fc.AssignCkksDepthsPass(), fc.AssignCkksScalesPass())
PLACE = (*LOWER, *ASSIGN, fc.PlaceRelinearizationsPass(), fc.PlaceRescalesPass())
ALIGN = (*PLACE, fc.AlignOperandsPass(), fc.EliminateDeadValuesPass())


def shown(program: fc.Program) -> str:
    """Write operations as text without types, the dialect ckks left out."""
    lines = []
    for line in program.to_text().splitlines():
        found = re.match(r"\s*(.*?)\s*:\s*[(!]", line)
        if found and "func.func" not in line:
            text = found[1].replace('"', "").replace("ckks.", "")
            text = re.sub(r",? ?operandSegmentSizes = array<[^>]*>", "", text)
            lines.append(re.sub(r" <\{\}>| : [if]64", "", text))
    return "\n".join(lines)


def after(ring: CompileRing, function, *passes, **axes) -> str:
    """Return what passes make of a function of encrypted vectors."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    specs = {name: fc.encrypted(**{"polynomial_domain": "ntt", **axes}) for name in names}
    return shown(fc.Pipeline(passes).run(ring.capture(function, **specs)).program)


def test_relinearizations(ring: CompileRing) -> None:
    def function(x, y):
        return x * y + y * y

    late = after(ring, function, *LOWER, fc.PlaceRelinearizationsPass())
    assert (
        late
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = multiply(%x, %y)
%2 = square(%y)
%3 = add(%1, %2)
%4 = relinearize(%3, %0)
func.return %4"""
    )
    immediate = after(ring, function, *LOWER, fc.PlaceRelinearizationsPass("immediate"))
    assert (
        immediate
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = multiply(%x, %y)
%2 = relinearize(%1, %0)
%3 = square(%y)
%4 = relinearize(%3, %0)
%5 = add(%2, %4)
func.return %5"""
    )
    rotated = after(ring, lambda x: torch.roll(x * x, 1), *LOWER, fc.PlaceRelinearizationsPass())
    assert (
        rotated
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = square(%x)
%2 = relinearize(%1, %0)
%3 = rotate(%2) <{step = 1}>
func.return %3"""
    )


def test_rescales(ring: CompileRing) -> None:
    def function(x, y):
        return 0.5 * x + 0.25 * y

    late = after(ring, function, *PLACE)
    assert (
        late
        == """\
%0 = multiply_scalar(%x) <{value = 5.000000e-01}>
%1 = multiply_scalar(%y) <{value = 2.500000e-01}>
%2 = add(%0, %1)
%3 = rescale(%2)
func.return %3"""
    )
    immediate = after(ring, function, *PLACE[:-1], fc.PlaceRescalesPass("immediate"))
    assert (
        immediate
        == """\
%0 = multiply_scalar(%x) <{value = 5.000000e-01}>
%1 = rescale(%0)
%2 = multiply_scalar(%y) <{value = 2.500000e-01}>
%3 = rescale(%2)
%4 = add(%1, %3)
func.return %4"""
    )
    exact = after(ring, lambda x: torch.roll(x * x, 1) * x, *PLACE)
    assert exact.count("rescale") == 2


def test_alignment(ring: CompileRing) -> None:
    found = after(ring, lambda x, y: x * y + torch.roll(x, 1), *ALIGN)
    assert (
        found
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = multiply(%x, %y)
%2 = relinearize(%1, %0)
%3 = rescale(%2)
%4 = align(%x) <{depth = 1}>
%5 = rotate(%4) <{step = 1}>
%6 = add(%3, %5)
func.return %6"""
    )


def test_a_public_factor_absorbs_the_alignment(ring: CompileRing) -> None:
    found = after(ring, lambda x, y: torch.roll(0.5 * y, 1) + x * x * x, *ALIGN)
    assert (
        found
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = square(%x)
%2 = relinearize(%1, %0)
%3 = rescale(%2)
%4 = align(%x) <{depth = 1}>
%5 = multiply(%3, %4)
%6 = relinearize(%5, %0)
%7 = rescale(%6)
%8 = mod_switch(%y) <{depth = 1}>
%9 = multiply_scalar(%8) <{value = 5.000000e-01}>
%10 = rescale(%9)
%11 = rotate(%10) <{step = 1}>
%12 = add(%11, %7)
func.return %12"""
    )


def test_scales_that_differ_meet_one_depth_below(ring: CompileRing) -> None:
    inputs = {"x": fc.encrypted(scale=2.0**29, depth=0), "y": fc.encrypted(depth=0)}
    captured = ring.capture(lambda x, y: x + y, **inputs)
    found = fc.Pipeline(ALIGN).run(captured).program
    assert (
        shown(found)
        == """\
%0 = align(%x) <{depth = 1}>
%1 = align(%y) <{depth = 1}>
%2 = add(%0, %1)
func.return %2"""
    )


def test_ntt_transitions(ring: CompileRing) -> None:
    passes = (*LOWER, fc.PlaceNttTransitionsPass())
    sums = after(ring, lambda x, y: x + y, *passes, polynomial_domain="coefficient")
    assert sums == "%0 = add(%x, %y)\nfunc.return %0"
    found = after(ring, lambda x, y: x * y + x, *passes, polynomial_domain="coefficient")
    assert (
        found
        == """\
%x_1 = coefficient_to_ntt(%x)
%y_1 = coefficient_to_ntt(%y)
%0 = multiply(%x_1, %y_1)
%1 = add(%0, %x_1)
func.return %1"""
    )
    mixed = ring.capture(
        lambda x, y: x + y,
        x=fc.encrypted(polynomial_domain="ntt"),
        y=fc.encrypted(polynomial_domain="coefficient"),
    )
    assert (
        shown(fc.Pipeline(passes).run(mixed).program)
        == """\
%0 = coefficient_to_ntt(%y)
%1 = add(%x, %0)
func.return %1"""
    )


def test_public_vectors_are_prepared_once(ring: CompileRing) -> None:
    weights = torch.tensor([0.5, 0.25])
    passes = (*ALIGN, fc.PreparePlaintextsPass())
    found = after(ring, lambda x, y: x * weights + torch.roll(y, 1) * weights, *passes)
    assert (
        found
        == """\
%0 = core.constant() <{value = [5.000000e-01, 2.500000e-01]}>
%1 = codec.prepare_plaintext(%0, %x) <{for_ = multiply}>
%2 = multiply_plaintext(%x, %1)
%3 = rotate(%y) <{step = 1}>
%4 = multiply_plaintext(%3, %1)
%5 = add(%2, %4)
%6 = rescale(%5)
func.return %6"""
    )


def test_equal_values_are_computed_once(ring: CompileRing) -> None:
    found = after(ring, lambda x: (x + 1) * (x + 1), fc.ReuseValuesPass())
    assert (
        found
        == """\
%0 = semantic.add_scalar(%x) <{value = 1.000000e+00}>
%1 = semantic.multiply(%0, %0)
func.return %1"""
    )


def test_products_take_the_least_depth(ring: CompileRing) -> None:
    passes = (fc.BalanceProductsPass(), fc.EliminateDeadValuesPass(), fc.ReuseValuesPass())
    assert (
        after(ring, lambda x: x * x * x * x, *passes)
        == """\
%0 = semantic.multiply(%x, %x)
%1 = semantic.multiply(%0, %0)
func.return %1"""
    )
    assert (
        after(ring, lambda x, y: 3 * x * y * y, *passes)
        == """\
%0 = semantic.multiply_scalar(%y) <{value = 3.000000e+00}>
%1 = semantic.multiply(%x, %y)
%2 = semantic.multiply(%0, %1)
func.return %2"""
    )
    assert (
        after(ring, lambda x, y: x * y, *passes)
        == """\
%0 = semantic.multiply(%x, %y)
func.return %0"""
    )


def test_rotations_of_one_value_share_its_digits(ring: CompileRing) -> None:
    def function(x):
        return torch.roll(x, 1) + torch.roll(x, 3)

    found = after(ring, function, *ALIGN, fc.HoistRotationsPass())
    assert (
        found
        == """\
%0 = core.material() <{symbol = rotation-key:1}>
%1 = core.material() <{symbol = rotation-key:3}>
%2, %3 = rotate_many(%x, %0, %1) <{steps = [1, 3]}>
%4 = add(%2, %3)
func.return %4"""
    )


def test_sums_are_collected(ring: CompileRing) -> None:
    weights = [torch.tensor([float(k)]) for k in range(1, 3)]

    def products(x, y):
        return x * weights[0] + y * weights[1]

    found = after(ring, products, *ALIGN, fc.CollectSumsPass(), fc.EliminateDeadValuesPass())
    assert "%4 = sum_plaintext_products(%x, %y, %1, %3)\n%5 = rescale(%4)" in found
    many = after(ring, lambda x, y: x + y + x + (y + x), *ALIGN, fc.CollectSumsPass(5))
    assert "add_many(%x, %y, %x, %y, %x)" in many


def test_products_are_fused(ring: CompileRing) -> None:
    found = after(
        ring,
        lambda x, y: x * y - x * x,
        *PLACE[:-2],
        fc.PlaceRelinearizationsPass("immediate"),
        fc.PlaceRescalesPass("immediate"),
        fc.AlignOperandsPass(),
        fc.FuseOperationsPass(),
        fc.EliminateDeadValuesPass(),
    )
    assert (
        found
        == """\
%0 = core.material() <{symbol = relinearization-key}>
%1 = multiply_rescale(%x, %y, %0)
%2 = multiply_rescale(%x, %x, %0)
%3 = subtract(%1, %2)
func.return %3"""
    )
    shared = after(ring, lambda x, y: (x * y, x * y + x), *ALIGN, fc.FuseOperationsPass())
    assert "multiply_rescale" in shared


def test_a_schedule_needs_no_more_memory(ring: CompileRing) -> None:
    def function(x, y):
        rotated = [torch.roll(x, step) for step in (1, 3, -1, 5, 7)]
        total = rotated[0]
        for term in rotated[1:]:
            total = total + term
        return total

    axes = {"polynomial_domain": "ntt"}
    captured = ring.capture(function, x=fc.encrypted(**axes), y=fc.encrypted(**axes))
    placed = fc.Pipeline(ALIGN).run(captured)
    found = fc.Pipeline((fc.ScheduleOperationsPass(),)).run(placed)
    schedule = found.workspace[fc.MemorySchedule]
    assert schedule.order_changed
    assert schedule.peak_limbs == peak_limbs(found.program, ring.config)
    assert schedule.peak_limbs < peak_limbs(placed.program, ring.config)
    again = fc.Pipeline((fc.ScheduleOperationsPass(),)).run(found)
    assert not again.workspace[fc.MemorySchedule].order_changed


def test_placement_refuses_by_name(ring: CompileRing) -> None:
    captured = ring.capture(lambda x, y: x * y, x=fc.encrypted(), y=fc.encrypted())
    with pytest.raises(PassError, match=r"input x.*depth is not known.*AssignCkksDepthsPass"):
        fc.Pipeline((*LOWER, fc.AlignOperandsPass())).run(captured)
    with pytest.raises(LinkError, match="states are open"):
        ring.link(fc.Pipeline((*LOWER, *ASSIGN)).run(captured))
    deep = ring.capture(lambda x: x * x * x * x * x, x=fc.encrypted())
    with pytest.raises(DepthExhaustedError, match=r"operation \d+ \(ckks\.rescale\)"):
        fc.Pipeline(ALIGN).run(deep)


def test_a_placed_program_stays_as_it_is(ring: CompileRing) -> None:
    captured = ring.capture(lambda x, y: x * y + 1, x=fc.encrypted(), y=fc.encrypted())
    pipeline = fc.default_lower_and_fuse_pipeline()
    placed = pipeline.run(captured)
    assert pipeline.run(placed).program.to_text() == placed.program.to_text()
