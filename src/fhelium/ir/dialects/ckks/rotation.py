"""Slot permutations: an automorphism of the ring followed by a key switch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from fhelium.config import CkksConfig
from fhelium.errors import StateError
from fhelium.ir.dialects.ckks.key_switching import KeySwitchOperation
from fhelium.ir.dialects.ckks.states import transfer_key_switch
from fhelium.ir.dialects.ckks.types import CiphertextType, ConjugationKeyType, RotationKeyType
from fhelium.ir.dialects.core import MaterialOp
from fhelium.ir.operation import EngineMethod
from fhelium.values import CkksState, PolynomialDomain, conjugation_element, galois_element


def _require_key_of_step(operation: str, key: SSAValue, step: int, config: CkksConfig) -> None:
    """Refuse the key of another step, as far as its name says what it is."""
    symbol = key.owner.symbol.data if isinstance(key.owner, MaterialOp) else ""
    named = re.fullmatch(r"rotation-key:(-?\d+)", symbol)
    if named is not None and (int(named[1]) - step) % config.num_slots:
        raise StateError(
            operation,
            f"step is {step}, the key is {symbol}",
            "A key rotates by its own step",
            "Name the key of the step",
            step=step,
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
        return transfer_key_switch(cls.public_name(), ciphertext, [key], output_domain)

    def operand_states(
        self, config: CkksConfig, known: Callable[[SSAValue], CkksState]
    ) -> list[Any]:
        if self.key is not None:
            step = self.python_attributes()["step"]
            _require_key_of_step(self.public_name(), self.key, step, config)
        return super().operand_states(config, known)

    @classmethod
    def call_facts(
        cls, ciphertext: CkksState, key: CkksState, *, step: int, **others: Any
    ) -> dict[str, Any]:
        element = galois_element(step, ciphertext.config)
        return super().call_facts(ciphertext, galois_element=element, **others)

    @classmethod
    def key_symbols(cls, *, step: int, **others: Any) -> tuple[str, ...]:
        return (f"rotation-key:{step}",)

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, step: int, **others: Any) -> torch.Tensor:
        return torch.roll(ciphertext, step, dims=-1)


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
        if len(keys) != len(steps):
            raise StateError(
                operation,
                f"there are {len(keys)} keys and {len(steps)} steps",
                "Each step has one key",
                "Pass one key a step",
            )
        return transfer_key_switch(operation, ciphertext, keys, output_domain)

    def operand_states(
        self, config: CkksConfig, known: Callable[[SSAValue], CkksState]
    ) -> list[Any]:
        for key, step in zip(self.keys, self.python_attributes()["steps"], strict=False):
            _require_key_of_step(self.public_name(), key, step, config)
        return super().operand_states(config, known)

    @classmethod
    def call_facts(
        cls, ciphertext: CkksState, keys: Any, *, steps: tuple[int, ...], **others: Any
    ) -> dict[str, Any]:
        elements = tuple(galois_element(step, ciphertext.config) for step in steps)
        return super().call_facts(ciphertext, galois_elements=elements, **others)

    @classmethod
    def key_symbols(cls, *, steps: tuple[int, ...], **others: Any) -> tuple[str, ...]:
        return tuple(f"rotation-key:{step}" for step in steps)

    @classmethod
    def result_count(cls, ciphertext: Any, keys: Sequence[Any]) -> int:
        return len(keys)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor, *, steps: tuple[int, ...], **others: Any
    ) -> list[torch.Tensor]:
        return [torch.roll(ciphertext, step, dims=-1) for step in steps]


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
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod(
        "conjugate", "rotation", key_lookup="self._key_source.conjugation()"
    )

    @classmethod
    def call_facts(cls, ciphertext: CkksState, key: CkksState, **others: Any) -> dict[str, Any]:
        element = conjugation_element(ciphertext.config)
        return super().call_facts(ciphertext, galois_element=element, **others)

    @classmethod
    def key_symbols(cls, **attributes: Any) -> tuple[str, ...]:
        return ("conjugation-key",)

    @staticmethod
    def reference(ciphertext: torch.Tensor, **others: Any) -> torch.Tensor:
        return ciphertext.conj()
