"""Slot permutations: an automorphism of the ring followed by a key switch."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from fhelium.ir.dialects.ckks.arithmetic import KeySwitchOperation, transfer_key_switch
from fhelium.ir.dialects.ckks.types import CiphertextType, ConjugationKeyType, RotationKeyType
from fhelium.ir.operation import EngineMethod
from fhelium.ir.rules import require_ciphertext
from fhelium.values import (
    CkksState,
    PolynomialDomain,
    conjugation_element,
    galois_element,
)


@irdl_op_definition
class RotateOp(KeySwitchOperation):
    """Rotate the slots by the key's step: slot i moves to slot i + step, as torch.roll does.

    On the ring it is the automorphism X -> X^(5^-step mod 2N), then a key switch back to s.
    OpenFHE, SEAL and Lattigo count steps in the other direction.

    Shapes:
        [2, *batch, limb, N] -> the same shape.

    State:
        Unchanged but for the noise bound, which grows by one key switch.

    Cost:
        One key switch.

    Args:
        ciphertext: The encrypted vector, two components.
        key: Rotation key; its step decides.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext has three components or is not standard over Q.
        KeyMismatchError: The key belongs to another secret key.

    Example:
        >>> key = engine.create_rotation_key(3, secret_key)
        >>> rotated = engine.rotate_with_key(x, key)
        >>> clear = engine.decrypt_message(x, secret_key, real=True)
        >>> moved = engine.decrypt_message(rotated, secret_key, real=True)
        >>> torch.allclose(moved, torch.roll(clear, 3), atol=1e-3)
        True

    Source:
        Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), "Bootstrapping for approximate homomorphic
        encryption", section 4.1.
    """

    name = "ckks.rotate"
    ciphertext = operand_def(CiphertextType)
    key = opt_operand_def(RotationKeyType)
    step = prop_def(IntegerAttr)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    # A key of another kind has no step; the operand check then says so.
    ENGINE: ClassVar = EngineMethod(
        "rotate_with_key", "rotation", derived={"step": 'getattr(key, "step", None)'}
    )

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        step: int,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext, components=2)
        return transfer_key_switch(operation, ciphertext, key, output_domain)

    @classmethod
    def call_facts(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        step: int,
        output_domain: PolynomialDomain | None = None,
    ) -> dict[str, Any]:
        element = galois_element(step, ciphertext.config)
        return super().call_facts(ciphertext, galois_element=element, output_domain=output_domain)

    @classmethod
    def key_symbols(cls, *, step: int, **others: Any) -> tuple[str, ...]:
        return (f"rotation-key:{step}",)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        key: object = None,
        *,
        step: int,
        output_domain: PolynomialDomain | None = None,
    ) -> torch.Tensor:
        return torch.roll(ciphertext, step, dims=-1)


@irdl_op_definition
class ConjugateOp(KeySwitchOperation):
    """Conjugate every slot: the automorphism X -> X^-1, then a key switch back to s.

    Shapes:
        [2, *batch, limb, N] -> the same shape.

    State:
        Unchanged but for the noise bound, which grows by one key switch.

    Cost:
        One key switch.

    Args:
        ciphertext: The encrypted vector, two components.
        key: Conjugation key; the one in ``engine.keys`` when omitted.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext has three components or is not standard over Q.
        MissingKeyError: No key was given and ``engine.keys`` holds none.

    Example:
        >>> engine.add_keys(engine.create_conjugation_key(secret_key))
        >>> engine.conjugate(x).depth
        0

    Source:
        Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), section 4.1.
    """

    name = "ckks.conjugate"
    ciphertext = operand_def(CiphertextType)
    key = operand_def(ConjugationKeyType)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "conjugate", "rotation", key_lookup="self._key_source.conjugation()"
    )

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext, components=2)
        return transfer_key_switch(operation, ciphertext, key, output_domain)

    @classmethod
    def call_facts(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> dict[str, Any]:
        element = conjugation_element(ciphertext.config)
        return super().call_facts(ciphertext, galois_element=element, output_domain=output_domain)

    @classmethod
    def key_symbols(cls, **attributes: Any) -> tuple[str, ...]:
        return ("conjugation-key",)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        key: object = None,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> torch.Tensor:
        return ciphertext.conj()
