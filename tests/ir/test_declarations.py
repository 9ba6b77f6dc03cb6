"""Every declared operation: complete, honest about unknown states, and right on real values."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from xdsl.context import Context
from xdsl.dialects import test as mlir
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    f64,
    i64,
)
from xdsl.irdl import OptOperandDef, VarOperandDef, VarResultDef
from xdsl.parser import Parser

from fhelium import Ciphertext, DecryptPolicy, Engine, SecretKey
from fhelium.eager.core import EngineCore
from fhelium.errors import OperandTypeError
from fhelium.ir.dialects import ckks, ntt, rns
from fhelium.ir.operation import DeclaredOperation, declared_type
from fhelium.values import CkksState
from operation_samples import SAMPLES, Sample

DIALECTS = (ckks.CKKS, rns.RNS, ntt.NTT)
OPERATIONS = [op for dialect in DIALECTS for op in dialect.operations]


@dataclass(frozen=True)
class Operand:
    """One argument of an Engine method with what it holds in the clear."""

    argument: Any
    clear: tuple[torch.Tensor, ...] = ()

    @property
    def values(self) -> list[Any]:
        return self.argument if isinstance(self.argument, list) else [self.argument]


@pytest.fixture(scope="module")
def other_secret_key(small) -> SecretKey:
    return small.engine.create_secret_key()


def message(generator: torch.Generator) -> torch.Tensor:
    parts = torch.rand(2, 512, dtype=torch.float64, generator=generator) * 1.4 - 0.7
    return torch.complex(parts[0], parts[1])


def operand(ring, other: SecretKey, kind: str, domain: str, generator) -> Operand:
    engine: Engine = ring.engine
    keys = {
        "relinearization": ring.keys.relinearization,
        "rotation": lambda: ring.keys.rotation(3),
        "conjugation": ring.keys.conjugation,
        "switching": lambda: engine.create_switching_key(ring.secret_key, other),
    }
    if kind in keys:
        return Operand(keys[kind]())
    if kind.startswith(("ciphertexts", "plaintexts")):
        single = kind.replace("texts", "text")
        parts = [operand(ring, other, single, domain, generator) for _ in range(3)]
        clear = tuple(part.clear[0] for part in parts)
        return Operand([part.argument for part in parts], clear)
    clear = message(generator)
    ciphertext = engine.encrypt_message(clear, ring.public_key, output_domain=domain)
    if kind == "product":
        return Operand(engine.square(ciphertext), (clear * clear,))
    if kind == "plaintext+":
        return Operand(engine.prepare_plaintext(clear, like=ciphertext, for_="add"), (clear,))
    if kind == "plaintext*":
        return Operand(engine.prepare_plaintext(clear, like=ciphertext), (clear,))
    return Operand(ciphertext, (clear,))


def operands_of(ring, other: SecretKey, sample: Sample, domain: str) -> list[Operand]:
    generator = torch.Generator().manual_seed(7)
    return [operand(ring, other, kind, domain, generator) for kind in sample.operands]


def reference_attributes(sample: Sample) -> dict[str, Any]:
    """The attributes of the clear meaning: also what the Engine reads off keys and states."""
    derived = {
        ckks.RotateOp: {"step": 3},
        ckks.SwitchKeyOp: {"source_key_id": "source"},
        ckks.ReinterpretScaleOp: {"old_scale": 2.0**30},
    }
    return {**sample.attributes, **derived.get(sample.operation, {})}


CALLS = [
    pytest.param(sample, domain, id=f"{sample.operation.name}-{domain}")
    for sample in SAMPLES
    for domain in sample.domains
]


@pytest.mark.parametrize(("sample", "domain"), CALLS)
def test_engine_matches_the_reference(small, other_secret_key, sample, domain) -> None:
    """The Engine's results decrypt to the reference on the clear operands, within their bounds."""
    operands = operands_of(small, other_secret_key, sample, domain)
    method = getattr(small.engine, sample.operation.ENGINE.name)
    values = [value for operand in operands for value in operand.values]
    before = [value.data.clone() for value in values]
    result = method(*(operand.argument for operand in operands), **sample.attributes)
    for value, data in zip(values, before, strict=True):
        assert torch.equal(value.data, data)

    clear = [part for operand in operands for part in operand.clear]
    expected = sample.operation.reference(*clear, **reference_attributes(sample))
    results, expected = (result, expected) if isinstance(result, list) else ([result], [expected])
    assert len(results) == len(expected)
    secret = other_secret_key if sample.operation is ckks.SwitchKeyOp else small.secret_key
    for ciphertext, wanted in zip(results, expected, strict=True):
        private = DecryptPolicy.private()
        found = small.engine.decrypt_message(ciphertext, secret, policy=private)
        error = float((found - wanted).abs().max())
        assert error <= ciphertext.noise_bound
        assert error > 0  # an exact zero would mean that nothing was encrypted
        assert ciphertext.noise_bound < 2.0**-8


@pytest.mark.parametrize(
    ("sample", "domain"),
    [call for call in CALLS if call.values[0].operation.FACTS.in_place],
)
def test_twin_writes_what_the_method_returns(small, other_secret_key, sample, domain) -> None:
    operands = operands_of(small, other_secret_key, sample, domain)
    first, *rest = (operand.argument for operand in operands)
    name = sample.operation.ENGINE.name
    expected = getattr(small.engine, name)(first, *rest, **sample.attributes)
    target = first.clone()
    address = target.data.data_ptr()
    returned = getattr(small.engine, f"{name}_")(target, *rest, **sample.attributes)
    assert returned is target
    assert target.data.data_ptr() == address
    assert torch.equal(target.data, expected.data)
    assert target.state == expected.state


