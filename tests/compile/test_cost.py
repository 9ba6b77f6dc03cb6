"""What Programs cost: counted in the calls that they are composed of, timed by a profile."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.compile.call_costs import CallCosts
from fhelium.compile.example_calls import ExampleCall
from fhelium.compile.machine_profile import Measurement, accepted_call, profiled_calls
from fhelium.errors import CompileError, ContextMismatchError
from fhelium.ir.dialects import ckks, ntt
from fhelium.ir.operation import DeclaredOperation
from tests.compile.support import CompileRing
from tests.programs import run_module


@pytest.fixture(scope="module")
def config() -> CkksConfig:
    """Two digits at depth 0 and one below: 8192 coefficients, three limbs, two special primes."""
    return CkksConfig.parse("slots4096_scale40_depth2_int64")


@pytest.mark.parametrize("operation", list(ckks.CKKS.operations), ids=lambda op: op.name)
def test_docstrings_say_what_is_counted(
    ring: CompileRing, operation: type[DeclaredOperation]
) -> None:
    (text,) = re.findall(r"Cost:\n(.*?)\n\n", f"{inspect.getdoc(operation)}\n\n", re.DOTALL)
    calls = [accepted_call(operation, ring.config, 0, domain) for domain in ("ntt", "coefficient")]
    (cost,) = [CallCosts(ring.config).of(call) for call in calls if call][:1]
    assert cost.nbytes > 0
    assert cost.key_switches == int(operation.FACTS.needs_key)
    if "no key switch" in text.lower():
        assert cost.key_switches == 0
    if re.match(r"\s*(No NTT, no key switch|In the NTT domain no NTT|A copy)", text):
        assert cost.transforms == 0


@pytest.mark.parametrize("domain", ["ntt", "coefficient"])
@pytest.mark.parametrize("depth", [0, 1])
def test_a_key_switch_is_counted_row_by_row(config: CkksConfig, domain: str, depth: int) -> None:
    call = accepted_call(ckks.RotateOp, config, depth, domain)
    limbs, special = len(config.q_primes) - depth, len(config.p_primes)
    raised = len(config.digits(depth)) * (limbs + special)
    divided = 2 * (limbs + special)
    around = 3 * limbs if domain == "ntt" else 0  # one in, two out
    assert CallCosts(config).of(call).transforms == raised + divided + around


def test_costs_are_those_of_the_lowered_program(ring: CompileRing) -> None:
    """The transforms of the residue operations, found by their types, are the ones counted."""
    spec = fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain="ntt")

    def function(engine, x):
        return engine.rescale_to_next_depth(engine.square(engine.rotate_by_step(x, 1)))

    found = ring.capture(function, engine=fc.engine(), x=spec)
    lowered = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(found)
    transforms = [op for op in lowered.program.operations if type(op) in ntt.NTT.operations]
    cost = lowered.cost()
    assert str(cost) == str(found.cost())
    names = [entry.name for entry in cost.operations]
    assert names == ["ckks.rotate", "ckks.square", "ckks.rescale"]
    assert cost.total.transforms > len(transforms)  # each of several rows
    assert cost.total.key_switches == 1


def test_a_report_is_read_at_a_glance(config: CkksConfig) -> None:
    def function(engine, x, y):
        product = engine.multiply_and_rescale(x, y)
        return engine.sum_slots(engine.conjugate(product), 4)

    spec = fc.encrypted(depth=0, scale=config.scale_at(0), polynomial_domain="ntt")
    inputs = {"engine": fc.engine(), "x": spec, "y": spec}
    workspace = fc.CompileWorkspace({CkksConfig: config})
    cost = fc.capture(function, inputs=inputs, workspace=workspace).cost()
    assert (cost.depth, cost.total.key_switches, cost.ms) == (1, 4, None)
    assert cost.keys.steps == (4094, 4095)
    assert cost.key_nbytes == 4 * config.switching_key_nbytes()
    lines = str(cost).splitlines()
    assert lines[0].split() == ["operation", "calls", "NTTs", "switches", "moved", "ms"]
    assert lines[-1].startswith("depth 1 of 2; keys: rotations 4094, 4095; relinearization; conj")
    assert {len(line) for line in lines[:-1]} == {len(lines[0])}


def test_every_operation_is_measured_and_predicted(ring: CompileRing, tmp_path: Path) -> None:
    profile = fc.measure_profile(ring.config, repetitions=1)
    assert {entry.operation for entry in profile.measurements} == {
        operation.name for operation in ckks.CKKS.operations
    }
    path = tmp_path / "profile.json"
    profile.save(path)
    assert fc.MachineProfile.load(path) == profile
    spec = fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain="ntt")
    found = ring.capture(lambda engine, x: engine.add(x, x), engine=fc.engine(), x=spec)
    cost = found.cost(profile)
    assert cost.ms is not None
    assert cost.ms > 0
    with pytest.raises(ContextMismatchError, match="the profile belongs to"):
        found.cost(fc.MachineProfile("other", "cpu", 1, ()))
    assert found.cost(fc.MachineProfile(ring.config.context_id, "cpu", 1, ())).ms is None


def test_predictions_lie_between_measurements() -> None:
    points = [(1, 0, 8.0), (1, 4, 4.0), (3, 0, 10.0), (3, 4, 6.0)]
    entries = tuple(Measurement("ckks.add_many", "ntt", *point) for point in points)
    profile = fc.MachineProfile("context", "cpu", 1, entries)
    assert profile.predict("ckks.add_many", "ntt", depth=2, count=2) == 7.0
    assert profile.predict("ckks.add_many", "ntt", depth=6, count=1) == 2.0
    assert profile.predict("ckks.add_many", "coefficient", depth=0) is None


def test_a_fused_region_is_spared_what_it_does_not_write(ring: CompileRing) -> None:
    """Six components come in and go out, and the negation says that four take a millisecond."""
    times = {"ckks.negate": 1.0, "ckks.add": 2.0, "ckks.subtract": 1.25}
    entries = tuple(Measurement(name, "ntt", 1, 0, ms) for name, ms in times.items())
    spec = fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain="ntt")
    found = ring.capture(
        lambda engine, x, y: engine.subtract(engine.add(x, y), y),
        engine=fc.engine(),
        x=spec,
        y=spec,
    )
    context = ring.config.context_id
    cost = found.cost(fc.MachineProfile(context, "cpu", 1, entries))
    assert [entry.ms for entry in cost.operations] == [2.0 - 1.5, 1.5]
    elsewhere = found.cost(fc.MachineProfile(context, "cuda:0", 1, entries))
    assert elsewhere.ms == 3.25


def test_examples_are_accepted_calls(ring: CompileRing) -> None:
    calls = list(profiled_calls(ring.config))
    assert len(set(calls)) == len(calls)
    for call in calls:
        assert isinstance(call, ExampleCall)
        call.operation.transfer(*call.states, **dict(call.attributes))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "fhelium machine profile 9"}'])
def test_what_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "profile.json"
    path.write_text(text)
    with pytest.raises(CompileError, match="no machine profile"):
        fc.MachineProfile.load(path)


def test_what_cannot_be_counted_is_named(ring: CompileRing) -> None:
    semantic = ring.capture(lambda x: -x, x=fc.encrypted())
    with pytest.raises(CompileError, match="no operation on ciphertexts"):
        semantic.cost()
    unknown = ring.capture(
        lambda engine, x: engine.negate(x), engine=fc.engine(), x=fc.encrypted(depth=0)
    )
    with pytest.raises(CompileError, match=r"operation 0 \(ckks.negate\): the polynomial_domain"):
        unknown.cost()


def test_the_command_writes_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    found = run_module(
        "profile", str(path), "--preset", "slots4096_scale40_depth2_int64", "--repetitions", "1"
    )
    assert found.returncode == 0, found.stderr
    assert fc.MachineProfile.load(path).device == "cpu"
