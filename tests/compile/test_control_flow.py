"""Loops and branches with public bounds and conditions: captured, written out, or refused."""

from __future__ import annotations

import pytest
import torch

from fhelium import compile as fc
from fhelium.errors import CaptureError, LinkError, PassError, ProgramError, PythonCodegenError
from tests.compile.support import CompileRing
from tests.compile.test_compiled_functions import clear_message, require_right

CIPHERTEXT = "!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>"


def text_of(bound: str, condition: str = "true") -> str:
    """Write a Program that negates in a loop and adds under a condition."""
    return f"""
    func.func @f(%x: {CIPHERTEXT} {{core.name = "x"}}) -> {CIPHERTEXT} {{
      %first = arith.constant 0 : index
      %last = {bound}
      %step = arith.constant 1 : index
      %condition = arith.constant {condition}
      %0 = scf.for %k = %first to %last step %step iter_args(%v = %x) -> ({CIPHERTEXT}) {{
        %1 = "ckks.add_scalar"(%v) <{{value = 0.25 : f64}}> : ({CIPHERTEXT}) -> {CIPHERTEXT}
        scf.yield %1 : {CIPHERTEXT}
      }}
      %2 = scf.if %condition -> ({CIPHERTEXT}) {{
        %3 = "ckks.negate"(%0) : ({CIPHERTEXT}) -> {CIPHERTEXT}
        scf.yield %3 : {CIPHERTEXT}
      }} else {{
        scf.yield %0 : {CIPHERTEXT}
      }}
      func.return %2 : {CIPHERTEXT}
    }}"""


THREE = "arith.constant 3 : index"


def test_a_loop_is_captured_once_and_computes_every_round(ring: CompileRing) -> None:
    rounds = []

    def function(x, y, count):
        def body(a, b):
            rounds.append(count)
            return a * b + 0.5 * x, torch.roll(b, 1)

        return fc.repeat(count, body, x, y)

    captured = ring.capture(function, x=fc.encrypted(), y=fc.encrypted(), count=fc.static(2))
    assert rounds == [2]
    text = captured.program.to_text()
    assert text.count("scf.for") == text.count('"semantic.multiply"') == 1
    assert fc.Program.parse(text).to_text() == text
    compiled = fc.compile(function, keys=[ring.keys])
    x, y = clear_message(21), clear_message(22)
    expected = function(x, y, 2)
    found = compiled(ring.encrypt(x), ring.encrypt(y), 2)
    for result, wanted in zip(found, expected, strict=True):
        require_right(ring, result, wanted)
    assert compiled(ring.encrypt(x), ring.encrypt(y), 1)[0].depth < found[0].depth


def test_loops_in_loops(ring: CompileRing) -> None:
    weights = torch.tensor([0.5, -0.5])

    def function(x):
        def outer(a):
            return fc.repeat(2, lambda b: torch.roll(b, 1) - weights, a) * 0.5

        return fc.repeat(2, outer, x)

    x = clear_message(23)
    compiled = fc.compile(function, keys=[ring.keys])
    tiled = weights.repeat(256)
    expected = x
    for _ in range(2):
        for _ in range(2):
            expected = torch.roll(expected, 1) - tiled
        expected = 0.5 * expected
    require_right(ring, compiled(ring.encrypt(x)), expected)
    assert torch.equal(fc.repeat(0, lambda a: a + 1, x), x)


@pytest.mark.parametrize("condition", ["true", "false"])
def test_programs_with_control_flow_run(ring: CompileRing, condition: str) -> None:
    compilation = ring.parse(text_of(THREE, condition))
    unrolled = fc.Pipeline((fc.UnrollControlFlowPass(),)).run(compilation)
    names = [operation.name for operation in unrolled.program.operations]
    assert names.count("ckks.add_scalar") == 3
    assert names.count("ckks.negate") == (condition == "true")
    x = clear_message(24)
    found = ring.link(unrolled).run(ring.encrypt(x, output_domain="ntt"))
    require_right(ring, found, -(x + 0.75) if condition == "true" else x + 0.75)


def test_what_is_not_written_out_is_refused_by_name(ring: CompileRing) -> None:
    compilation = ring.parse(text_of(THREE))
    for step in (fc.EmitEagerPythonPass(), fc.EmitBackendPythonPass()):
        with pytest.raises(PythonCodegenError, match=r"\(scf.for\): it is control flow"):
            fc.Pipeline((step,)).run(ring.parse(text_of(THREE)))
    with pytest.raises(LinkError, match=r"\(scf.for\): it is control flow.*UnrollControlFlowPass"):
        ring.link(compilation)
    captured = ring.capture(lambda x: fc.repeat(2, lambda a: -a, x), x=fc.encrypted())
    with pytest.raises(PassError, match=r"\(scf.for\): it is control flow.*UnrollControlFlowPass"):
        fc.Pipeline((fc.LowerSemanticToLogicalPass(),)).run(captured)


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        ("arith.addi %first, %first : index", "its last is no constant"),
        ("arith.constant 20000 : index", "it goes from 0 to 20000 by 1"),
    ],
)
def test_bounds_are_public_and_finite(ring: CompileRing, bound: str, shown: str) -> None:
    with pytest.raises(PassError, match=rf"operation \d+ \(scf.for\): {shown}"):
        fc.Pipeline((fc.UnrollControlFlowPass(),)).run(ring.parse(text_of(bound)))


def test_wrong_loops_are_named_at_their_line(ring: CompileRing) -> None:
    wrong = {
        "carries 1 values and its body returns 2": lambda x: fc.repeat(2, lambda a: (a, a), x),
        "carries 1 values": lambda x: fc.repeat(2, lambda a: 1.0, x),
        "the bound 0.5": lambda x: fc.repeat(0.5, lambda a: a, x),
    }
    for shown, function in wrong.items():
        with pytest.raises(CaptureError, match=shown) as found:
            ring.capture(function, x=fc.encrypted())
        assert __file__ in found.value.operation
    outside = text_of(THREE).replace("func.return %2", "func.return %3")
    with pytest.raises(ProgramError):
        fc.Program.parse(outside)
