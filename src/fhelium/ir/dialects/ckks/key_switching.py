"""Key switches on their own: relinearization, and a change of the secret key."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from fhelium.errors import KeyMismatchError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.states import key_switch_error, transfer_key_switch
from fhelium.ir.dialects.ckks.types import (
    CiphertextType,
    RelinearizationKeyType,
    SwitchingKeyType,
)
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.values import CkksState, PolynomialDomain


class KeySwitchOperation(DeclaredOperation):
    """Base of the operations that end in one key switch of their first operand."""

    output_domain = opt_prop_def(StringAttr)
    FACTS: ClassVar = OperationFacts(needs_key=True)
    COMPONENTS: ClassVar = 2

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        key: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> CkksState:
        name = cls.public_name()
        return transfer_key_switch(
            name, ciphertext, [key], output_domain, components=cls.COMPONENTS
        )

    @classmethod
    def added_error(cls, ciphertext: CkksState, *keys: Any, **attributes: Any) -> noise.Error:
        return key_switch_error(ciphertext)

    @staticmethod
    def reference(ciphertext: torch.Tensor, **attributes: Any) -> Any:
        return ciphertext


@irdl_op_definition
class RelinearizeOp(KeySwitchOperation):
    """Bring a three-component product back to two: (c0, c1) + KeySwitch(c2, s^2 -> s).

    Hybrid key switching: c2 is cut into digits, each is raised to QP as its exact centred
    representative, multiplied with the key, summed, and divided by P with rounding.

    Shapes:
        [3, *batch, limb, N] -> [2, *batch, limb, N].

    State:
        Components 3 -> 2; the noise bound grows by one key switch.

    Cost:
        One key switch.

    Args:
        ciphertext: Product of two ciphertexts.
        key: Relinearization key; the one in ``engine.keys`` when omitted.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        StateError: The ciphertext does not have three components.
        MissingKeyError: No key was given and ``engine.keys`` holds none.
        KeyMismatchError: The key belongs to another secret key.

    Example:
        >>> engine.relinearize(engine.multiply(x, y)).components
        2

    Source:
        Han, Ki (CT-RSA 2020), "Better bootstrapping for approximate homomorphic encryption",
        section 3 (hybrid key switching).
    """

    name = "ckks.relinearize"
    ciphertext = operand_def(CiphertextType)
    key = operand_def(RelinearizationKeyType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "relinearize", "arithmetic", key_lookup="self._key_source.relinearization()"
    )
    COMPONENTS: ClassVar = 3

    @classmethod
    def key_symbols(cls, **attributes: Any) -> tuple[str, ...]:
        return ("relinearization-key",)


@irdl_op_definition
class SwitchKeyOp(KeySwitchOperation):
    """Bring a ciphertext to another secret key: (c0, 0) + KeySwitch(c1, old -> new).

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
    result = result_def(CiphertextType)
    # A value of another class has no source; the operand check then says so.
    ENGINE: ClassVar = EngineMethod(
        "switch_key",
        "rotation",
        derived={"source_key_id": 'getattr(key, "source_key_id", None)'},
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
        if ciphertext.key_id is not None and ciphertext.key_id != source_key_id:
            raise KeyMismatchError(
                operation,
                f"the ciphertext is under key {ciphertext.key_id}, the switching key starts from "
                f"{source_key_id}",
                "A switching key serves ciphertexts under its source",
                "Use the switching key made from the ciphertext's own secret key",
                key_ids=(ciphertext.key_id, source_key_id),
            )
        renamed = ciphertext.replace(key_id=key.key_id)
        return transfer_key_switch(operation, renamed, [key], output_domain)

    @classmethod
    def call_facts(
        cls, ciphertext: CkksState, key: CkksState, *, source_key_id: str, **others: Any
    ) -> dict[str, Any]:
        return super().call_facts(ciphertext, **others)

    @classmethod
    def key_symbols(cls, *, source_key_id: str, **others: Any) -> tuple[str, ...]:
        return (f"switching-key:{source_key_id}",)
