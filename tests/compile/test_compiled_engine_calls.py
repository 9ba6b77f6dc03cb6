"""Functions written against the Engine and compiled by the decorator: specs, facts, bits."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fhelium import compile as fc
from fhelium.errors import CompileInputError, LinkError, StateError
from fhelium.ir.dialects import ckks
from tests.compile.support import CompileRing
from tests.compile.test_engine_capture import everything

WEIGHTS = torch.linspace(-0.5, 0.5, 512, dtype=torch.float64)


def smoothed(engine, x, step):
    """Add a vector to what it is when it is rotated."""
    return engine.add(x, engine.rotate_by_step(x, step))


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("lowered", [False, True])
def test_compiled_calls_give_the_bits_of_the_engine(
    ring: CompileRing, domain: str, lowered: bool
) -> None:
    engine = ring.engine
    x, y = (ring.encrypt(number, output_domain=domain) for number in (0.25, -0.5))
    weights = [engine.prepare_plaintext(w, like=x) for w in (0.75, WEIGHTS)]
    ones = engine.prepare_plaintext(1.0, like=x, for_="add")
    key = ring.keys.rotation(3)
    pipeline = fc.default_lower_and_fuse_pipeline()
    if lowered:
        pipeline = fc.Pipeline((*pipeline.passes, fc.LowerCkksToRnsNttPass()))
    compiled = fc.compile(
        lambda engine, x, y: everything(engine, x, y, weights, ones, key),
        inputs={"engine": fc.engine()},
        keys=[ring.keys],
        pipeline=pipeline,
    )
    expected = everything(engine, x, y, weights, ones, key)
    for _ in range(2):  # the second time without the signature
        for found, wanted in zip(compiled(x, y=y), expected, strict=True):
            assert torch.equal(found.data, wanted.data)
            assert found.state.replace(noise_bound=None) == wanted.state.replace(noise_bound=None)
            assert found.noise_bound <= 1.001 * wanted.noise_bound
    assert len(compiled.specializations) == 1


def test_messages_encoded_inputs_and_static_arguments(ring: CompileRing) -> None:
    @fc.compile(inputs={"engine": fc.engine(), "step": fc.static(3)}, keys=[ring.keys])
    def weighted(x, engine, step, m, p):
        factor = engine.prepare_plaintext(m, like=x)
        total = engine.sum_plaintext_products([x, engine.rotate_by_step(x, step)], [factor, p])
        return engine.rescale_to_next_depth(total)

    x = ring.encrypt(0.25, output_domain="ntt")
    p = ring.engine.prepare_plaintext(0.5, like=x)
    expected = weighted.source(x, ring.engine, 3, WEIGHTS, p)
    assert torch.equal(weighted(x, m=WEIGHTS, p=p).data, expected.data)
    other = weighted.source(x, ring.engine, 1, WEIGHTS, p)
    assert torch.equal(weighted(x, 1, WEIGHTS, p).data, other.data)
    assert len(weighted.specializations) == 2


def test_prepared_before_any_key_exists(ring: CompileRing) -> None:
    inputs = {"engine": fc.engine(), "x": fc.encrypted(depth=1), "step": fc.static(7)}
    function = fc.compile(smoothed, config=ring.config, inputs=inputs)
    ready = function.prepare()
    assert ready.key_requirements.steps == (7,)
    assert ready.program.outputs[0].type.known["depth"] == 1
    low = ring.engine.align_to_depth(ring.encrypt(0.5), 1)
    with pytest.raises(LinkError, match="rotation-key:7"):
        function(low)
    function.add_keys(ring.engine.create_rotation_key(7, ring.secret_key))
    assert function(low).depth == 1


def test_operations_that_do_not_fit_are_named_as_on_the_engine(ring: CompileRing) -> None:
    function = fc.compile(
        lambda engine, x: engine.add(x, engine.square(x)), inputs={"engine": fc.engine()}
    )
    with pytest.raises(StateError, match="Scales must agree"):
        function(ring.encrypt(0.5))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "depth": ({"x": fc.encrypted(depth=1)}, "the depth of 'x' is 0, its spec says 1"),
    "scale": (
        {"x": fc.encrypted(scale=2.0**20)},
        "the scale of 'x' is .*, its spec says 1048576.0",
    ),
    "domain": ({"x": fc.encrypted(polynomial_domain="ntt")}, "'x' is coefficient, .* says ntt"),
    "kind": ({"x": fc.message()}, "the kind of 'x' is encrypted, its spec says message"),
    "encoded": ({"x": fc.plaintext()}, "the kind of 'x' is encrypted, its spec says plaintext"),
    "static": ({"step": fc.message()}, "the kind of 'step' is int, its spec says message"),
    "name": ({"z": fc.encrypted()}, r"names \['z'\], the parameters are \['engine', 'x', 'step'\]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_is_what_its_spec_says(ring: CompileRing, name: str) -> None:
    inputs, text = WRONG[name]
    with pytest.raises(CompileInputError, match=text):
        fc.compile(smoothed, inputs={"engine": fc.engine(), **inputs})(ring.encrypt(0.5), 1)


def test_what_is_missing_is_named(ring: CompileRing) -> None:
    function = fc.compile(
        smoothed, inputs={"engine": fc.engine(), "x": fc.encrypted(), "step": fc.static(1)}
    )
    with pytest.raises(CompileInputError, match="no config"):
        function.prepare()
    with pytest.raises(CompileInputError, match=r"'x' is missing.*a spec alone is enough"):
        function()
    with pytest.raises(TypeError, match="too many positional"):
        function(ring.encrypt(0.5), 1, 2)
    program = ring.capture(lambda x: -x, x=fc.encrypted()).program
    with pytest.raises(CompileInputError, match=r"names \['engine'\]"):
        fc.compile(program, inputs={"engine": fc.engine()})


def test_calls_are_optimized_as_torch_functions_are(ring: CompileRing) -> None:
    """Equal calls are made once, rotations share their digits, products are fused."""

    def circuit(engine, x):
        moved = engine.add(engine.rotate_by_step(x, 1), engine.rotate_by_step(x, 3))
        again = engine.add(engine.rotate_by_step(x, 1), engine.rotate_by_step(x, 3))
        product = engine.relinearize(engine.multiply(moved, again))
        return engine.rescale_to_next_depth(product)

    x = ring.encrypt(0.5, output_domain="ntt")
    function = fc.compile(circuit, inputs={"engine": fc.engine()}, keys=[ring.keys])
    assert torch.equal(function(x).data, circuit(ring.engine, x).data)
    (ready,) = function.specializations
    kinds = [type(op) for op in ready.program.operations if type(op) in ckks.CKKS.operations]
    assert kinds == [ckks.RotateManyOp, ckks.AddOp, ckks.MultiplyRescaleOp]


def test_what_a_function_places_itself_stays(ring: CompileRing) -> None:
    """A rescaling of three components, and a result that is no canonical scale."""

    def function(engine, x, y):
        low = engine.rescale_to_next_depth(engine.multiply(x, y))
        return low, engine.multiply_scalar(engine.relinearize(low), 0.5)

    values = [ring.encrypt(number) for number in (0.25, 0.5)]
    compiled = fc.compile(function, inputs={"engine": fc.engine()}, keys=[ring.keys])
    expected = function(ring.engine, *values)
    for found, wanted in zip(compiled(*values), expected, strict=True):
        assert torch.equal(found.data, wanted.data)
        assert found.state == wanted.state
    (ready,) = compiled.specializations
    text = ready.program.to_text()
    assert fc.Program.parse(text).to_text() == text
    again = fc.compile(fc.Program.parse(text), keys=[ring.keys])
    assert torch.equal(again(*values)[0].data, expected[0].data)
