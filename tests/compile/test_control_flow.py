"""Loops and branches with public bounds and conditions: captured, written out, run, or refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fhelium import DecryptPolicy
from fhelium import compile as fc
from fhelium.errors import (
    BoundError,
    CaptureError,
    ExecutionInputError,
    FHEliumError,
    LinkError,
    PassError,
    ProgramError,
    PythonCodegenError,
    StateError,
)
from fhelium.serialization import load_compilation, save_compilation
from tests.compile.support import TO_CKKS, CompileRing
from tests.compile.test_compiled_functions import clear_message, require_right

CIPHERTEXT = "!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>"


def text_of(bound: str, condition: str = "arith.constant true") -> str:
    """Write a Program that adds in a loop and negates under a condition."""
    return f"""
    func.func @f(%x: {CIPHERTEXT} {{core.name = "x"}}, %n: index {{core.name = "n"}},
                 %c: i1 {{core.name = "c"}}) -> {CIPHERTEXT} {{
      %first = arith.constant 0 : index
      %step = arith.constant 1 : index
      %last = {bound}
      %condition = {condition}
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
GIVEN = "arith.addi %n, %first : index"


# ---- What is known where a Program is specialised ------------------------------------------------


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


@pytest.mark.parametrize("condition", [True, False])
def test_what_is_constant_is_written_out(ring: CompileRing, condition: bool) -> None:
    text = text_of("arith.addi %first, %step : index", f"arith.constant {condition}".lower())
    unrolled = fc.Pipeline((fc.UnrollControlFlowPass(),)).run(ring.parse(text))
    names = [operation.name for operation in unrolled.program.operations]
    assert not any(name.startswith("scf.") for name in names)
    assert names.count("ckks.add_scalar") == 1
    assert names.count("ckks.negate") == condition
    linked = ring.link(ring.parse(text))  # a loop need not be written out
    values = ring.encrypt(0.5, output_domain="ntt"), 9, True
    assert torch.equal(ring.link(unrolled).run(*values).data, linked.run(*values).data)


def test_static_conditions_and_tensors_choose_while_captured(ring: CompileRing) -> None:
    def function(x, flip):
        chosen = torch.cond(flip, lambda a: -a, lambda a: a, (x,))
        return torch.cond(torch.tensor(False), lambda a: a, lambda a: a + 1, (chosen,))

    eager = torch.cond
    captured = ring.capture(function, x=fc.encrypted(), flip=fc.static(True))
    assert torch.cond is eager
    names = [operation.name for operation in captured.program.operations]
    assert names == ["semantic.negate", "semantic.add_scalar", "func.return"]


# ---- What the inputs of a run decide -------------------------------------------------------------


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_bounds_and_conditions_of_a_run(ring: CompileRing, rounds: int, condition: bool) -> None:
    compilation = ring.parse(text_of(GIVEN, "arith.cmpi eq, %c, %true : i1").replace(
        "%step =", "%true = arith.constant true\n      %step ="
    ))  # fmt: skip
    executable = ring.link(compilation)
    engine, x = ring.engine, ring.encrypt(clear_message(24), output_domain="ntt")
    expected = x
    for _ in range(rounds):
        expected = engine.add_scalar(expected, 0.25)
    expected = engine.negate(expected) if condition else expected
    found = executable.run(x, rounds, condition)
    assert torch.equal(found.data, expected.data)
    assert found.state == expected.state
    assert torch.equal(executable.run(x, c=condition, n=rounds).data, expected.data)
    again = fc.compile(compilation.program, keys=[ring.keys])
    assert torch.equal(again(x, rounds, condition).data, expected.data)
    residues = fc.Pipeline((fc.AssignCkksDepthsPass(), fc.LowerCkksToRnsNttPass()))
    lowered = ring.link(residues.run(compilation)).run(x, rounds, condition)
    assert torch.equal(lowered.data, expected.data)
    assert lowered.state == expected.state


def test_one_program_serves_every_count(ring: CompileRing) -> None:
    @fc.compile(keys=[ring.keys], inputs={"rounds": fc.count()})
    def smoothed(x, rounds):
        return fc.repeat(rounds, lambda a: 0.5 * x + torch.roll(a, 1), x)

    x = clear_message(25)
    ciphertext = ring.encrypt(x)
    for rounds in (3, 0, 7, 3):
        require_right(ring, smoothed(ciphertext, rounds), smoothed.source(x, rounds))
    assert len(smoothed.specializations) == len(smoothed._calls) == 1


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_branches_meet_at_the_depth_of_the_deeper(ring: CompileRing, domain: str) -> None:
    @fc.compile(keys=[ring.keys], inputs={"flip": fc.condition()})
    def function(x, flip):
        return torch.cond(flip, lambda a: a * a, lambda a: torch.roll(a, 1), (x,)) + 0.25

    x = clear_message(26)
    ciphertext = ring.encrypt(x, output_domain=domain)
    squared, rolled = function(ciphertext, True), function(ciphertext, False)
    require_right(ring, squared, x * x + 0.25)
    require_right(ring, rolled, torch.roll(x, 1) + 0.25)
    assert (squared.depth, squared.scale) == (rolled.depth, rolled.scale)
    assert len(function.specializations) == 1


def test_a_loop_starts_at_the_depth_that_its_rounds_come_back_to(ring: CompileRing) -> None:
    @fc.compile(keys=[ring.keys], inputs={"rounds": fc.count()})
    def function(x, y, rounds):
        weight = x * y
        return fc.repeat(rounds, lambda a, b: (b, torch.roll(b, 1) - weight), x, y)

    x, y = clear_message(27), clear_message(28)
    # Of two domains, too: rounds that mix them start in the one that they come back to.
    values = ring.encrypt(x), ring.encrypt(y, output_domain="ntt")
    for rounds in (0, 1, 3):
        expected = function.source(x, y, rounds)
        for found, wanted in zip(function(*values, rounds), expected, strict=True):
            require_right(ring, found, wanted)
            assert found.depth == 1


def test_loops_and_branches_in_one_another(ring: CompileRing) -> None:
    @fc.compile(keys=[ring.keys], inputs={"n": fc.count(), "m": fc.count(), "flip": fc.condition()})
    def function(x, y, n, m, flip):
        negated = -x
        many = (n * 2 - m > 1) & (flip ^ True)

        def outer(a):
            def shifted(b):
                return fc.repeat(m + 1, lambda c: torch.roll(c, 3) + 0.125 * y, b)

            return torch.cond(many, shifted, lambda b: negated, (a,))

        chosen = torch.cond(m, lambda: (negated, y), lambda: (y, negated))
        # What a branch gave goes on under another name, while its own is written over.
        return fc.repeat(n, outer, x) + (negated + 0.5) + chosen[0], chosen[1]

    x, y = clear_message(29), clear_message(30)
    values = ring.encrypt(x), ring.encrypt(y)
    for numbers in ((0, 0, False), (1, 0, False), (2, 1, False), (2, 3, True), (3, 0, True)):
        expected = function.source(x, y, *numbers)
        for found, wanted in zip(function(*values, *numbers), expected, strict=True):
            require_right(ring, found, wanted)
    (ready,) = function.specializations
    linked = ready.compilation.program
    text = linked.to_text()
    assert fc.Program.parse(text).to_text() == text
    assert fc.Program.parse(linked.to_text(generic=True)).to_text() == text
    assert "scf.if" in linked.draw()
    assert "scf.for" in linked.draw("dot")


BODIES = {
    "rolled": lambda a, x, y: torch.roll(a, 1) + x,
    "scaled": lambda a, x, y: x - 0.5 * y,
    "product": lambda a, x, y: x * y - torch.roll(y, 3),
    "kept": lambda a, x, y: a,
    "other": lambda a, x, y: y,
    "squared": lambda a, x, y: 0.5 * a * a,
    "weighted": lambda a, x, y: a + y * torch.tensor([0.25, -0.5], dtype=torch.float64).repeat(256),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    names=st.tuples(*3 * [st.sampled_from(sorted(BODIES))]),
    rounds=st.integers(0, 3),
    flip=st.booleans(),
    domains=st.tuples(*2 * [st.sampled_from(["coefficient", "ntt"])]),
)
def test_random_bodies(ring: CompileRing, names, rounds, flip, domains) -> None:
    first, second, third = (BODIES[name] for name in names)

    def function(x, y, rounds, flip):
        start = torch.cond(flip, lambda: first(x, x, y), lambda: second(y, x, y))
        ended = fc.repeat(rounds, lambda a: third(a, x, y), start)
        return torch.cond(flip, lambda: ended, lambda: ended + y)

    compiled = fc.compile(
        function, keys=[ring.keys], inputs={"rounds": fc.count(), "flip": fc.condition()}
    )
    x, y = clear_message(31), clear_message(32)
    values = [ring.encrypt(v, output_domain=d) for v, d in zip((x, y), domains, strict=True)]
    if names[2] == "squared":  # each round takes depth
        with pytest.raises(StateError, match=r"keeps its state|the largest depth is 3"):
            compiled(*values, rounds, flip)
        return
    require_right(ring, compiled(*values, rounds, flip), function(x, y, rounds, flip))


# ---- Known before a run --------------------------------------------------------------------------


def test_precision_and_cost_follow_the_rounds(ring: CompileRing) -> None:
    def function(x, y, rounds, flip):
        summed = fc.repeat(rounds, lambda a: torch.roll(a, 1) + 0.5 * y, x)
        return torch.cond(flip, lambda: summed * y, lambda: summed)

    inputs = {"rounds": fc.count(), "flip": fc.condition()}
    compiled = fc.compile(function, keys=[ring.keys], inputs=inputs)
    x, y = clear_message(33), clear_message(34)
    values = ring.encrypt(x), ring.encrypt(y)
    for rounds, flip in ((0, False), (5, True), (20, False)):
        found = compiled(*values, rounds, flip)
        (ready,) = compiled.specializations
        numbers = {"rounds": rounds, "flip": flip}
        (simulated,) = ready.compilation.simulate({"x": x, "y": y, **numbers})
        expected = function(x, y, rounds, flip)
        assert torch.allclose(simulated.value.real, expected, atol=1e-12)
        policy = DecryptPolicy.private()
        clear = ring.engine.decrypt_message(found, ring.secret_key, policy=policy)
        error = float((clear - expected).abs().square().mean().sqrt())
        assert abs(simulated.bits + math.log2(error)) < 1
        assert simulated.state.depth == found.depth
        assert simulated.guaranteed_bits == pytest.approx(found.bits_left())
        cost = ready.compilation.cost(inputs=numbers)
        assert cost.total.key_switches == rounds + flip
    assert ready.key_requirements.steps == (1,)
    (captured,) = ring.capture(
        function, x=fc.encrypted(), y=fc.encrypted(), **inputs
    ).program.simulate({"x": x, "y": y, "rounds": 2, "flip": False})
    assert torch.allclose(captured.value.real, function(x, y, 2, False), atol=1e-12)


def test_rounds_that_a_modulus_cannot_hold_are_refused_before_they_run(ring: CompileRing) -> None:
    doubled = fc.compile(
        lambda x, n: fc.repeat(n, lambda a: a + a, x), keys=[ring.keys], inputs={"n": fc.count()}
    )
    x = ring.encrypt(0.5, output_domain="ntt")
    assert doubled(x, 3).message_bound == 8 * x.message_bound
    with pytest.raises(BoundError, match="beyond half the modulus"):
        doubled(x, 1000)


def test_control_flow_is_saved_and_loaded(ring: CompileRing, tmp_path) -> None:
    compiled = fc.compile(
        lambda x, n: fc.repeat(n, lambda a: torch.roll(a, 1) - x, x),
        keys=[ring.keys],
        inputs={"n": fc.count()},
    )
    x = ring.encrypt(0.5, output_domain="ntt")
    expected = compiled(x, 3)
    compilation = compiled.specializations[0].compilation
    ring.bind(compilation)
    save_compilation(compilation, tmp_path / "looped")
    loaded = load_compilation(tmp_path / "looped", config=ring.config)
    assert torch.equal(ring.link(loaded).run(x, 3).data, expected.data)


# ---- What is refused, and how --------------------------------------------------------------------


def test_emitters_name_what_they_do_not_write(ring: CompileRing) -> None:
    for step in (fc.EmitEagerPythonPass(), fc.EmitBackendPythonPass()):
        with pytest.raises(PythonCodegenError, match=r"operation \d+ \(scf.for\): it is control"):
            fc.Pipeline((step,)).run(ring.parse(text_of(THREE)))


def test_states_that_do_not_agree_are_named_with_both_values(ring: CompileRing) -> None:
    def looped(x, n):
        return fc.repeat(n, lambda a: a * a, x)

    given_inputs: dict[str, Any] = {"x": fc.encrypted(depth=0), "n": fc.count()}
    compiled = fc.compile(looped, config=ring.config, inputs=given_inputs)
    with pytest.raises(
        StateError,
        match=r"operation \d+ \(scf.for\): it carries depth 0 into a round and depth 1 out of it\. "
        r"A loop is linked once .* constant bound",
    ):
        compiled.prepare()

    def branched(x, flip):
        return torch.cond(flip, lambda: 0.5 * x, lambda: x)

    captured = ring.capture(branched, x=fc.encrypted(depth=0), flip=fc.condition())
    shown = r"operation \d+ \(scf.if\): its branches give scale 1.15.*e\+18 and scale 10737.*\."
    with pytest.raises(StateError, match=shown):
        fc.Pipeline(TO_CKKS).run(captured)
    public = ring.capture(
        lambda x, m, n: fc.repeat(n, lambda a: a + x, m),
        x=fc.encrypted(), m=fc.message(), n=fc.count(),
    )  # fmt: skip
    with pytest.raises(
        StateError, match=r"logical\.message into a round and .* logical\.encrypted out"
    ):
        fc.Pipeline((fc.LowerSemanticToLogicalPass(),)).run(public)


@pytest.mark.parametrize(
    ("number", "shown"),
    [(-1, "n is -1"), (2.0, "n is a float"), (True, "n is a bool"), (None, "n is a NoneType")],
)
def test_numbers_of_another_kind_are_refused(ring: CompileRing, number: Any, shown: str) -> None:
    compilation = ring.parse(text_of(GIVEN))
    numbers = {"n": number, "c": False}
    for call in (
        lambda: ring.link(compilation).run(ring.encrypt(0.5, output_domain="ntt"), **numbers),
        lambda: compilation.simulate({"x": 0.5, **numbers}),
        lambda: compilation.cost(inputs=numbers),
    ):
        with pytest.raises(ExecutionInputError, match=f"{shown}, needed is an int of at least 0"):
            call()
    with pytest.raises(FHEliumError, match="n is missing"):
        compilation.simulate({"x": 0.5})


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        ("arith.constant 20000 : index", "it goes from 0 to 20000 by 1"),
        ("arith.constant 2 : index", "it goes from 0 to 2 by 0"),
    ],
)
def test_loops_that_are_written_out_end(ring: CompileRing, bound: str, shown: str) -> None:
    text = text_of(bound).replace("constant 1", "constant 0" if "by 0" in shown else "constant 1")
    with pytest.raises(PassError, match=rf"operation \d+ \(scf.for\): {shown}"):
        fc.Pipeline((fc.UnrollControlFlowPass(),)).run(ring.parse(text))


