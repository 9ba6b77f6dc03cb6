"""Pictures of the data flow: boxes, arrows, and where on the chain each value is."""

from __future__ import annotations

import pytest

from fhelium.errors import ProgramError
from fhelium.ir.program import Program

X = "!ckks.ciphertext<depth = 0, scale = 1073741824.0>"
Y = "!ckks.ciphertext<depth = 1, scale = 1073741824.0>"
TEXT = f"""
func.func @f(%x: {X} {{core.name = "x"}}) -> {Y} {{
  %k = "core.material"() <{{symbol = "rotation-key:3"}}> : () -> !ckks.rotation_key
  %0, %1 = "ckks.rotate_many"(%x, %k, %k)
    <{{steps = [3 : i64, 3 : i64], operandSegmentSizes = array<i32: 1, 2, 0>}}>
    : ({X}, !ckks.rotation_key, !ckks.rotation_key) -> ({X}, {X})
  %2 = "ckks.add"(%0, %1) : ({X}, {X}) -> {X}
  %3 = "ckks.mod_switch"(%2) <{{depth = 1 : i64}}> : ({X}) -> {Y}
  func.return %3 : {Y}
}}"""

DOT = """\
digraph "f" {
  rankdir=TB
  in0 [label="x", shape=ellipse]
  op0 [label="core.material symbol rotation-key:3", shape=box]
  op1 [label="ckks.rotate_many", shape=box]
  op2 [label="ckks.add", shape=box]
  op3 [label="ckks.mod_switch depth 1", shape=box]
  op4 [label="func.return", shape=box]
  in0 -> op1 [label="depth 0, scale 2^30"]
  op0 -> op1 [label=""]
  op0 -> op1 [label=""]
  op1 -> op2 [label="depth 0, scale 2^30, result 0"]
  op1 -> op2 [label="depth 0, scale 2^30, result 1"]
  op2 -> op3 [label="depth 0, scale 2^30"]
  op3 -> op4 [label="depth 1, scale 2^30"]
}
"""

MERMAID = """\
flowchart TB
  in0(["x"])
  op0["core.material symbol rotation-key:3"]
  op1["ckks.rotate_many"]
  op2["ckks.add"]
  op3["ckks.mod_switch depth 1"]
  op4["func.return"]
  in0 -->|"depth 0, scale 2^30"| op1
  op0 --> op1
  op0 --> op1
  op1 -->|"depth 0, scale 2^30, result 0"| op2
  op1 -->|"depth 0, scale 2^30, result 1"| op2
  op2 -->|"depth 0, scale 2^30"| op3
  op3 -->|"depth 1, scale 2^30"| op4
"""


@pytest.mark.parametrize(("form", "expected"), [("dot", DOT), ("mermaid", MERMAID)])
def test_pictures(form: str, expected: str) -> None:
    assert Program.parse(TEXT).draw(form) == expected


def test_names_that_mean_something_to_the_writer_stay_text() -> None:
    program = Program.parse(TEXT.replace('"x"', r'"a\"]; <b>\n#"'))
    dot, mermaid = program.draw("dot"), program.draw("mermaid")
    assert r'in0 [label="a\"]; <b> #", shape=ellipse]' in dot
    assert 'in0(["a#quot;]; #lt;b#gt; #35;"])' in mermaid
    assert dot.count("\n") == DOT.count("\n")
    assert mermaid.count("\n") == MERMAID.count("\n")


def test_unknown_axes_and_long_constants_are_left_out() -> None:
    numbers = ", ".join(["0.5 : f64"] * 300)
    text = f"""
    func.func @f() -> !codec.message {{
      %0 = "core.constant"() <{{value = [{numbers}]}}> : () -> !codec.message
      func.return %0 : !codec.message
    }}"""
    assert Program.parse(text).draw("mermaid").splitlines()[1:] == [
        '  op0["core.constant 300 numbers"]',
        '  op1["func.return"]',
        "  op0 --> op1",
    ]


def test_there_are_two_forms() -> None:
    with pytest.raises(ProgramError, match="the form is 'svg', needed is 'dot' or 'mermaid'"):
        Program.parse(TEXT).draw("svg")  # pyright: ignore[reportArgumentType]
