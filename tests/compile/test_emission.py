"""Emitted sources: what they hold, what they refuse, and that they stay as they are."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import pytest
import torch

from fhelium import compile as fc
from fhelium.backend import BackendWorkspace, OperationBackend, ResourceRequirement
from fhelium.backend.rns import NativeRnsLinearImplementation
from fhelium.errors import LinkError, PythonCodegenError
from fhelium.ir.dialects import ckks
from tests.compile.support import TO_CKKS, CompileRing, load

COEFFICIENTS = fc.encrypted(polynomial_domain="coefficient")


@pytest.fixture(scope="module")
def rotated(ring: CompileRing) -> fc.Compilation:
    captured = ring.capture(lambda x: x + torch.roll(x, 3), x=COEFFICIENTS)
    return fc.Pipeline(TO_CKKS).run(captured)


def emit(compilation: fc.Compilation, *steps: fc.CompilePass) -> fc.CompileWorkspace:
    return fc.Pipeline(steps).run(compilation).workspace


def test_the_eager_source_reads_like_eager_code(rotated: fc.Compilation) -> None:
    source = emit(rotated, fc.EmitEagerPythonPass())[fc.EagerPythonSource]
    assert source.source.splitlines()[3:] == [
        "def generated_eager(engine, x, *, materials, resources):",
        "    rotation_key_3 = materials['rotation-key:3']",
        "    rotate = engine.rotate_with_key(x, rotation_key_3)",
        "    add = engine.add(x, rotate)",
        "    return add",
    ]
    assert source.input_names == ("x",)
    assert source.material_symbols == ("rotation-key:3",)
    assert source.resource_symbols == ()
    assert source.operation_count == 2
    assert isinstance(source, fc.GeneratedPythonSource)


def test_the_backend_source_imports_public_names_alone(rotated: fc.Compilation) -> None:
    steps = (fc.LowerCkksToRnsNttPass(), fc.EmitBackendPythonPass())
    source = emit(rotated, *steps)[fc.BackendPythonSource]
    tree = ast.parse(source.source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imports
    for node in imports:
        assert node.module.split(".")[0] == "fhelium"
        assert not any(part.startswith("_") for part in node.module.split("."))
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    assert "rotation-key:3" in source.material_symbols
    assert max(map(len, source.source.splitlines())) <= 100


def test_a_later_pass_never_changes_an_earlier_source(rotated: fc.Compilation) -> None:
    first = emit(rotated, fc.EmitBackendPythonPass())[fc.BackendPythonSource]
    text = first.source
    lowered = emit(rotated, fc.LowerCkksToRnsNttPass(), fc.EmitBackendPythonPass())
    assert first.source == text
    assert lowered[fc.BackendPythonSource].source != text
    with pytest.raises(AttributeError):
        first.source = ""


def test_emitting_leaves_the_program_as_it_is(rotated: fc.Compilation) -> None:
    steps = (fc.EmitEagerPythonPass(), fc.EmitBackendPythonPass())
    after = fc.Pipeline(steps).run(rotated)
    assert after.program.to_text() == rotated.program.to_text()


def test_names_cannot_break_the_source(ring: CompileRing) -> None:
    text = """
    func.func @f(%x: !ckks.ciphertext {core.name = "engine"}) -> !ckks.ciphertext {
      %k = "core.material"() <{symbol = "x'] or exit() #\\n"}> : () -> !ckks.rotation_key
      %0 = "ckks.rotate"(%x, %k) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}>
        : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }"""
    source = emit(ring.parse(text), fc.EmitEagerPythonPass())[fc.EagerPythonSource]
    assert source.input_names == ("engine_2",)
    x, key = ring.encrypt(0.5), ring.keys.rotation(3)
    materials = {source.material_symbols[0]: key}
    found = load(source)(ring.engine, x, materials=materials, resources={})
    assert torch.equal(found.data, ring.engine.rotate_with_key(x, key).data)


REFUSED = {
    "semantic": ((), fc.EmitEagerPythonPass(), r"operation 0 \(semantic.roll\)"),
    "semantic for a backend": ((), fc.EmitBackendPythonPass(), r"operation 0 \(semantic.roll\)"),
    "logical": (TO_CKKS[:1], fc.EmitEagerPythonPass(), r"operation 0 \(logical.roll\)"),
    "open key": (TO_CKKS[:2], fc.EmitEagerPythonPass(), r"\(ckks.rotate\): its key operand"),
    "open key for a backend": (TO_CKKS[:2], fc.EmitBackendPythonPass(), "its key operand is open"),
    "no depth": (TO_CKKS[:3], fc.EmitBackendPythonPass(), r"\(ckks.rotate\): the depth"),
    "residues": (
        (*TO_CKKS, fc.LowerCkksToRnsNttPass()),
        fc.EmitEagerPythonPass(),
        r"operation \d+ \(rns.automorphism\): the Engine has no such operation",
    ),
    "tables": (
        (*TO_CKKS, fc.PrepareOperationOperandsPass(OperationBackend().registry)),
        fc.EmitEagerPythonPass(),
        r"\(ckks.rotate\): it carries \d+ numerical tables.*EmitBackendPythonPass",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_is_named(ring: CompileRing, name: str) -> None:
    before, emitter, shown = REFUSED[name]
    captured = ring.capture(lambda x: torch.roll(x, 3) + x, x=COEFFICIENTS)
    with pytest.raises(PythonCodegenError, match=shown) as found:
        fc.Pipeline((*before, emitter)).run(captured)
    assert found.value.name in str(found.value)
    assert isinstance(found.value.index, int)


def test_an_attribute_that_the_engine_lacks(ring: CompileRing) -> None:
    text = """
    func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext {
      %0 = "ckks.rescale"(%x) <{rounding = "truncate"}>
        : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }"""
    with pytest.raises(PythonCodegenError, match="its rounding is 'truncate'"):
        emit(ring.parse(text), fc.EmitEagerPythonPass())


class Doubled(NativeRnsLinearImplementation):
    """An addition of the caller's own, wrong on purpose: it shows that it was the one that ran."""

    name = "doubled"
    operation_types = (ckks.AddOp,)

    def execute(self, invocation, inputs, resources, *, in_place):
        return (inputs[0] + inputs[0],)


