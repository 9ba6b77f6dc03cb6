"""Eager, linked and emitted: four routes of one Program, one result bit for bit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fhelium import compile as fc
from fhelium.backend import OperationBackend
from tests.compile.support import TO_CKKS, CompileRing

LOWER = fc.LowerCkksToRnsNttPass()


def routes(ring: CompileRing, compilation: fc.Compilation, values: list[Any]) -> dict[str, Any]:
    """Return what each route gives, as a tuple of values or of tensors."""
    lowered = fc.Pipeline((LOWER,)).run(compilation)
    indexed = fc.AssignNttImplementationPass("native-ntt", ntt_backend="radix2_indexed")
    validated = fc.Pipeline((indexed, LOWER)).run(compilation)
    functions = {
        "linked whole": ring.link(compilation).run,
        "linked lowered": ring.link(lowered).run,
        "linked validating": ring.link(validated).run,
        "emitted eager": ring.emitted(compilation, fc.EagerPythonSource),
        "emitted backend": ring.emitted(compilation, fc.BackendPythonSource),
        "emitted lowered": ring.emitted(lowered, fc.BackendPythonSource),
    }
    return {name: _tuple(function(*values)) for name, function in functions.items()}


def _tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def require_equal(found: dict[str, Any], expected: tuple[Any, ...]) -> None:
    for name, results in found.items():
        assert len(results) == len(expected), name
        for result, wanted in zip(results, expected, strict=True):
            data = result if isinstance(result, torch.Tensor) else result.data
            assert torch.equal(data, wanted.data), name
            if not isinstance(result, torch.Tensor):
                assert result.state == wanted.state, name


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_a_captured_function_takes_four_routes(ring: CompileRing, domain: str) -> None:
    def function(x, y, shift):
        return 1 - x + torch.roll(x, shift), -(x - y)

    axes = {"polynomial_domain": domain}
    captured = ring.capture(
        function, x=fc.encrypted(**axes), y=fc.encrypted(**axes), shift=fc.static(-1)
    )
    values = [ring.encrypt(number, output_domain=domain) for number in (0.25, 0.5)]
    found = routes(ring, fc.Pipeline(TO_CKKS).run(captured), values)
    engine, (x, y) = ring.engine, values
    expected = (
        engine.add(engine.add_scalar(engine.negate(x), 1.0), engine.rotate_by_step(x, -1)),
        engine.negate(engine.subtract(x, y)),
    )
    require_equal(found, expected)


OPERATIONS = {
    "add": '%0 = "ckks.add"(%x, %y) : (C, C) -> C',
    "subtract": '%0 = "ckks.subtract"(%x, %y) : (C, C) -> C',
    "negate": '%0 = "ckks.negate"(%x) : (C) -> C',
    "multiply": '%0 = "ckks.multiply"(%x, %y) : (C, C) -> C',
    "multiply to ntt": '%0 = "ckks.multiply"(%x, %y) <{output_domain = "ntt"}> : (C, C) -> C',
    "square": '%0 = "ckks.square"(%x) : (C) -> C',
    "add_scalar": '%0 = "ckks.add_scalar"(%x) <{value = -0.375 : f64}> : (C) -> C',
    "multiply_scalar": '%0 = "ckks.multiply_scalar"(%x) <{value = 0.75 : f64}> : (C) -> C',
    "add_many": '%0 = "ckks.add_many"(%x, %y, %x) '
    "<{operandSegmentSizes = array<i32: 3, 0>}> : (C, C, C) -> C",
    "relinearize": '%m = "ckks.multiply"(%x, %y) : (C, C) -> C\n'
    '%k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key\n'
    '%0 = "ckks.relinearize"(%m, %k) : (C, !ckks.relinearization_key) -> C',
    "relinearize to ntt": '%m = "ckks.multiply"(%x, %y) : (C, C) -> C\n'
    '%k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key\n'
    '%0 = "ckks.relinearize"(%m, %k) <{output_domain = "ntt"}> : '
    "(C, !ckks.relinearization_key) -> C",
    "multiply_rescale": '%k = "core.material"() <{symbol = "relinearization-key"}> : () -> '
    "!ckks.relinearization_key\n"
    '%0 = "ckks.multiply_rescale"(%x, %y, %k) : (C, C, !ckks.relinearization_key) -> C',
    "square and rescale": '%k = "core.material"() <{symbol = "relinearization-key"}> : () -> '
    "!ckks.relinearization_key\n"
    '%0 = "ckks.multiply_rescale"(%x, %x, %k) : (C, C, !ckks.relinearization_key) -> C',
    "rotate": '%k = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key\n'
    '%0 = "ckks.rotate"(%x, %k) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : '
    "(C, !ckks.rotation_key) -> C",
    "rotate to coefficient": '%k = "core.material"() <{symbol = "rotation-key:3"}> : () -> '
    "!ckks.rotation_key\n"
    '%0 = "ckks.rotate"(%x, %k) <{step = 3 : i64, output_domain = "coefficient", '
    "operandSegmentSizes = array<i32: 1, 1, 0>}> : (C, !ckks.rotation_key) -> C",
    "conjugate": '%k = "core.material"() <{symbol = "conjugation-key"}> : () -> '
    "!ckks.conjugation_key\n"
    '%0 = "ckks.conjugate"(%x, %k) : (C, !ckks.conjugation_key) -> C',
    "rescale": '%m = "ckks.multiply"(%x, %y) : (C, C) -> C\n%0 = "ckks.rescale"(%m) : (C) -> C',
    "mod_switch": '%0 = "ckks.mod_switch"(%x) <{depth = 2 : i64}> : (C) -> C',
    "align": '%0 = "ckks.align"(%x) <{depth = 2 : i64}> : (C) -> C',
    "align in place": '%0 = "ckks.align"(%x) <{depth = 0 : i64}> : (C) -> C',
    "reinterpret": '%0 = "ckks.reinterpret_scale"(%x) <{scale = 5.0e+8 : f64}> : (C) -> C',
    "assume": '%0 = "ckks.assume_message_bound"(%x) <{bound = 0.75 : f64}> : (C) -> C',
}


def program(lines: str, domain: str = "coefficient") -> str:
    """Write a Program of two ciphertexts that returns %0."""
    known = f"!ckks.ciphertext<depth = 0, polynomial_domain = {domain}, components = 2>"
    body = lines.replace("C", "!ckks.ciphertext")
    # The inputs' type is known, every other one is left to inference.
    head = f'func.func @f(%x_in: {known} {{core.name = "x"}}, %y_in: {known} {{core.name = "y"}})'
    casts = "".join(
        f'%{v} = "core.cast"(%{v}_in) : ({known}) -> !ckks.ciphertext\n' for v in ("x", "y")
    )
    return f"{head} -> !ckks.ciphertext {{\n{casts}{body}\nfunc.return %0 : !ckks.ciphertext\n}}"


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_lowered_bit_for_bit(ring: CompileRing, name: str, domain: str) -> None:
    compilation = fc.Pipeline((fc.AssignCkksScalesPass(),)).run(
        ring.parse(program(OPERATIONS[name], domain))
    )
    values = [ring.encrypt(number, output_domain=domain) for number in (0.25, 0.5)]
    found = routes(ring, compilation, values)
    expected = found.pop("emitted eager")
    require_equal(found, expected)


PLAIN = "!ckks.plaintext<depth = 0, polynomial_domain = {domain}, residue_representation = {form}>"


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_plaintexts_and_batches(ring: CompileRing, domain: str, batch: tuple[int, ...]) -> None:
    def function(x, p, q):
        return x + p, p - x, x * q, x - p

    captured = ring.capture(
        function,
        x=fc.encrypted(polynomial_domain=domain),
        p=fc.plaintext(polynomial_domain=domain, residue_representation="standard"),
        q=fc.plaintext(polynomial_domain="ntt", residue_representation="montgomery"),
    )
    message = torch.linspace(-1, 1, 512, dtype=torch.float64).expand(*batch, 512)
    engine, x = ring.engine, ring.encrypt(message, output_domain=domain)
    summand = engine.prepare_plaintext(0.5, like=x, for_="add")
    factor = engine.prepare_plaintext(message.flip(-1), like=x)
    found = routes(ring, fc.Pipeline(TO_CKKS).run(captured), [x, summand, factor])
    negated = engine.negate(x)
    expected = (
        engine.add_plaintext(x, summand),
        engine.add_plaintext(negated, summand),
        engine.multiply_plaintext(x, factor),
        engine.negate(engine.add_plaintext(negated, summand)),
    )
    require_equal(found, expected)


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
def test_a_plaintext_product_with_its_rescaling(ring: CompileRing, domain: str) -> None:
    x_type = f"!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = {domain}>"
    p_type = PLAIN.format(domain="ntt", form="montgomery")
    text = f"""
    func.func @f(%x: {x_type} {{core.name = "x"}}, %p: {p_type} {{core.name = "p"}})
        -> !ckks.ciphertext {{
      %0 = "ckks.multiply_plaintext_rescale"(%x, %p) : ({x_type}, {p_type}) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }}"""
    engine, x = ring.engine, ring.encrypt(0.25, output_domain=domain)
    factor = engine.prepare_plaintext(torch.linspace(-1, 1, 512), like=x)
    found = routes(ring, ring.parse(text), [x, factor])
    require_equal(found, (engine.multiply_plaintext_and_rescale(x, factor),))


def test_sums_of_plaintext_products_and_hoisted_rotations(ring: CompileRing) -> None:
    x_type = "!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>"
    p_type = PLAIN.format(domain="ntt", form="montgomery")
    text = f"""
    func.func @f(%x: {x_type} {{core.name = "x"}}, %p: {p_type} {{core.name = "p"}})
        -> (!ckks.ciphertext, !ckks.ciphertext) {{
      %k = "core.material"() <{{symbol = "rotation-key:1"}}> : () -> !ckks.rotation_key
      %l = "core.material"() <{{symbol = "rotation-key:3"}}> : () -> !ckks.rotation_key
      %0, %1 = "ckks.rotate_many"(%x, %k, %l)
        <{{steps = [1 : i64, 3 : i64], operandSegmentSizes = array<i32: 1, 2, 0>}}>
        : ({x_type}, !ckks.rotation_key, !ckks.rotation_key)
        -> (!ckks.ciphertext, !ckks.ciphertext)
      %2 = "ckks.sum_plaintext_products"(%0, %1, %p, %p)
        <{{operandSegmentSizes = array<i32: 2, 2, 0>}}>
        : (!ckks.ciphertext, !ckks.ciphertext, {p_type}, {p_type}) -> !ckks.ciphertext
      func.return %1, %2 : !ckks.ciphertext, !ckks.ciphertext
    }}"""
    compilation = fc.Pipeline((fc.AssignCkksScalesPass(),)).run(ring.parse(text))
    engine, x = ring.engine, ring.encrypt(0.5, output_domain="ntt")
    factor = engine.prepare_plaintext(0.25, like=x)
    found = routes(ring, compilation, [x, factor])
    one, three = engine.rotate_many_by_steps(x, (1, 3))
    require_equal(found, (three, engine.sum_plaintext_products([one, three], [factor, factor])))


def test_a_change_of_the_secret_key(ring: CompileRing) -> None:
    engine = ring.engine
    key = engine.create_switching_key(ring.secret_key, engine.create_secret_key())
    symbol, x_type = f"switching-key:{key.source_key_id}", "!ckks.ciphertext<depth = 0>"
    text = f"""
    func.func @f(%x: {x_type} {{core.name = "x"}}) -> !ckks.ciphertext {{
      %k = "core.material"() <{{symbol = "{symbol}"}}> : () -> !ckks.switching_key
      %0 = "ckks.switch_key"(%x, %k) <{{source_key_id = "{key.source_key_id}"}}>
        : ({x_type}, !ckks.switching_key) -> !ckks.ciphertext
      func.return %0 : !ckks.ciphertext
    }}"""
    text = text.replace("depth = 0", "depth = 0, polynomial_domain = coefficient")
    compilation = ring.parse(text)
    needed = fc.EvaluationKeyRequirements.of(compilation)
    assert needed.source_key_ids == (key.source_key_id,)
    x = ring.encrypt(0.5)
    expected = engine.switch_key(x, key)
    for steps in ((), (fc.LowerCkksToRnsNttPass(),)):
        found = fc.Pipeline(steps).run(compilation)
        assert fc.prepare_material_bindings(found, resources=ring.resources, keys=[key]) == ()
        require_equal({"linked": (OperationBackend().link(found).run(x),)}, (expected,))
