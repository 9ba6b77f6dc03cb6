"""What the rules refuse that no Engine can be asked, and what they conclude from two operands."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fhelium.compile.states import infer_states
from fhelium.errors import BoundError, DepthExhaustedError, ProgramError, StateError
from fhelium.ir.dialects import ckks, logical, rns
from fhelium.ir.program import Program
from fhelium.values import CkksState
from fhelium.values.state import AXES
from operation_samples import SAMPLES

RESIDUES = {"depth": 0, "polynomial_domain": "coefficient", "modulus_basis": "Q", "components": 2}
FACTOR = {"polynomial_domain": "ntt", "residue_representation": "montgomery"}


def state(config, **axes: Any) -> CkksState:
    return CkksState(config=config, insecure=True, **axes)


@pytest.mark.parametrize(
    ("operation", "axes", "attributes", "fact"),
    [
        (rns.ComponentOp, {}, {"index": -1}, "asked for are 0 components, there are 2"),
        (rns.FirstComponentsOp, {}, {"count": 0}, "asked for are 0 components, there are 2"),
        (rns.DropLimbsOp, {}, {"target_depth": 9}, "asked for depth 9, the largest depth is 3"),
        (rns.DropLimbsOp, {"depth": None}, {"target_depth": -1}, "asked for is -1"),
        (rns.AutomorphismOp, {}, {"galois_element": 4}, "galois_element is 4, needed is an odd"),
        (rns.RescaleOp, {}, {"rounding": "up"}, "rounding is 'up', needed is 'nearest' or"),
        (ckks.RescaleOp, {}, {"rounding": "up"}, "rounding is 'up', needed is 'nearest' or"),
        (ckks.ModSwitchOp, {"depth": None}, {"depth": -1}, "asked for is -1"),
    ],
)
def test_attributes_that_mean_nothing(small, operation, axes, attributes, fact) -> None:
    """They are refused also where nothing else is known."""
    with pytest.raises((StateError, DepthExhaustedError), match=fact):
        operation.transfer(state(small.config, **{**RESIDUES, **axes}), **attributes)


@pytest.mark.parametrize(
    ("operation", "domain"),
    [
        (rns.ModUpOp, "coefficient"),
        (rns.ModDownOp, "coefficient"),
        (rns.RescaleOp, "coefficient"),
        (rns.CiphertextSquareOp, "ntt"),
        (rns.AddConstantOp, "ntt"),
    ],
)
def test_what_is_computed_on_the_numbers_themselves_takes_no_montgomery_form(
    small, operation, domain
) -> None:
    axes = {**RESIDUES, "polynomial_domain": domain, "residue_representation": "montgomery"}
    with pytest.raises(StateError, match="residue representation is montgomery, needed is standa"):
        operation.transfer(state(small.config, **axes))


def test_a_key_is_on_qp(small) -> None:
    digits = state(small.config, polynomial_domain="ntt", modulus_basis="QP")
    with pytest.raises(StateError, match="modulus basis is Q, needed is QP"):
        rns.KeySwitchInnerProductOp.transfer(digits, digits.replace(modulus_basis="Q"))


def test_components_of_residues(small) -> None:
    """One broadcasts over several; what is raised or added to the first is one."""
    one, two, three = (state(small.config, components=count) for count in (1, 2, 3))
    assert rns.AddStandardOp.transfer(one, two).components == 2
    assert rns.MultiplyMontgomeryOp.transfer(three, one).components == 3
    with pytest.raises(StateError, match="components is 2 for operand 0 and 3 for operand 1"):
        rns.SubtractStandardOp.transfer(two, three)
    for operation in (rns.AddToFirstComponentOp, rns.KeySwitchInnerProductOp):
        with pytest.raises(StateError, match="components is 2, needed is 1"):
            operation.transfer(two, two)


def test_plaintexts_and_ciphertexts_are_on_q(small) -> None:
    with pytest.raises(StateError, match="modulus basis is QP, needed is Q"):
        ckks.FromMontgomeryOp.transfer(state(small.config, modulus_basis="QP"))
    for operation in (ckks.AddPlaintextOp, ckks.MultiplyPlaintextOp):
        with pytest.raises(StateError, match="modulus basis is QP, needed is Q"):
            operation.transfer(state(small.config), state(small.config, modulus_basis="QP"))


def test_a_sum_has_terms() -> None:
    for operation, lists in ((ckks.AddManyOp, 1), (ckks.SumPlaintextProductsOp, 2)):
        with pytest.raises(StateError, match=f"{operation.public_name()}: there are no terms"):
            operation.transfer(*[[]] * lists)


@pytest.mark.parametrize("period", [0, 3, 1024])
def test_a_period_is_a_power_of_two(small, period) -> None:
    with pytest.raises(StateError, match=f"size is {period}, the number of slots is 512"):
        logical.SumOp.lower(None, small.config, None, period=period)  # pyright: ignore


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("operation", "axes"),
    [
        (ckks.AddOp, {"depth": 1, "scale": 2.0**30, "polynomial_domain": "ntt", "components": 2}),
        (ckks.MultiplyOp, {"depth": 1, "polynomial_domain": "ntt"}),
        (rns.AddStandardOp, {"depth": 1, "modulus_basis": "QP", "polynomial_domain": "ntt"}),
    ],
)
def test_a_result_knows_what_either_operand_knows(small, operation, axes, order) -> None:
    known = state(small.config, **axes)
    result = operation.transfer(*(known, state(small.config))[::order])
    assert {axis: getattr(result, axis) for axis in axes} == axes | (
        {"components": 3} if "components" in axes and operation is ckks.MultiplyOp else {}
    )


def test_a_result_knows_what_the_plaintext_knows(small) -> None:
    ciphertext, plaintext = state(small.config), state(small.config, depth=2, scale=2.0**30)
    result = ckks.AddPlaintextOp.transfer(ciphertext, plaintext)
    assert (result.depth, result.scale) == (2, 2.0**30)


def test_errors_name_the_operation_that_was_called(small) -> None:
    """Also where its rule is made of another's."""
    config = small.config
    large = CkksState.fresh(config, message_bound=2.0**60, noise_bound=0.0, insecure=True)
    factor = large.replace(**FACTOR, components=1)
    with pytest.raises(BoundError, match=r"^align_to_depth: "):
        ckks.AlignOp.transfer(large, depth=3)
    with pytest.raises(BoundError, match=r"^sum_plaintext_products: "):
        ckks.SumPlaintextProductsOp.transfer([large], [factor])


