"""Sums and products of ciphertexts."""

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

from fhelium.ir.dialects.ckks.shapes import BinaryOperation, UnaryOperation
from fhelium.ir.dialects.ckks.states import transfer_product, transfer_sum
from fhelium.ir.dialects.ckks.types import CiphertextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import require_ciphertext
from fhelium.values import CkksState, PolynomialDomain

_SUM = OperationFacts(limb_wise=True, in_place=True)


@irdl_op_definition
class AddOp(BinaryOperation):
    """Add two ciphertexts slot by slot: c_j = a_j + b_j (mod q_i) in every component.

    Shapes:
        [component, *batch, limb, N] + the same shape -> the same shape.

    State:
        Depth, scale, polynomial domain and components must agree and stay; bounds add.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The operands' states differ; the text names both and the way to align them.
        ContextMismatchError: They were made under different parameters.
        KeyMismatchError: They belong to different secret keys.
        BoundError: The sum may not fit the modulus any more.

    Example:
        >>> total = engine.add(x, y)
        >>> engine.decrypt_message(total, secret_key).shape
        torch.Size([512])

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), "Homomorphic encryption for arithmetic of
        approximate numbers", Add.
    """

    name = "ckks.add"
    ENGINE: ClassVar = EngineMethod("add", "arithmetic")
    FACTS: ClassVar = _SUM

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        return transfer_sum(cls.public_name(), (lhs, rhs), ("lhs", "rhs"))

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs + rhs


@irdl_op_definition
class SubtractOp(BinaryOperation):
    """Subtract two ciphertexts slot by slot: c_j = a_j - b_j (mod q_i) in every component.

    Shapes:
        [component, *batch, limb, N] - the same shape -> the same shape.

    State:
        Depth, scale, polynomial domain and components must agree and stay; bounds add.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The operands' states differ; the text names both and the way to align them.
        BoundError: The difference may not fit the modulus any more.

    Example:
        >>> zero = engine.subtract(x, x)
        >>> bool(engine.decrypt_message(zero, secret_key).abs().max() < 1e-3)
        True

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.subtract"
    ENGINE: ClassVar = EngineMethod("subtract", "arithmetic")
    FACTS: ClassVar = _SUM

    @classmethod
    def transfer(cls, lhs: CkksState, rhs: CkksState) -> CkksState:
        return transfer_sum(cls.public_name(), (lhs, rhs), ("lhs", "rhs"))

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        return lhs - rhs


@irdl_op_definition
class NegateOp(UnaryOperation):
    """Negate a ciphertext: c_j = -a_j (mod q_i) in every component and limb.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        Unchanged.

    Cost:
        No NTT, no key switch.

    Raises:
        StateError: The ciphertext is not in standard form over Q.

    Example:
        >>> minus_x = engine.negate(x)
        >>> minus_x.state == x.state
        True

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.negate"
    ENGINE: ClassVar = EngineMethod("negate", "arithmetic")
    FACTS: ClassVar = _SUM

    @classmethod
    def transfer(cls, ciphertext: CkksState) -> CkksState:
        require_ciphertext(cls.public_name(), ciphertext)
        return ciphertext

    @staticmethod
    def reference(ciphertext: torch.Tensor) -> torch.Tensor:
        return -ciphertext


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
        return transfer_sum(cls.public_name(), ciphertexts)

    @staticmethod
    def reference(*ciphertexts: torch.Tensor) -> torch.Tensor:
        return torch.stack(ciphertexts).sum(dim=0)


@irdl_op_definition
class MultiplyOp(BinaryOperation):
    """Multiply two ciphertexts slot by slot: (a0 b0, a0 b1 + a1 b0, a1 b1).

    The product decrypts with (1, s, s^2); ``relinearize`` brings it back to two components and
    ``rescale_to_next_depth`` brings its scale back.

    Shapes:
        [2, *batch, limb, N] x the same shape -> [3, *batch, limb, N].

    State:
        Depth and domain must agree and stay; scales multiply; components 2 -> 3.

    Cost:
        In the NTT domain no NTT. Coefficient inputs cost 4 NTTs a limb in and, unless
        ``output_domain="ntt"`` is asked for, 3 a limb back: keep factors in the NTT domain.

    Args:
        lhs: First factor, two components.
        rhs: Second factor, two components.
        output_domain: "coefficient" or "ntt"; the inputs' domain when omitted.

    Raises:
        StateError: Depths, domains or components do not fit; the text names the way out.
        BoundError: The product may not fit the modulus at this depth.

    Example:
        >>> product = engine.relinearize(engine.multiply(x, y))
        >>> engine.rescale_to_next_depth(product).depth
        1

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), Mult.
    """

    name = "ckks.multiply"
    output_domain = opt_prop_def(StringAttr)
    ENGINE: ClassVar = EngineMethod("multiply", "arithmetic")
    FACTS: ClassVar = OperationFacts(in_ntt=True)

    @classmethod
    def transfer(
        cls, lhs: CkksState, rhs: CkksState, *, output_domain: PolynomialDomain | None = None
    ) -> CkksState:
        return transfer_product(cls.public_name(), lhs, rhs, output_domain)

    @staticmethod
    def reference(lhs: torch.Tensor, rhs: torch.Tensor, **others: Any) -> torch.Tensor:
        return lhs * rhs


@irdl_op_definition
class SquareOp(UnaryOperation):
    """Square a ciphertext slot by slot: (a0^2, 2 a0 a1, a1^2) over three components.

    Shapes:
        [2, *batch, limb, N] -> [3, *batch, limb, N].

    State:
        Scale squares; components 2 -> 3; depth and domain stay.

    Cost:
        In the NTT domain no NTT, and fewer products than ``multiply(x, x)``.

    Args:
        ciphertext: The factor, two components.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext has three components or is not standard over Q.
        BoundError: The square may not fit the modulus at this depth.

    Example:
        >>> engine.square(x).components
        3

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), Mult.
    """

    name = "ckks.square"
    output_domain = opt_prop_def(StringAttr)
    ENGINE: ClassVar = EngineMethod("square", "arithmetic")
    FACTS: ClassVar = OperationFacts(in_ntt=True)

    @classmethod
    def transfer(
        cls, ciphertext: CkksState, *, output_domain: PolynomialDomain | None = None
    ) -> CkksState:
        return transfer_product(cls.public_name(), ciphertext, ciphertext, output_domain)

    @staticmethod
    def reference(ciphertext: torch.Tensor, **others: Any) -> torch.Tensor:
        return ciphertext * ciphertext
