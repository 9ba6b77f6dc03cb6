"""Functions written against the Engine: captured, linked and run, they give the Engine's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fhelium import CkksConfig
from fhelium import compile as fc
from fhelium.compile.symbolic_engine import SymbolicEngine
from fhelium.errors import CaptureError, MessageValueError, OperandTypeError, StateError
from fhelium.ir.dialects.ckks import CKKS
from tests.compile.support import CompileRing, load
from tests.compile.test_routes import require_equal

OPEN = (fc.AssignCkksDepthsPass(), fc.AssignCkksScalesPass())


def captured(ring: CompileRing, function: Callable[..., Any], **inputs: Any) -> fc.Compilation:
    found = ring.capture(function, engine=fc.engine(), **inputs)
    return fc.Pipeline(OPEN).run(found)


def everything(engine, x, y, weights, ones, key):
    """Call most methods, an in-place one and the composed ones among them."""
    product = engine.multiply_and_rescale(x, y)
    weighted = engine.rescale_to_next_depth(engine.sum_plaintext_products([x, y], weights))
    engine.add_(weighted, product)
    parts = engine.rotate_many_by_steps(weighted, (0, 1, -1))
    total = engine.rotate_by_step(engine.add_many(parts), 513)
    total = engine.subtract(engine.conjugate(total), engine.rotate_with_key(total, key))
    total = engine.add(total, engine.align_to_depth(engine.negate(x), 1))
    square = engine.relinearize(engine.square(total))
    half = engine.multiply_scalar(engine.rescale_to_next_depth(square), 0.5)
    return engine.rescale_to_next_depth(half), engine.add_plaintext(x.clone(), ones)


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("depth", [0, None])
def test_a_captured_function_gives_the_bits_of_the_engine(
    ring: CompileRing, domain: str, depth: int | None
) -> None:
    engine = ring.engine
    x, y = (ring.encrypt(number, output_domain=domain) for number in (0.25, -0.5))
    weights = [engine.prepare_plaintext(w, like=x) for w in (0.75, torch.linspace(0, 1, 512))]
    ones = engine.prepare_plaintext(1.0, like=x, for_="add")
    key = ring.keys.rotation(3)
    spec = fc.encrypted(depth=depth, polynomial_domain=domain)
    compilation = captured(
        ring,
        everything,
        x=spec,
        y=spec,
        weights=fc.static(weights),
        ones=fc.static(ones),
        key=fc.static(key),
    )
    assert set(compilation.material_bindings) == {
        "plaintext:0",
        "plaintext:1",
        "plaintext:2",
        "rotation-key:3",
    }
    lowered = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(compilation)
    found = {
        "linked whole": ring.link(compilation).run(x, y),
        "linked lowered": ring.link(lowered).run(x, y),
        "emitted backend": ring.emitted(compilation, fc.BackendPythonSource)(x, y),
        "emitted eager": emitted_eager(ring, compilation, [*weights, ones])(x, y),
    }
    require_equal(found, everything(engine, x, y, weights, ones, key))


def emitted_eager(
    ring: CompileRing, compilation: fc.Compilation, plaintexts: list[Any]
) -> Callable[..., Any]:
    source = (
        fc.Pipeline((fc.EmitEagerPythonPass(),)).run(compilation).workspace[fc.EagerPythonSource]
    )
    materials = {
        symbol: plaintexts[int(symbol[10:])]
        if symbol.startswith("plaintext:")
        else ring.key(symbol)
        for symbol in source.material_symbols
    }
    function = load(source)
    return lambda *values: function(ring.engine, *values, materials=materials, resources={})


def test_a_plaintext_can_be_an_input(ring: CompileRing) -> None:
    def weighted(engine, x, w):
        return engine.rescale_to_next_depth(engine.multiply_plaintext(x, w))

    x = ring.encrypt(0.25)
    w = ring.engine.prepare_plaintext(0.5, like=x)
    axes = {"polynomial_domain": "ntt", "residue_representation": "montgomery"}
    compilation = captured(
        ring, weighted, x=fc.encrypted(polynomial_domain="coefficient"), w=fc.plaintext(**axes)
    )
    found = ring.link(compilation).run(x, w)
    assert torch.equal(found.data, weighted(ring.engine, x, w).data)


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_messages_are_encoded_as_the_engine_does(ring: CompileRing, domain: str) -> None:
    weights = torch.linspace(-2, 1, 512)

    def function(engine, x, shift):
        factor = engine.prepare_plaintext(weights.numpy(), like=x, for_="multiply")
        product = engine.rescale_to_next_depth(engine.multiply_plaintext(x, factor))
        for summand in (0.25, shift):
            encoded = engine.prepare_plaintext(summand, product, "add")
            product = engine.add_plaintext(product, encoded)
        return product

    spec = fc.encrypted(depth=0, scale=ring.config.scale_at(0), polynomial_domain=domain)
    compilation = captured(ring, function, x=spec, shift=fc.message())
    x, shift = ring.encrypt(0.5, output_domain=domain), torch.linspace(0, 1, 512)
    expected = function(ring.engine, x, shift)
    lowered = fc.Pipeline((fc.LowerCkksToRnsNttPass(),)).run(compilation)
    for stage in (compilation, lowered):
        found = ring.link(stage).run(x, shift)
        assert torch.equal(found.data, expected.data)
        assert found.state == expected.state
    (predicted,) = compilation.simulate({"x": 0.5, "shift": shift})
    assert torch.allclose(predicted.value.real, 0.5 * weights.double() + 0.25 + shift)


@pytest.mark.parametrize(
    ("message", "options", "error", "text"),
    [
        (torch.zeros(7), {}, MessageValueError, "7 values"),
        (torch.zeros(512, dtype=torch.complex64), {}, CaptureError, "complex64"),
        (torch.zeros(2, 512), {}, CaptureError, "shape"),
        (torch.full((512,), torch.nan), {}, MessageValueError, "NaN"),
        (0.5, {"message_bound": 1.0}, CaptureError, "message_bound"),
        (0.5, {"for_": "divide"}, StateError, "divide"),
    ],
)
def test_messages_that_cannot_be_captured(ring: CompileRing, message, options, error, text) -> None:
    with pytest.raises(error, match=text) as raised:
        ring.capture(
            lambda engine, x: engine.prepare_plaintext(message, x, **options),
            engine=fc.engine(),
            x=fc.encrypted(depth=0),
        )
    assert f"{__file__}, line " in str(raised.value)


def test_keys_are_known_before_any_exists() -> None:
    config = CkksConfig.create(depth=2, scale_bits=40)

    def function(engine, x):
        return engine.sum_slots(engine.conjugate(engine.multiply_and_rescale(x, x)), 4)

    workspace = fc.CompileWorkspace({CkksConfig: config})
    inputs = {"engine": fc.engine(), "x": fc.encrypted(depth=0)}
    found = fc.EvaluationKeyRequirements.of(
        fc.capture(function, inputs=inputs, workspace=workspace)
    )
    assert found.steps == (config.num_slots - 2, config.num_slots - 1)
    assert found.needs_relinearization
    assert found.needs_conjugation


def test_states_are_read_as_on_the_engine(ring: CompileRing) -> None:
    seen = []

    def function(engine, x):
        low = engine.rescale_to_next_depth(engine.square(x))
        seen.append((low.depth, low.level, low.scale, low.components, low.polynomial_domain))
        assert "depth 1/3" in repr(low)
        return low

    scale = ring.config.scale_at(0)
    spec = fc.encrypted(depth=0, scale=scale, polynomial_domain="ntt")
    ring.capture(function, engine=fc.engine(), x=spec)
    function(ring.engine, ring.encrypt(0.5, output_domain="ntt"))
    assert seen[0] == seen[1]


def test_every_method_of_the_declarations_is_there() -> None:
    names = {op.ENGINE.name for op in CKKS.operations if op.ENGINE is not None}
    assert names <= set(dir(SymbolicEngine))


MISUSE = {
    "data": (CaptureError, "residues", lambda engine, x, other: x.data),
    "indexed": (CaptureError, "batch axes", lambda engine, x, other: x[0]),
    "unknown scale": (CaptureError, "scale of a value", lambda engine, x, other: x.scale),
    "truth": (OperandTypeError, "bool", lambda engine, x, other: bool(x)),
    "operator": (OperandTypeError, "Use engine.add", lambda engine, x, other: x + x),
    "key": (CaptureError, "create_secret_key", lambda engine, x, other: engine.create_secret_key()),
    "number": (OperandTypeError, "add_scalar", lambda engine, x, other: engine.add(x, 1)),
    "foreign": (CaptureError, "no input", lambda engine, x, other: engine.add(x, other)),
    "state": (StateError, "relinearize", lambda engine, x, other: engine.add(x, engine.square(x))),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_named_with_its_line(ring: CompileRing, name: str) -> None:
    error, text, function = MISUSE[name]
    with pytest.raises(error, match=text) as raised:
        ring.capture(
            function, engine=fc.engine(), x=fc.encrypted(), other=fc.static(ring.encrypt(0.5))
        )
    assert f"{__file__}, line " in str(raised.value)


def test_what_cannot_be_captured_is_refused(ring: CompileRing) -> None:
    inputs = {"engine": fc.engine(), "x": fc.encrypted()}
    with pytest.raises(CaptureError, match="returns a float"):
        ring.capture(lambda engine, x: 0.5, **inputs)
    kept = []
    ring.capture(lambda engine, x: kept.append(x) or x, **inputs)
    with pytest.raises(CaptureError, match="another capture"):
        ring.capture(lambda engine, x: engine.add(x, kept[0]), **inputs)
    keys = [ring.engine.create_rotation_key(1, ring.secret_key) for _ in range(2)]
    with pytest.raises(CaptureError, match="two different values"):
        ring.capture(
            lambda engine, x, keys: engine.rotate_with_key(
                engine.rotate_with_key(x, keys[0]), keys[1]
            ),
            keys=fc.static(keys),
            **inputs,
        )
