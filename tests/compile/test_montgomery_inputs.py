"""Ciphertexts that come in Montgomery form are brought to the form that operations take."""

from __future__ import annotations

import pytest
import torch

from fhelium import Ciphertext
from fhelium import compile as fc
from fhelium.errors import ExecutionInputError, PythonCodegenError, StateError
from fhelium.native.wrapper import rns_ops
from tests.compile.support import TO_CKKS, CompileRing
from tests.compile.test_routes import require_equal


def in_montgomery_form(ring: CompileRing, value: Ciphertext) -> Ciphertext:
    params = ring.resources.material(f"rns_parameters/Q/{value.depth}")
    data = rns_ops.to_montgomery(value.data, params)
    return Ciphertext(data, value.state.replace(residue_representation="montgomery"))


def function(x, y):
    return torch.roll(x, 3) + y, x - y, x


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_inputs_in_montgomery_form(ring: CompileRing, domain: str) -> None:
    captured = ring.capture(
        function,
        x=fc.encrypted(polynomial_domain=domain, residue_representation="montgomery"),
        y=fc.encrypted(polynomial_domain=domain, residue_representation="standard"),
    )
    compilation = fc.Pipeline(TO_CKKS).run(captured)
    names = [op.name for op in compilation.program.operations]
    assert names.count("ckks.from_montgomery") == 1
    engine = ring.engine
    x, y = (ring.encrypt(number, output_domain=domain) for number in (0.25, 0.5))
    given = in_montgomery_form(ring, x)
    expected = (engine.add(engine.rotate_by_step(x, 3), y), engine.subtract(x, y), given)
    for steps in ((), (fc.LowerCkksToRnsNttPass(),)):
        linked = ring.link(fc.Pipeline(steps).run(compilation))
        require_equal({"linked": linked.run(given, y)}, expected)
    with pytest.raises(ExecutionInputError, match="residue_representation of x is standard"):
        ring.link(compilation).run(x, y)
    with pytest.raises(PythonCodegenError, match=r"ckks.from_montgomery.* no such operation"):
        fc.Pipeline((fc.EmitEagerPythonPass(),)).run(compilation)


def test_the_default_pipeline_transforms_after_the_transition(ring: CompileRing) -> None:
    def compiled(form: str) -> fc.Compilation:
        spec = fc.encrypted(polynomial_domain="coefficient", residue_representation=form)
        return fc.default_lower_and_fuse_pipeline().run(ring.capture(lambda x: x * x + 1, x=spec))

    names = [op.name for op in compiled("montgomery").program.operations]
    assert names.index("ckks.from_montgomery") < names.index("ckks.coefficient_to_ntt")
    x = ring.encrypt(0.25)
    expected = ring.link(compiled("standard")).run(x)
    result = ring.link(compiled("montgomery")).run(in_montgomery_form(ring, x))
    require_equal({"linked": (result,)}, (expected,))


def test_an_operation_on_them_is_refused_as_the_engine_refuses_it(ring: CompileRing) -> None:
    kind = "!ckks.ciphertext<depth = 0, residue_representation = montgomery>"
    text = (
        f'func.func @f(%x: {kind} {{core.name = "x"}}) -> !ckks.ciphertext {{\n'
        f'%0 = "ckks.negate"(%x) : ({kind}) -> !ckks.ciphertext\n'
        "func.return %0 : !ckks.ciphertext\n}"
    )
    with pytest.raises(StateError) as compiled:
        fc.Pipeline((fc.EliminateDeadValuesPass(),)).run(ring.parse(text))
    with pytest.raises(StateError) as eager:
        ring.engine.negate(in_montgomery_form(ring, ring.encrypt(0.5)))
    assert compiled.value.fact == eager.value.fact
    assert "representation is montgomery, needed is standard" in compiled.value.fact
