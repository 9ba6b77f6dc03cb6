"""Every declared operation: complete, honest about unknown states, and right on real values."""

from __future__ import annotations

import inspect

import pytest
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FloatAttr, IntegerAttr, ModuleOp, f64, i64
from xdsl.dialects.test import Test, TestOp
from xdsl.parser import Parser

from fhelium import Ciphertext, DecryptPolicy, Engine
from fhelium.eager.core import EngineCore
from fhelium.ir.dialects import ckks, ntt, rns
from fhelium.ir.operation import DeclaredOperation
from fhelium.values import CkksState
from samples import SAMPLES, Sample

DIALECTS = (ckks.CKKS, rns.RNS, ntt.NTT)
OPERATIONS = [op for dialect in DIALECTS for op in dialect.operations]


def clear_operand(kind: str, generator: torch.Generator) -> torch.Tensor:
    parts = torch.rand(2, 512, dtype=torch.float64, generator=generator) * 1.4 - 0.7
    return torch.complex(parts[0], parts[1])


def encrypted_operand(ring, kind: str, clear: torch.Tensor, domain: str):
    engine: Engine = ring.engine
    keys = {
        "relinearization": ring.keys.relinearization,
        "rotation": lambda: ring.keys.rotation(3),
        "conjugation": ring.keys.conjugation,
    }
    if kind in keys:
        return keys[kind](), None
    ciphertext = engine.encrypt_message(clear, ring.public_key, output_domain=domain)
    if kind == "product":
        return engine.square(ciphertext), clear * clear
    if kind == "plaintext+":
        return engine.prepare_plaintext(clear, like=ciphertext, for_="add"), clear
    if kind == "plaintext*":
        return engine.prepare_plaintext(clear, like=ciphertext), clear
    return ciphertext, clear


def calls() -> list[tuple[Sample, str]]:
    return [(sample, domain) for sample in SAMPLES for domain in sample.domains]


@pytest.mark.parametrize(
    ("sample", "domain"), calls(), ids=lambda v: getattr(v, "operation", type(v)).__name__
)
def test_engine_matches_the_reference(small, sample: Sample, domain: str) -> None:
    """The Engine's result decrypts to the reference on the clear operands, within its bound."""
    generator = torch.Generator().manual_seed(7)
    clear = [clear_operand(kind, generator) for kind in sample.operands]
    pairs = [
        encrypted_operand(small, kind, message, domain)
        for kind, message in zip(sample.operands, clear, strict=True)
    ]
    method = getattr(small.engine, sample.operation.ENGINE.name)
    before = [value.data.clone() for value, _ in pairs]
    result = method(*(value for value, _ in pairs), **sample.attributes)
    for (value, _), data in zip(pairs, before, strict=True):
        assert torch.equal(value.data, data)

    attributes = dict(sample.attributes)
    if sample.operation is ckks.RotateOp:
        attributes["step"] = 3
    messages = [message for _, message in pairs if message is not None]
    expected = sample.operation.reference(*messages, **attributes)
    private = DecryptPolicy.private()
    found = small.engine.decrypt_message(result, small.secret_key, policy=private)
    error = float((found - expected).abs().max())
    assert error <= result.noise_bound
    assert error > 0  # an exact zero would mean that nothing was encrypted
    assert result.noise_bound < 2.0**-9


def test_every_ckks_operation_has_a_sample() -> None:
    assert {sample.operation for sample in SAMPLES} == set(ckks.CKKS.operations)


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
    ciphertexts = [kind for kind in sample.operands if kind in ("ciphertext", "product")]
    unknown = [CkksState(config=small.config, insecure=True)] * len(ciphertexts)
    others = [CkksState(config=small.config, insecure=True)] * (
        len(sample.operands) - len(ciphertexts)
    )
    attributes = dict(sample.attributes)
    if sample.operation is ckks.RotateOp:
        attributes["step"] = 3
    state = sample.operation.transfer(*unknown, *others, **attributes)
    assert state.noise_bound is None
    assert state.insecure
    if "depth" not in attributes:
        assert state.depth is None


def _operands(operation: type[DeclaredOperation]) -> TestOp:
    types = []
    for _, definition in operation.get_irdl_definition().operands:
        constraint = definition.constr
        while not hasattr(constraint, "attr"):
            constraint = getattr(constraint, "constraint", None) or constraint.constr
        types.append(constraint.attr())
    return TestOp(result_types=types)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_text_parses_back(operation: type[DeclaredOperation]) -> None:
    """An operation prints as MLIR text that parses back to the same text and verifies."""
    source = _operands(operation)
    properties = {
        "step": IntegerAttr(3, i64),
        "depth": IntegerAttr(2, i64),
        "value": FloatAttr(0.5, f64),
    }
    definition = operation.get_irdl_definition()
    known = {k: v for k, v in properties.items() if k in definition.properties}
    operands = list(source.results)
    grouped = [operands] if operation.name.startswith("ntt.") else operands
    if operation.name.startswith("ntt."):
        grouped = [operands[0], operands[1:]]
    made = operation.build(
        operands=grouped, result_types=[type(operands[0].type)()], properties=known
    )
    module = ModuleOp([source, made])
    module.verify()
    context = Context()
    for dialect in (*DIALECTS, Builtin, Test):
        context.load_dialect(dialect)
    parsed = Parser(context, str(module)).parse_module()
    parsed.verify()
    assert str(parsed) == str(module)


def test_results_are_ciphertexts() -> None:
    for operation in ckks.CKKS.operations:
        ((_, definition),) = operation.get_irdl_definition().results
        assert "CiphertextType" in str(definition.constr)
    assert Ciphertext.__name__ == ckks.CiphertextType.VALUE_CLASS