@pytest.mark.parametrize(
    ("axis", "fact"),
    [
        ("scale = 0.0", "scale is 0.0, needed is finite and at least 1"),
        ("components = 7", "components is 7, it can be 1 or 2 or 3"),
    ],
)
def test_texts_with_axes_that_no_value_has(axis, fact) -> None:
    text = f"func.func @f(%x: !ckks.ciphertext<{axis}>) {{ func.return }}"
    with pytest.raises(ProgramError, match=fact):
        Program.parse(text)


def test_a_polynomial_has_coefficients() -> None:
    text = """func.func @f(%x: !semantic.tensor) -> !semantic.tensor {
      %0 = "semantic.polynomial"(%x) <{coefficients = []}> : (!semantic.tensor) -> !semantic.tensor
      func.return %0 : !semantic.tensor
    }"""
    with pytest.raises(ProgramError, match="a polynomial has 0 coefficients"):
        Program.parse(text)


ROTATION = """func.func @f(%x: !ckks.ciphertext) -> !ckks.ciphertext {{
  %k = "core.material"() <{{symbol = "rotation-key:3"}}> : () -> !ckks.rotation_key
  %0 = "ckks.rotate{many}"(%x, %k)
    <{{{step}, operandSegmentSizes = array<i32: 1, 1, 0>}}>
    : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}}"""


@pytest.mark.parametrize(
    ("many", "step"), [("", "step = {} : i64"), ("_many", "steps = [{} : i64]")]
)
def test_a_rotation_reads_the_key_of_its_step(small, many, step) -> None:
    def infer(number: int) -> None:
        program = Program.parse(ROTATION.format(many=many, step=step.format(number)))
        infer_states(program, small.config)

    infer(3)
    infer(3 - 512)
    with pytest.raises(StateError, match="step is 5, the key is rotation-key:3"):
        infer(5)


def complete_state(config, kind: str, domain: str) -> Any:
    """The state of an operand of a sample, with every axis known."""
    if "texts" in kind:
        return [complete_state(config, kind.replace("texts", "text"), domain)] * 3
    if not kind.startswith(("ciphertext", "plaintext", "product")):
        return state(config, key_id="owner")  # of a key
    axes: dict[str, Any] = {"noise_bound": 1e-6, "message_bound": 1.0, "insecure": True}
    axes |= {"polynomial_domain": domain, "key_id": "owner"}
    axes |= {"scale": 2.0**60, "components": 3} if kind == "product" else {}
    axes |= {"components": 1, "key_id": None} if kind.startswith("plaintext") else {}
    axes |= FACTOR if kind.startswith("plaintext*") else {}
    return CkksState.fresh(config, **axes)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.operation.__name__)
def test_what_is_partly_known_is_never_contradicted(small, sample) -> None:
    """Less knowledge refuses nothing more and concludes nothing else; a bound may be larger."""
    chance = random.Random(5)
    given = {ckks.RotateOp: {"step": 3}, ckks.SwitchKeyOp: {"source_key_id": "owner"}}
    attributes = {**sample.attributes, **given.get(sample.operation, {})}
    states = [complete_state(small.config, kind, sample.domains[0]) for kind in sample.operands]
    if sample.operation is ckks.RotateManyOp:
        states.append([state(small.config, key_id="owner")] * 3)
    complete = sample.operation.transfer(*states, **attributes)

    def forgetful(known: Any) -> Any:
        if isinstance(known, list):
            return [forgetful(each) for each in known]
        forgotten = [axis for axis in AXES[1:-1] if chance.random() < 0.3]
        return known.replace(**dict.fromkeys(forgotten))

    for _ in range(100):
        found = sample.operation.transfer(*map(forgetful, states), **attributes)
        for axis in AXES:
            value, expected = getattr(found, axis), getattr(complete, axis)
            larger = axis == "noise_bound" and value is not None and value >= expected
            assert value is None or value == expected or larger, axis
