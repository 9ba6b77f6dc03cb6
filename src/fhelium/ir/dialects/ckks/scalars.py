"""Sums and products of ciphertexts with one real number for all slots."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import FloatAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def

from fhelium.errors import MessageValueError, StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.shapes import UnaryOperation
from fhelium.ir.operation import EngineMethod, OperationFacts
from fhelium.ir.rules import is_real, known_product, known_sum, require_ciphertext
from fhelium.values import CkksState


def _finite(operation: str, value: Any, name: str = "value") -> float:
    # Complex scalars need a plaintext.
    if not is_real(value):
        raise StateError(
            operation,
            f"{name} is a {type(value).__name__}, needed is a real number",
            "A scalar is one int or float for all slots",
            "Encode anything else with engine.prepare_plaintext",
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf  # an int that no float64 holds
    if not math.isfinite(number):
        raise MessageValueError(
            operation,
            f"{name} is {number} as a float64, needed is a finite number",
            "NaN and infinity cannot be encoded",
            "Pass a finite scalar",
        )
    return number


@irdl_op_definition
class AddScalarOp(UnaryOperation):
    """Add one real number to every slot: c0 + round(value scale).

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        Unchanged but for the bounds.

    Cost:
        No NTT, no key switch.

    Args:
        ciphertext: The encrypted vector.
        value: A finite int or float; it is public.

    Raises:
        StateError: The value is no real number.
        MessageValueError: The value is NaN or infinite.
        BoundError: The sum may not fit the modulus any more.

    Example:
        >>> engine.add_scalar(x, 0.25).depth
        0

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017).
    """

    name = "ckks.add_scalar"
    value = prop_def(FloatAttr)
    ENGINE: ClassVar = EngineMethod("add_scalar", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, reads_scale=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, value: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        size = abs(_finite(operation, value))
        error = None
        if ciphertext.scale is not None:
            # Exact arithmetic rounds value * scale once; decoding rounds the larger result.
            error = noise.constant(ciphertext.scale).bound
            error += noise.embedding_rounding(ciphertext.config, size)
        return ciphertext.replace(
            noise_bound=known_sum(ciphertext.noise_bound, error),
            message_bound=known_sum(ciphertext.message_bound, size),
        ).check_bounds(operation)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, value: float) -> dict[str, Any]:
        return super().call_facts(ciphertext, value=float(value), scale=ciphertext.scale)

    @classmethod
    def written_attributes(cls, ciphertext: CkksState, *, value: float) -> dict[str, Any]:
        return {"value": _at_scale(value, ciphertext.scale)}

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, value: float) -> torch.Tensor:
        return ciphertext + value


@irdl_op_definition
class MultiplyScalarOp(UnaryOperation):
    """Multiply every slot by one real number: c round(value scale).

    Shapes:
        [component, *batch, limb, N] -> the same shape.

    State:
        The scale is multiplied by ``scale``; a rescale usually follows.

    Cost:
        No NTT, no key switch, in either domain.

    Args:
        ciphertext: The encrypted vector.
        value: A finite int or float; it is public.
        scale: Scale of the factor. When omitted, the one that makes product + rescale land on
            the canonical scale of the next depth. ``scale=1.0`` multiplies by an integer
            exactly and leaves the ciphertext's scale as it is.

    Raises:
        StateError: The value is no real number.
        MessageValueError: The value is NaN or infinite, or rounds to another number at scale 1.
        BoundError: The product may not fit the modulus at this depth.

    Example:
        >>> engine.rescale_to_next_depth(engine.multiply_scalar(x, 0.5)).depth
        1
        >>> engine.multiply_scalar(x, -3, scale=1.0).scale == x.scale
        True

    Source:
        Cheon, Kim, Kim, Song (ASIACRYPT 2017), multiplication by a constant.
    """

    name = "ckks.multiply_scalar"
    value = prop_def(FloatAttr)
    scale = opt_prop_def(FloatAttr)
    ENGINE: ClassVar = EngineMethod("multiply_scalar", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, reads_scale=True)

    @classmethod
    def transfer(
        cls, ciphertext: CkksState, *, value: float, scale: float | None = None
    ) -> CkksState:
        return transfer_scalar_product(cls.public_name(), ciphertext, value, scale)

    @classmethod
    def call_facts(
        cls, ciphertext: CkksState, *, value: float, scale: float | None = None
    ) -> dict[str, Any]:
        factor = factor_scale(ciphertext) if scale is None else float(scale)
        return super().call_facts(ciphertext, value=float(value), factor_scale=factor)

    @classmethod
    def written_attributes(
        cls, ciphertext: CkksState, *, value: float, scale: float | None = None
    ) -> dict[str, Any]:
        return {"value": _at_scale(value, factor_scale(ciphertext) if scale is None else scale)}

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, value: float, **others: Any) -> torch.Tensor:
        return ciphertext * value


def transfer_scalar_product(
    operation: str, ciphertext: CkksState, value: float, scale: float | None = None
) -> CkksState:
    """Give the state after the product with a real number at a scale."""
    require_ciphertext(operation, ciphertext)
    size = abs(_finite(operation, value))
    factor = factor_scale(ciphertext) if scale is None else _finite(operation, scale, "scale")
    if factor is not None and factor < 1:
        raise MessageValueError(
            operation,
            f"scale is {factor}, the smallest is 1",
            "The factor is rounded to an integer at this scale",
            "Pass a scale of 1 or more, or rescale the ciphertext first",
        )
    if factor == 1.0 and float(value) != math.floor(value):
        raise MessageValueError(
            operation,
            f"value is {value} and scale is 1, which would round it",
            "At scale 1 only integers are exact",
            "Omit scale, or pass a larger one",
        )
    error = None
    if factor is not None:
        error = 0.0 if factor == 1.0 else noise.constant(factor).bound + noise.SCALE_ROUNDING
    total = known_sum(ciphertext.message_bound, ciphertext.noise_bound)
    return ciphertext.replace(
        scale=known_product(ciphertext.scale, factor),
        noise_bound=known_sum(
            known_product(size, ciphertext.noise_bound), known_product(total, error)
        ),
        message_bound=known_product(size, ciphertext.message_bound),
    ).check_bounds(operation)


def _at_scale(value: float, scale: float | None) -> float:
    """Return the number that an integer at a scale stands for."""
    assert scale is not None
    return round(value * scale) / scale


def factor_scale(ciphertext: CkksState) -> float | None:
    """Return the scale of a clear factor whose product, rescaled, is canonical again.

    The factor for a ciphertext of scale s at depth d has scale D_{d+1} q_d / s, which is D_d for
    a canonical ciphertext. At the last depth, where no rescale can follow, it is D_d.
    """
    if ciphertext.scale is None or ciphertext.depth is None:
        return None
    config, depth = ciphertext.config, ciphertext.depth
    if ciphertext.scale == config.scale_at(depth) or depth >= config.max_depth:
        return config.scale_at(depth)
    return config.scale_at(depth + 1) * config.q_primes[depth] / ciphertext.scale
