"""What the caller knows about a value beyond what its history says."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import FloatAttr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from fhelium.errors import StateError
from fhelium.ir.dialects.ckks.types import CiphertextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import require_ciphertext
from fhelium.values import CkksState


@irdl_op_definition
class AssumeMessageBoundOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    bound = prop_def(FloatAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("assume_message_bound", "levels")
    FACTS: ClassVar = OperationFacts(limb_wise=True, same_residues=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, bound: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not is_number or not 0 < bound < math.inf:
            raise StateError(
                operation,
                f"bound is {bound!r}",
                "A bound is a finite number above 0, in message units",
                "Pass the largest magnitude that any slot can have",
            )
        known = ciphertext.message_bound
        return ciphertext.replace(
            message_bound=float(bound) if known is None else min(known, float(bound))
        ).check_bounds(operation)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, bound: float) -> dict[str, Any]:
        return super().call_facts(ciphertext, target_depth=ciphertext.depth)

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, bound: float) -> torch.Tensor:
        return ciphertext
