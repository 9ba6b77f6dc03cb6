"""Key switches beyond one rotation: hoisted rotations, and a change of the secret key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from fhelium.errors import KeyMismatchError, StateError
from fhelium.ir.dialects.ckks.arithmetic import KeySwitchOperation, transfer_key_switch
from fhelium.ir.dialects.ckks.types import CiphertextType, RotationKeyType, SwitchingKeyType
from fhelium.ir.operation import EngineMethod
from fhelium.ir.rules import require_ciphertext
from fhelium.values import CkksState, PolynomialDomain, galois_element


@irdl_op_definition
class RotateManyOp(KeySwitchOperation):
    """Rotate one ciphertext by several steps, sharing what the rotations have in common.

    The digits are raised to QP and transformed once; each step permutes them, multiplies with its
    key and divides by P (hoisting). The results are bit for bit those of single rotations: an
    automorphism maps a centred digit to a centred digit.

    Shapes:
        [2, *batch, limb, N] -> one such result for each step.

    State:
        Unchanged but for the noise bound, which grows by one key switch.

    Cost:
        One ModUp for all, one inner product and ModDown a step.

    Args:
        ciphertext: The encrypted vector, two components.
        steps: Any ints; each counts modulo the number of slots, and 0 gives a copy.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        MissingKeyError: ``engine.keys`` lacks a step; the text names it and those that exist.
        StateError: The ciphertext has three components or is not standard over Q.

    Example:
        >>> engine.add_keys(engine.create_evaluation_keys(secret_key, steps=(1, 2)))
        >>> [part.depth for part in engine.rotate_many_by_steps(x, (0, 1, 2))]
        [0, 0, 0]

    Source:
        Halevi, Shoup (CRYPTO 2018), "Faster homomorphic linear transformations in HElib".
    """

    name = "ckks.rotate_many"
    ciphertext = operand_def(CiphertextType)
    keys = var_operand_def(RotationKeyType)
    steps = prop_def(ArrayAttr[IntegerAttr])
    output_domain = opt_prop_def(StringAttr)
    results_ = var_result_def(CiphertextType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    ENGINE: ClassVar = EngineMethod(
        "rotate_many_by_steps",
        "rotation",
        derived={"steps": "[key.step for key in keys]"},
        generated=False,
        with_one_key="rotate_with_key",
    )

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        keys: Sequence[CkksState],
        *,
        steps: tuple[int, ...],
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext, components=2)
        if len(keys) != len(steps):
            raise StateError(
                operation,
                f"there are {len(keys)} keys and {len(steps)} steps",
                "Each step has one key",
                "Pass one key a step",
            )
        state = ciphertext
        for key in keys:
            found = transfer_key_switch(operation, ciphertext, key, output_domain)
            state = found.replace(insecure=state.insecure or found.insecure)
        return state

    @classmethod
    def call_facts(
        cls,
        ciphertext: CkksState,
        keys: Sequence[CkksState],
        *,
        steps: tuple[int, ...],
        output_domain: PolynomialDomain | None = None,
    ) -> dict[str, Any]:
        elements = tuple(galois_element(step, ciphertext.config) for step in steps)
        return super().call_facts(ciphertext, galois_elements=elements, output_domain=output_domain)

    @classmethod
    def key_symbols(cls, *, steps: tuple[int, ...], **others: Any) -> tuple[str, ...]:
        return tuple(f"rotation-key:{step}" for step in steps)

    @classmethod
    def result_count(cls, ciphertext: Any, keys: Sequence[Any]) -> int:
        return len(keys)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        keys: object = None,
        *,
        steps: tuple[int, ...],
        output_domain: PolynomialDomain | None = None,
    ) -> list[torch.Tensor]:
        return [torch.roll(ciphertext, step, dims=-1) for step in steps]


@irdl_op_definition
class SwitchKeyOp(KeySwitchOperation):
    """Bring a ciphertext from one secret key to another: (c0, 0) + KeySwitch(c1, old -> new).

    Shapes:
        [2, *batch, limb, N] -> the same shape.

    State:
        The key id becomes the new key's; the noise bound grows by one key switch.

    Cost:
        One key switch.

    Args:
        ciphertext: A ciphertext under the old key, two components.
        key: Made by ``engine.create_switching_key(old, new)``.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        KeyMismatchError: The ciphertext is not under the key's source.
        StateError: The ciphertext has three components or is not standard over Q.

    Example:
        >>> other = engine.create_secret_key()
        >>> key = engine.create_switching_key(secret_key, other)
        >>> engine.switch_key(x, key).key_id == other.key_id
        True

    Source:
        Han, Ki (CT-RSA 2020), hybrid key switching.
    """

    name = "ckks.switch_key"
    ciphertext = operand_def(CiphertextType)
    key = operand_def(SwitchingKeyType)
    source_key_id = prop_def(StringAttr)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "switch_key", "rotation", derived={"source_key_id": "key.source_key_id"}
    )

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        source_key_id: str,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext, components=2)
        if ciphertext.key_id is not None and ciphertext.key_id != source_key_id:
            raise KeyMismatchError(
                operation,
                f"the ciphertext is under key {ciphertext.key_id}, the switching key starts from "
                f"{source_key_id}",
                "A switching key serves ciphertexts under its source",
                "Use the switching key made from the ciphertext's own secret key",
                key_ids=(ciphertext.key_id, source_key_id),
            )
        return transfer_key_switch(
            operation, ciphertext.replace(key_id=key.key_id), key, output_domain
        )

    @classmethod
    def call_facts(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        source_key_id: str,
        output_domain: PolynomialDomain | None = None,
    ) -> dict[str, Any]:
        return super().call_facts(ciphertext, output_domain=output_domain)

    @classmethod
    def key_symbols(cls, *, source_key_id: str, **others: Any) -> tuple[str, ...]:
        return (f"switching-key:{source_key_id}",)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        key: object = None,
        *,
        source_key_id: str,
        output_domain: PolynomialDomain | None = None,
    ) -> torch.Tensor:
        return ciphertext