def test_what_cannot_be_linked_is_named(ring: CompileRing) -> None:
    for written, shown in (
        (text_of(GIVEN).replace("step %step", "step %n"), r"\(scf.for\): its step is no constant"),
        (text_of("arith.divui %n, %n : index"), r"\(arith.divui\): it belongs to the dialect"),
    ):
        with pytest.raises(LinkError, match=shown):
            ring.link(ring.parse(written))


def test_wrong_control_flow_is_named_at_its_line(ring: CompileRing) -> None:
    def picked(x, y, n, c):
        return y if c else x

    def counted(x, y, n, c):
        for _ in range(n):
            x = x + y
        return x

    wrong = {
        "carries 1 values and its body returns 2": lambda x, y, n, c: fc.repeat(
            2, lambda a: (a, a), x
        ),
        "carries 1 values": lambda x, y, n, c: fc.repeat(2, lambda a: 1.0, x),
        "the bound 0.5": lambda x, y, n, c: fc.repeat(0.5, lambda a: a, x),
        "bound is a vector.*public.*mask": lambda x, y, n, c: fc.repeat(y, lambda a: a, x),
        "condition of a branch is a vector.*public.*mask": lambda x, y, n, c: torch.cond(
            y > 0, lambda: x, lambda: y
        ),
        "one branch returns 2 values and the other 1": lambda x, y, n, c: torch.cond(
            c, lambda: (x, y), lambda: x
        ),
        "one branch returns 1 values": lambda x, y, n, c: torch.cond(c, lambda: x, lambda: 1),
        "Python decides by a public number.*torch.cond": picked,
        "Python decides by a public number.*repeat": counted,
        "a vector meets a public number": lambda x, y, n, c: x * n,
        "floordiv is called": lambda x, y, n, c: fc.repeat(n // 2, lambda a: a, x),
        "a public int meets a float": lambda x, y, n, c: fc.repeat(n + 0.5, lambda a: a, x),
        "a public bool stands": lambda x, y, n, c: fc.repeat(c, lambda a: a, x),
        "starts from a period of 4 slots and gives no known": lambda x, y, n, c: fc.repeat(
            n, lambda a: a + y, x
        ),
    }  # fmt: skip
    for shown, function in wrong.items():
        with pytest.raises(CaptureError, match=shown) as found:
            ring.capture(
                function,
                x=fc.encrypted(slots=4), y=fc.encrypted(), n=fc.count(), c=fc.condition(),
            )  # fmt: skip
        assert __file__ in found.value.operation
    with pytest.raises(CaptureError, match="returns a CapturedNumber"):
        ring.capture(lambda n: n + 1, n=fc.count())


def test_a_value_of_a_region_stays_inside(ring: CompileRing) -> None:
    outside = text_of(THREE).replace("func.return %2", "func.return %3")
    with pytest.raises(ProgramError):
        fc.Program.parse(outside)
