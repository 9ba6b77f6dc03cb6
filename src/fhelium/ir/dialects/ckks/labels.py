"""What a value is said to be: the same residues at another scale, or with a tighter bound."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import FloatAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from fhelium.errors import StateError
from fhelium.ir.dialects.ckks.shapes import UnaryOperation
from fhelium.ir.dialects.ckks.types import CiphertextType
from fhelium.ir.operation import EngineMethod, OperationFacts
from fhelium.ir.rules import is_real, known_product, require_ciphertext
from fhelium.values import CkksState, require_same_context


class Relabelling(UnaryOperation):
    """Base of the operations that compute nothing."""

    FACTS: ClassVar = OperationFacts(limb_wise=True, same_residues=True)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, **attributes: Any) -> dict[str, Any]:
        return super().call_facts(ciphertext, target_depth=ciphertext.depth)


@irdl_op_definition
class ReinterpretScaleOp(Relabelling):
    """Read the same residues at another scale: every slot is multiplied by old / new.

    Nothing is computed: a factor is taken out of a scale, or put into it, for free and exactly.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        The scale becomes ``scale``; bounds are multiplied by old / new.

    Cost:
        A copy.

    Args:
        ciphertext: The encrypted vector.
        scale: The new scale, 1 or more.

    Raises:
        StateError: The scale is no finite number of at least 1.

    Example:
        >>> doubled = engine.reinterpret_at_scale(x, x.scale / 2)
        >>> doubled.message_bound
        2.0

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017): the scale is part of the encoding alone.
    """

    name = "ckks.reinterpret_scale"
    scale = prop_def(FloatAttr)
    ENGINE: ClassVar = EngineMethod("reinterpret_at_scale", "levels")

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, scale: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        if not is_real(scale) or not 1 <= scale < math.inf:
            raise StateError(
                operation,
                f"scale is {scale!r}",
                "A scale is a finite number of at least 1",
                "Pass such a number",
            )
        ratio = None if ciphertext.scale is None else ciphertext.scale / scale
        return ciphertext.replace(
            scale=float(scale),
            noise_bound=known_product(ciphertext.noise_bound, ratio),
            message_bound=known_product(ciphertext.message_bound, ratio),
        ).check_bounds(operation)

    @classmethod
    def written_attributes(cls, ciphertext: CkksState, *, scale: float) -> dict[str, Any]:
        return {"scale": scale, "old_scale": ciphertext.scale}

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, scale: float, old_scale: float) -> torch.Tensor:
        # A plain tensor has no scale: whoever simulates tracks the operand's.
        return ciphertext * (old_scale / scale)


@irdl_op_definition
class AssumeMessageBoundOp(Relabelling):
    """Take the caller's word that no slot exceeds ``bound``: message_bound = min(., bound).

    Bounds follow intervals, and intervals overestimate: t - t^2 is at most 1/4 on [0, 1], and
    the bounds of its terms add up to 2. A tighter bound leaves more room in the modulus and
    less noise after a product. The tracked bound stays where it is the smaller one.

    The word must be true for every message that the computation may meet, and it is public: do
    not compute it from a secret message. Where it is false, later bounds are false; decryption
    raises a DecryptionError if a slot is larger than the final bound, and gives garbage if the
    value has wrapped around the modulus.

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        The message bound becomes the smaller of the two; all else, the noise bound included,
        stays.

    Cost:
        A copy.

    Args:
        ciphertext: The encrypted vector.
        bound: Largest magnitude of any slot, in message units; finite and above 0.

    Raises:
        StateError: The bound is no such number.

    Example:
        >>> near_zero = engine.subtract(x, x)
        >>> near_zero.message_bound
        2.0
        >>> engine.assume_message_bound(near_zero, 0.5).message_bound
        0.5

    Source:
        Moore, Kearfott, Cloud, "Introduction to interval analysis" (SIAM 2009), section 5: why
        intervals overestimate.
    """

    name = "ckks.assume_message_bound"
    bound = prop_def(FloatAttr)
    ENGINE: ClassVar = EngineMethod("assume_message_bound", "levels")

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, bound: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        if not is_real(bound) or not 0 < bound < math.inf:
            raise StateError(
                operation,
                f"bound is {bound!r}",
                "A bound is a finite number above 0, in message units",
                "Pass the largest magnitude that any slot can have",
            )
        return _tightened(operation, ciphertext, float(bound))


@irdl_op_definition
class BoundByOp(Relabelling):
    """Say that no slot exceeds ``factor`` times the largest slot of another vector.

    It is what ``assume_message_bound`` does where the bound follows from what a vector was computed
    of: the slots of x W are at most the largest column sum of |W| times those of x, and the bounds
    of the rotated products that it is a sum of add up to far more. A compiled function says so of
    its products with matrices. Written by hand it is the caller's word, and has to be true.

    Shapes:
        [component, *batch, limb, N], and any ciphertext -> the first one's shape.

    State:
        The message bound becomes the smaller of its own and ``factor`` times the other's; all
        else, the noise bound included, stays.

    Cost:
        A copy.

    Args:
        ciphertext: The encrypted vector.
        other: A vector that it was computed of.
        factor: Finite and above 0.

    Raises:
        StateError: The factor is no such number.
        KeyMismatchError: The ciphertexts belong to different secret keys.

    Example:
        >>> total = engine.add(engine.multiply_scalar(x, 0.5), engine.multiply_scalar(x, -0.25))
        >>> engine.bound_by(total, x, 0.25).message_bound
        0.25

    Source:
        Golub, Van Loan, "Matrix computations" (2013), section 2.3.2: the largest column sum is the
        norm of x W for the largest slot of x.
    """

    name = "ckks.bound_by"
    ciphertext = operand_def(CiphertextType)
    other = operand_def(CiphertextType)
    factor = prop_def(FloatAttr)
    ENGINE: ClassVar = EngineMethod("bound_by", "levels")

    @classmethod
    def transfer(cls, ciphertext: CkksState, other: CkksState, *, factor: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        require_same_context(operation, ciphertext, other, names=("the ciphertext", "the other"))
        if not is_real(factor) or not 0 < factor < math.inf:
            raise StateError(
                operation,
                f"factor is {factor!r}",
                "A factor is a finite number above 0",
                "Pass how many times the other's largest slot a slot can be",
            )
        bound = known_product(other.message_bound, float(factor))
        return _tightened(operation, ciphertext, bound)

    @classmethod
    def call_facts(
        cls, ciphertext: CkksState, other: CkksState, **attributes: Any
    ) -> dict[str, Any]:
        return super().call_facts(ciphertext, **attributes)

    @staticmethod
    def reference(ciphertext: torch.Tensor, other: torch.Tensor, *, factor: float) -> torch.Tensor:
        return ciphertext


def _tightened(operation: str, ciphertext: CkksState, bound: float | None) -> CkksState:
    """Give the state with the smaller of its own bound and another; what is not known is larger."""
    known = [value for value in (ciphertext.message_bound, bound) if value is not None]
    return ciphertext.replace(message_bound=min(known, default=None)).check_bounds(operation)
