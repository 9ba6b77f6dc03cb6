"""Operations between a ciphertext and something clear: a plaintext or a real scalar."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import FloatAttr, StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from fhelium.errors import MessageValueError, StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.types import CiphertextType, PlaintextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import (
    chosen_domain,
    known_product,
    known_sum,
    require,
    require_ciphertext,
)
from fhelium.values import (
    CkksState,
    PolynomialDomain,
    require_agreement,
    require_same_context,
)

_NAMES = ("the ciphertext", "the plaintext")


@irdl_op_definition
class AddPlaintextOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    plaintext = operand_def(PlaintextType)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("add_plaintext", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, in_place=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, plaintext: CkksState) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        require_same_context(operation, ciphertext, plaintext, names=_NAMES)
        require(
            operation,
            plaintext,
            "residue_representation",
            "standard",
            'Prepare it with engine.prepare_plaintext(..., for_="add")',
            "plaintext",
        )
        axes = ("depth", "scale", "polynomial_domain")
        require_agreement(operation, (ciphertext, plaintext), *axes, names=_NAMES)
        return ciphertext.replace(
            noise_bound=known_sum(ciphertext.noise_bound, plaintext.noise_bound),
            message_bound=known_sum(ciphertext.message_bound, plaintext.message_bound),
            insecure=ciphertext.insecure or plaintext.insecure,
        ).check_bounds(operation)

    @staticmethod
    def reference(ciphertext: torch.Tensor, plaintext: torch.Tensor) -> torch.Tensor:
        return ciphertext + plaintext


@irdl_op_definition
class MultiplyPlaintextOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    plaintext = operand_def(PlaintextType)
    output_domain = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
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
    def reference(
        ciphertext: torch.Tensor,
        plaintext: torch.Tensor,
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> torch.Tensor:
        return ciphertext * plaintext


def transfer_plaintext_product(
    operation: str,
    ciphertext: CkksState,
    plaintext: CkksState,
    output_domain: PolynomialDomain | None = None,
) -> CkksState:
    """Give the state after the product with an encoded vector."""
    require_ciphertext(operation, ciphertext)
    require_same_context(operation, ciphertext, plaintext, names=_NAMES)
    remedy = 'Prepare it with engine.prepare_plaintext(..., for_="multiply")'
    require(operation, plaintext, "residue_representation", "montgomery", remedy, "plaintext")
    require(operation, plaintext, "polynomial_domain", "ntt", remedy, "plaintext")
    require_agreement(operation, (ciphertext, plaintext), "depth", names=_NAMES)
    noise_bound = known_sum(
        known_product(ciphertext.message_bound, plaintext.noise_bound),
        known_product(plaintext.message_bound, ciphertext.noise_bound),
        known_product(ciphertext.noise_bound, plaintext.noise_bound),
    )
    return ciphertext.replace(
        scale=known_product(ciphertext.scale, plaintext.scale),
        polynomial_domain=chosen_domain(operation, output_domain, ciphertext.polynomial_domain),
        noise_bound=noise_bound,
        message_bound=known_product(ciphertext.message_bound, plaintext.message_bound),
        insecure=ciphertext.insecure or plaintext.insecure,
    ).check_bounds(operation)


def _require_real(operation: str, value: object, name: str = "value") -> float:
    # bool is an int to Python and a mistake here; complex scalars need a plaintext.
    if isinstance(value, bool) or not isinstance(value, int | float):
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
class AddScalarOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    value = prop_def(FloatAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("add_scalar", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, reads_scale=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, value: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        size = abs(_require_real(operation, value))
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
class MultiplyScalarOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    value = prop_def(FloatAttr)
    scale = opt_prop_def(FloatAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("multiply_scalar", "arithmetic")
    FACTS: ClassVar = OperationFacts(limb_wise=True, reads_scale=True)

    @classmethod
    def transfer(
        cls, ciphertext: CkksState, *, value: float, scale: float | None = None
    ) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        size = abs(_require_real(operation, value))
        if scale is not None:
            scale = _require_real(operation, scale, "scale")
        factor = factor_scale(ciphertext) if scale is None else scale
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
    def reference(
        ciphertext: torch.Tensor, *, value: float, scale: float | None = None
    ) -> torch.Tensor:
        return ciphertext * value


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