def test_every_ckks_operation_has_a_sample() -> None:
    of_the_engine = {op for op in ckks.CKKS.operations if op.ENGINE is not None}
    assert {sample.operation for sample in SAMPLES} == of_the_engine


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_declaration_is_complete(operation: type[DeclaredOperation]) -> None:
    assert issubclass(operation, DeclaredOperation)
    text = inspect.getdoc(operation) or ""
    assert "Shapes:" in text
    assert text.splitlines()[0].endswith(".")
    transfer = inspect.signature(operation.transfer)
    assert transfer.return_annotation == "CkksState"
    if operation.ENGINE is not None:
        for section in ("State:", "Cost:", "Raises:", "Example:", "Source:"):
            assert section in text, f"{operation.name} has no {section}"
        method = getattr(Engine, operation.ENGINE.name)
        assert inspect.getdoc(method) == text
        assert not hasattr(EngineCore, operation.ENGINE.name)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.operation.__name__)
def test_transfer_with_unknown_states(small, sample: Sample) -> None:
    """What is not known yet agrees with anything, raises nothing and stays unknown."""
    unknown = CkksState(config=small.config, insecure=True)
    states = [[unknown] * 3 if "texts" in kind else unknown for kind in sample.operands]
    attributes = reference_attributes(sample)
    attributes.pop("old_scale", None)
    if sample.operation is ckks.RotateManyOp:
        states.append([unknown] * 3)  # one key a step
    state = sample.operation.transfer(*states, **attributes)
    assert state.noise_bound is None
    assert state.insecure
    if "depth" not in attributes:
        assert state.depth is None


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_text_parses_back(operation: type[DeclaredOperation]) -> None:
    """An operation prints as MLIR text that parses back to the same text and verifies."""
    definition = operation.get_irdl_definition()
    properties = {
        "step": IntegerAttr(3, i64),
        "steps": ArrayAttr([IntegerAttr(1, i64), IntegerAttr(2, i64)]),
        "depth": IntegerAttr(2, i64),
        "value": FloatAttr(0.5, f64),
        "scale": FloatAttr(2.0**29, f64),
        "bound": FloatAttr(0.5, f64),
        "factor": FloatAttr(0.5, f64),
        "source_key_id": StringAttr("source"),
        "index": IntegerAttr(1, i64),
        "count": IntegerAttr(2, i64),
        "target_depth": IntegerAttr(2, i64),
        "galois_element": IntegerAttr(5, i64),
    }
    known = {name: value for name, value in properties.items() if name in definition.properties}
    operands, sources = [], []
    for _, operand in definition.operands:
        many = isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef)
        count = 2 if many else 1
        source = mlir.TestOp(result_types=[declared_type(operand.constr)()] * count)
        sources.append(source)
        operands.append(source.results if count == 2 else source.results[0])
    ((_, result),) = definition.results
    kind = declared_type(result.constr)()
    results = [[kind] * 2] if isinstance(result, VarResultDef) else [kind]
    made = operation.build(operands=operands, result_types=results, properties=known)
    module = ModuleOp([*sources, made])
    module.verify()
    context = Context()
    for dialect in (*DIALECTS, Builtin, mlir.Test):
        context.load_dialect(dialect)
    parsed = Parser(context, str(module)).parse_module()
    parsed.verify()
    assert str(parsed) == str(module)


def test_results_are_ciphertexts() -> None:
    for operation in ckks.CKKS.operations:
        ((_, definition),) = operation.get_irdl_definition().results
        assert "CiphertextType" in str(definition.constr)
    assert Ciphertext.__name__ == ckks.CiphertextType.VALUE_CLASS


@pytest.mark.parametrize("domain", ["coefficient", "ntt"])
@pytest.mark.parametrize("depth", [0, 2])
def test_hoisted_rotations_are_single_rotations_bit_for_bit(small, domain, depth) -> None:
    clear = message(torch.Generator().manual_seed(9))
    fresh = small.engine.encrypt_message(clear, small.public_key, output_domain=domain)
    ciphertext = small.engine.mod_switch_to_depth(fresh, depth)
    steps = (3, 0, -1, 1)
    hoisted = small.engine.rotate_many_by_steps(ciphertext, steps)
    for step, result in zip(steps, hoisted, strict=True):
        single = small.engine.rotate_by_step(ciphertext, step)
        assert torch.equal(result.data, single.data)
        assert result.state == single.state


@pytest.mark.parametrize("kind", ["relinearization", "rotation", "conjugation", None])
def test_switch_key_takes_no_key_that_is_for_something_else(small, kind) -> None:
    """The others are switching keys by class: what they give would decrypt to garbage."""
    x = small.engine.encrypt_message(0.5, small.public_key)
    keys = {"rotation": lambda: small.keys.rotation(3), None: lambda: None}
    key = keys.get(kind, lambda: getattr(small.keys, kind)())()
    found = type(key).__name__
    with pytest.raises(OperandTypeError, match=f"key is a {found}, needed is a SwitchingKey"):
        small.engine.switch_key(x, key)


def test_lists_are_lists(small) -> None:
    x = small.engine.encrypt_message(0.5, small.public_key)
    with pytest.raises(OperandTypeError, match="steps is a int, needed is a list of ints"):
        small.engine.rotate_many_by_steps(x, 3)
    with pytest.raises(OperandTypeError, match="ciphertexts is no list"):
        small.engine.sum_plaintext_products(x, x)