@dataclass
class Scaled(Doubled):
    """An addition with state."""

    factor: int = 2
    name = "scaled"


class Handled(Doubled):
    """An addition that asks for a handle and tells it that it ran."""

    name = "handled"

    def resource_requirements(self, invocation):
        return (ResourceRequirement("log"),)

    def execute(self, invocation, inputs, resources, *, in_place):
        resources[0].handle.append(invocation.operation_type.name)
        return (inputs[0] + inputs[0],)


def with_own(implementation) -> OperationBackend:
    registry = OperationBackend().registry.extended(implementation)
    workspace = BackendWorkspace({"log": []})
    return OperationBackend(registry.preferring(implementation.name), workspace)


def test_the_callers_registry_decides(ring: CompileRing) -> None:
    captured = ring.capture(lambda x, y: x + y, x=COEFFICIENTS, y=COEFFICIENTS)
    compilation = fc.Pipeline(TO_CKKS).run(captured)
    assert ring.bind(compilation) == ()
    x, y = ring.encrypt(0.25), ring.encrypt(0.5)
    for own in (Doubled(), Handled()):
        backend = with_own(own)
        source = emit(compilation, fc.EmitBackendPythonPass(backend.registry))[
            fc.BackendPythonSource
        ]
        log: list[str] = []
        symbols = source.resource_symbols
        found = load(source)(
            x.data, y.data, materials=compilation.material_bindings,
            resources=dict.fromkeys(symbols, log),
        )  # fmt: skip
        assert torch.equal(found, x.data + x.data)
        assert log == ["ckks.add"] * len(symbols)
        assert torch.equal(backend.link(compilation).run(x, y).data, found)
    assert symbols == ("log",)
    ambiguous = fc.EmitBackendPythonPass(OperationBackend().registry.extended(Doubled()))
    with pytest.raises(PythonCodegenError, match=r"operation 0 \(ckks.add\): 2 implementations"):
        emit(compilation, ambiguous)


def test_state_of_an_own_implementation_is_not_copied(ring: CompileRing) -> None:
    captured = ring.capture(lambda x: x + x, x=COEFFICIENTS)
    compilation = fc.Pipeline(TO_CKKS).run(captured)

    class Local(Doubled):
        name = "local"

    for own, shown in ((Scaled(3), "constructed with state"), (Local(), "cannot be imported")):
        step = fc.EmitBackendPythonPass(with_own(own).registry)
        with pytest.raises(PythonCodegenError, match=shown) as found:
            emit(compilation, step)
        assert found.value.operation == "operation 0 (ckks.add)"


def test_linking_is_independent_of_what_comes_later(ring: CompileRing, rotated) -> None:
    bound = rotated.copy()
    ring.bind(bound)
    executable = OperationBackend().link(bound)
    x = ring.encrypt(0.5)
    before = executable.run(x)
    bound.material_bindings.clear()
    bound.workspace["later"] = 1
    assert torch.equal(executable.run(x).data, before.data)
    assert "later" not in executable.workspace
    assert fc.ProgramDispatchTable not in bound.workspace
    names = [
        call.implementation.name for call in executable.workspace[fc.ProgramDispatchTable].values()
    ]
    assert names[-1] == "native-rns-linear"
    assert executable.source.startswith("def host_function(x):")
    assert "del x, rotate" in executable.source
    with pytest.raises(LinkError):
        OperationBackend().link(bound)


def test_keys_are_known_before_any_exists(rotated: fc.Compilation) -> None:
    needed = fc.EvaluationKeyRequirements.of(rotated)
    assert (needed.steps, needed.needs_relinearization) == ((3,), False)
    lowered = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(rotated)
    assert fc.EvaluationKeyRequirements.of(lowered) == needed
