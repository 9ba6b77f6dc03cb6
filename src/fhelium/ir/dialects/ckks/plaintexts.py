"""Sums and products of ciphertexts with encoded vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    result_def,
    var_operand_def,
)

from fhelium.errors import StateError
from fhelium.ir.dialects.ckks.shapes import PlaintextOperation
from fhelium.ir.dialects.ckks.states import (
    transfer_plaintext_product,
    transfer_plaintext_sum,
    transfer_sum,
)
from fhelium.ir.dialects.ckks.types import CiphertextType, PlaintextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.values import CkksState, PolynomialDomain


@irdl_op_definition
class AddPlaintextOp(PlaintextOperation):
    """Add an encoded vector to a ciphertext: (c0 + m, c1).

    Shapes:
        [component, *batch, limb, N] + [*batch, limb, N] -> [component, *batch, limb, N].
        The plaintext's batch repeats over missing and size-1 axes.

    State:
        Depth, scale and domain must agree and stay; bounds add. The plaintext is in standard
        form, as ``encode`` and ``prepare_plaintext(for_="add")`` give it.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: Depth, scale or domain differ, or the plaintext is prepared for a product.
        BoundError: The sum may not fit the modulus any more.

    Example:
        >>> ones = engine.prepare_plaintext(1.0, like=x, for_="add")
        >>> engine.add_plaintext(x, ones).depth
        0

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.add_plaintext"
    ENGINE: ClassVar = EngineMethod("add_plaintext", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, plaintext: CkksState) -> CkksState:
        return transfer_plaintext_sum(cls.public_name(), ciphertext, plaintext)

    @staticmethod
    def reference(ciphertext: torch.Tensor, plaintext: torch.Tensor) -> torch.Tensor:
        return ciphertext + plaintext


@irdl_op_definition
class MultiplyPlaintextOp(PlaintextOperation):
    """Multiply a ciphertext by an encoded vector slot by slot: (c0 m, c1 m).

    Shapes:
        [component, *batch, limb, N] x [*batch, limb, N] -> [component, *batch, limb, N].
        The plaintext's batch repeats over missing and size-1 axes.

    State:
        Depths must agree; scales multiply (a rescale usually follows). The plaintext is in NTT
        and Montgomery form, as ``prepare_plaintext(for_="multiply")`` gives it.

    Cost:
        In the NTT domain no NTT. A coefficient ciphertext costs one a limb and component in,
        and one back unless ``output_domain="ntt"`` is asked for.

    Args:
        ciphertext: The encrypted factor.
        plaintext: The clear factor.
        output_domain: "coefficient" or "ntt"; the ciphertext's domain when omitted.

    Raises:
        StateError: Depths differ, or the plaintext is not prepared for a product.
        BoundError: The product may not fit the modulus at this depth.

    Example:
        >>> half = engine.prepare_plaintext(0.5, like=x, for_="multiply")
        >>> engine.rescale_to_next_depth(engine.multiply_plaintext(x, half)).depth
        1

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), multiplication by a constant vector.
    """

    name = "ckks.multiply_plaintext"
    output_domain = opt_prop_def(StringAttr)
    ENGINE: ClassVar = EngineMethod("multiply_plaintext", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_ntt=True)

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        plaintext: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        return transfer_plaintext_product(cls.public_name(), ciphertext, plaintext, output_domain)

    @staticmethod
    def reference(ciphertext: torch.Tensor, plaintext: torch.Tensor, **others: Any) -> torch.Tensor:
        return ciphertext * plaintext


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
        products = [transfer_plaintext_product(operation, *pair) for pair in pairs]
        return transfer_sum(operation, products)

    @staticmethod
    def reference(*operands: torch.Tensor) -> torch.Tensor:
        half = len(operands) // 2
        return (torch.stack(operands[:half]) * torch.stack(operands[half:])).sum(dim=0)
