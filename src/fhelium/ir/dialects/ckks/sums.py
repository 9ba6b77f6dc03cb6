"""Sums of many values in one operation, so that only one result is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    result_def,
    var_operand_def,
)

from fhelium.errors import StateError
from fhelium.ir.dialects.ckks.plain import MultiplyPlaintextOp
from fhelium.ir.dialects.ckks.types import CiphertextType, PlaintextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import known_sum, require_ciphertext
from fhelium.values import CkksState, require_agreement, require_same_context


def _transfer_total(operation: str, states: Sequence[CkksState]) -> CkksState:
    require_same_context(operation, *states)
    axes = ("depth", "scale", "polynomial_domain", "components")
    require_agreement(operation, states, *axes)
    total = states[0].replace(
        key_id=next((state.key_id for state in states if state.key_id is not None), None),
        noise_bound=known_sum(*(state.noise_bound for state in states)),
        message_bound=known_sum(*(state.message_bound for state in states)),
        insecure=any(state.insecure for state in states),
    )
    return total.check_bounds(operation)


@irdl_op_definition
class AddManyOp(DeclaredOperation):
    """Add several ciphertexts slot by slot: c_j = sum_i a_ij (mod q) in every component.

    Shapes:
        A list of [component, *batch, limb, N], broadcast over batch axes -> the same shape.

    State:
        Depth, scale, polynomial domain and components must agree and stay; bounds add.

    Cost:
        No NTT, no key switch; one allocation instead of one a sum.

    Args:
        ciphertexts: At least one ciphertext.

    Raises:
        StateError: Two states differ; the text names both and the way to align them.
        BoundError: The sum may not fit the modulus any more.

    Example:
        >>> engine.add_many([x, y, x]).depth
        0

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), Add.
    """

    name = "ckks.add_many"
    ciphertexts = var_operand_def(CiphertextType)
    result = result_def(CiphertextType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    ENGINE: ClassVar = EngineMethod("add_many", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True)

    @classmethod
    def transfer(cls, ciphertexts: Sequence[CkksState]) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, *ciphertexts)
        return _transfer_total(operation, ciphertexts)

    @staticmethod
    def reference(*ciphertexts: torch.Tensor) -> torch.Tensor:
        return torch.stack(ciphertexts).sum(dim=0)


@irdl_op_definition
class SumPlaintextProductsOp(DeclaredOperation):
    """Add up products of ciphertexts with encoded vectors: sum_i c_i m_i, slot by slot.

    It is the inner product of a linear layer: one result is allocated, and one rescale serves the
    whole sum. With a list of lists of plaintexts it gives one result for each inner list.

    Shapes:
        n ciphertexts [component, *batch, limb, N], n plaintexts [*batch, limb, N] -> one
        ciphertext of the same shape.

    State:
        Depths, domains and components agree; each product's scale is the same; bounds of the
        products add. The plaintexts are in the form of ``prepare_plaintext(for_="multiply")``.

    Cost:
        In the NTT domain no NTT; a coefficient ciphertext costs one a limb and component in.

    Args:
        ciphertexts: At least one ciphertext.
        plaintexts: As many plaintexts, or a list of lists of as many.

    Raises:
        StateError: The lists differ in length, or two states differ.
        BoundError: The sum may not fit the modulus at this depth.

    Example:
        >>> weights = [engine.prepare_plaintext(w, like=x) for w in (0.5, -0.25)]
        >>> total = engine.sum_plaintext_products([x, y], weights)
        >>> engine.rescale_to_next_depth(total).depth
        1
        >>> len(engine.sum_plaintext_products([x, y], [weights, weights[::-1]]))
        2

    Source:
        Halevi, Shoup (CRYPTO 2014), "Algorithms in HElib", matrix-vector products.
    """

    name = "ckks.sum_plaintext_products"
    ciphertexts = var_operand_def(CiphertextType)
    plaintexts = var_operand_def(PlaintextType)
    result = result_def(CiphertextType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    ENGINE: ClassVar = EngineMethod("sum_plaintext_products", "arithmetic", generated=False)
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_ntt=True)

    @classmethod
    def transfer(
        cls, ciphertexts: Sequence[CkksState], plaintexts: Sequence[CkksState]
    ) -> CkksState:
        operation = cls.public_name()
        if len(ciphertexts) != len(plaintexts):
            raise StateError(
                operation,
                f"there are {len(ciphertexts)} ciphertexts and {len(plaintexts)} plaintexts",
                "Each ciphertext has one factor",
                "Pass lists of one length",
            )
        pairs = zip(ciphertexts, plaintexts, strict=True)
        products = [MultiplyPlaintextOp.transfer(*pair) for pair in pairs]
        return _transfer_total(operation, products)

    @staticmethod
    def reference(*operands: torch.Tensor) -> torch.Tensor:
        half = len(operands) // 2
        return (torch.stack(operands[:half]) * torch.stack(operands[half:])).sum(dim=0)
