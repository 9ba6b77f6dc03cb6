"""Moves along the modulus chain: rescale, mod_switch and exact alignment."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import torch
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from fhelium.errors import DepthExhaustedError, StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.plain import MultiplyScalarOp
from fhelium.ir.dialects.ckks.types import CiphertextType
from fhelium.ir.operation import DeclaredOperation, EngineMethod, OperationFacts
from fhelium.ir.rules import (
    chosen_domain,
    known_product,
    known_sum,
    require_ciphertext,
    require_depth_left,
)
from fhelium.values import CkksState, PolynomialDomain


@irdl_op_definition
class RescaleOp(DeclaredOperation):
    """Divide by the next prime of the chain with rounding to nearest: c -> round(c / q_d).

    The IR also knows ``rounding = "truncate"``, for comparison with implementations that round
    down: its error has a mean, half a unit in every coefficient, which adds up in the slots
    near X = 1 (slot 0: 2^-21 at N = 2^14 and scale 2^40).

    Shapes:
        [component, *batch, limb, N] -> [component, *batch, limb - 1, N].

    State:
        Depth d -> d + 1; scale s -> s / q_d, and exactly ``config.scale_at(d + 1)`` where it is
        within 2^-44 of that. The noise bound grows by one rounding.

    Cost:
        No NTT in the coefficient domain; in the NTT domain one inverse NTT a component, of the
        limb that is dropped, and one forward NTT for each limb and component that remains.

    Args:
        ciphertext: A product, two or three components.
        output_domain: "coefficient" or "ntt"; the input's domain when omitted.

    Raises:
        DepthExhaustedError: Only the base prime is left.
        BoundError: What remains may not hold the value.

    Example:
        >>> product = engine.multiply_scalar(x, 0.5)
        >>> result = engine.rescale_to_next_depth(product)
        >>> result.scale == engine.config.scale_at(1)
        True

    Source:
        Cheon, Han, Kim, Kim, Song (SAC 2018), "A full RNS variant of approximate homomorphic
        encryption", rescaling.
    """

    name = "ckks.rescale"
    ciphertext = operand_def(CiphertextType)
    output_domain = opt_prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("rescale_to_next_depth", "levels", hidden=("rounding",))
    FACTS: ClassVar = OperationFacts(consumes_depth=True)

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
        rounding: Literal["nearest", "truncate"] = "nearest",
    ) -> CkksState:
        return transfer_rescale(cls.public_name(), ciphertext, output_domain, rounding)

    @classmethod
    def added_error(
        cls,
        ciphertext: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
        rounding: Literal["nearest", "truncate"] = "nearest",
    ) -> noise.Error:
        return rescale_error(ciphertext, rounding)

    @staticmethod
    def reference(
        ciphertext: torch.Tensor,
        *,
        output_domain: PolynomialDomain | None = None,
        rounding: Literal["nearest", "truncate"] = "nearest",
    ) -> torch.Tensor:
        return ciphertext


def transfer_rescale(
    operation: str,
    ciphertext: CkksState,
    output_domain: PolynomialDomain | None = None,
    rounding: str = "nearest",
) -> CkksState:
    """Give the state after the division by the next prime of the chain."""
    require_ciphertext(operation, ciphertext)
    require_depth_left(operation, ciphertext)
    depth, scale = ciphertext.depth, ciphertext.scale
    domain = chosen_domain(operation, output_domain, ciphertext.polynomial_domain)
    if depth is None or scale is None:
        return ciphertext.replace(
            depth=None if depth is None else depth + 1,
            scale=None,
            noise_bound=None,
            polynomial_domain=domain,
        )
    exact, result = _rescaled(ciphertext)
    if exact < 1:
        raise StateError(
            operation,
            f"the scale would fall from {scale:.6g} to {exact:.6g}, the smallest is 1",
            "A rescale follows a product, whose scale is large",
            "Multiply first, or drop a prime with engine.mod_switch_to_depth",
        )
    if rounding not in ("nearest", "truncate"):
        raise StateError(
            operation,
            f"rounding is {rounding!r}, needed is 'nearest' or 'truncate'",
            "A division rounds one way or the other",
            "Leave it out for nearest",
        )
    error = rescale_error(ciphertext, rounding).bound
    # Reading a value at a scale that is off by a factor 1 + d moves it by d of its size.
    off = abs(result / exact - 1) + noise.SCALE_ROUNDING
    relabelled = known_product(known_sum(ciphertext.message_bound, ciphertext.noise_bound), off)
    return ciphertext.replace(
        depth=depth + 1,
        scale=result,
        polynomial_domain=domain,
        noise_bound=known_sum(ciphertext.noise_bound, error, relabelled),
    ).check_bounds(operation)


def _rescaled(ciphertext: CkksState) -> tuple[float, float]:
    """Return the scale after a rescale: divided exactly, and as it is labelled."""
    config, depth, scale = ciphertext.config, ciphertext.depth, ciphertext.scale
    assert depth is not None
    assert scale is not None
    exact = scale / config.q_primes[depth]
    return exact, config.canonical_scale(exact, depth + 1)


def rescale_error(ciphertext: CkksState, rounding: str = "nearest") -> noise.Error:
    """Return the error of one rescale of a ciphertext whose depth and scale are known."""
    rounded = noise.rounding if rounding == "nearest" else noise.truncation
    _, scale = _rescaled(ciphertext)
    return rounded(ciphertext.config, ciphertext.components or 3, scale)


def _require_reachable(operation: str, ciphertext: CkksState, depth: int) -> None:
    if isinstance(depth, bool) or not isinstance(depth, int):
        raise StateError(
            operation,
            f"depth is a {type(depth).__name__}, needed is an int",
            "A depth counts dropped primes from 0",
            "Pass an int",
        )
    if ciphertext.depth is not None and depth < ciphertext.depth:
        raise StateError(
            operation,
            f"the ciphertext is at depth {ciphertext.depth}, asked for is {depth}",
            "Depth only grows; dropped primes cannot come back",
            "Encrypt anew, or bring the other operand down instead",
            depth=ciphertext.depth,
        )
    if depth > ciphertext.config.max_depth:
        raise DepthExhaustedError(
            operation,
            f"asked for depth {depth}, the largest depth is {ciphertext.config.max_depth}",
            "The base prime stays",
            "Choose a preset with more depth",
            depth=depth,
            max_depth=ciphertext.config.max_depth,
        )


@irdl_op_definition
class ModSwitchOp(DeclaredOperation):
    """Drop primes down to a depth: the same residues with fewer limbs.

    The scale stays what it was, so it no longer is the canonical one of the new depth:
    ``align_to_depth`` is the exact way to make operands meet.

    Shapes:
        [component, *batch, limb, N] -> [component, *batch, fewer limbs, N].

    State:
        Depth becomes ``depth``; scale, domain and noise bound stay.

    Cost:
        A copy.

    Args:
        ciphertext: The encrypted vector.
        depth: Target depth, counted up from 0 (a level, in other libraries, counts down).

    Raises:
        StateError: The target is shallower than the ciphertext.
        DepthExhaustedError: The target is beyond ``config.max_depth``.
        BoundError: The remaining modulus may not hold the value.

    Example:
        >>> engine.mod_switch_to_depth(x, 2).depth
        2

    Source:
        Cheon, Han, Kim, Kim, Song (SAC 2018).
    """

    name = "ckks.mod_switch"
    ciphertext = operand_def(CiphertextType)
    depth = prop_def(IntegerAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("mod_switch_to_depth", "levels")
    FACTS: ClassVar = OperationFacts(limb_wise=True, consumes_depth=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, depth: int) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        _require_reachable(operation, ciphertext, depth)
        return ciphertext.replace(depth=depth).check_bounds(operation)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, depth: int) -> dict[str, Any]:
        return super().call_facts(ciphertext, target_depth=depth)

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, depth: int) -> torch.Tensor:
        return ciphertext


@irdl_op_definition
class AlignOp(DeclaredOperation):
    """Bring a ciphertext down to a depth at exactly that depth's canonical scale.

    Drops primes to depth - 1, multiplies by the constant 1 at the scale that makes the product
    canonical, and rescales: D_d q_{d-1} / s, then / q_{d-1}. The constant is right to half an
    integer unit, below the noise.

    Shapes:
        [component, *batch, limb, N] -> [component, *batch, fewer limbs, N].

    State:
        Depth becomes ``depth`` and scale ``config.scale_at(depth)``. A ciphertext already there
        is returned as a copy.

    Cost:
        As ``rescale_to_next_depth``.

    Args:
        ciphertext: The encrypted vector.
        depth: Target depth, counted up from 0.

    Raises:
        StateError: The target is shallower, or equal with another scale.
        DepthExhaustedError: The target is beyond ``config.max_depth``.

    Example:
        >>> product = engine.rescale_to_next_depth(engine.relinearize(engine.multiply(x, y)))
        >>> total = engine.add(product, engine.align_to_depth(x, product.depth))
        >>> total.depth
        1

    Source:
        Kim, Papadimitriou, Polyakov (CT-RSA 2022), "Approximate homomorphic encryption with
        reduced approximation error", section 3.2 (scales that meet exactly).
    """

    name = "ckks.align"
    ciphertext = operand_def(CiphertextType)
    depth = prop_def(IntegerAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("align_to_depth", "levels")
    FACTS: ClassVar = OperationFacts(consumes_depth=True, reads_scale=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, depth: int) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        _require_reachable(operation, ciphertext, depth)
        if ciphertext.depth is None or ciphertext.scale is None:
            return ciphertext.replace(
                depth=depth, scale=ciphertext.config.scale_at(depth), noise_bound=None
            )
        target = ciphertext.config.scale_at(depth)
        if ciphertext.depth == depth:
            if ciphertext.scale == target:
                return ciphertext
            raise StateError(
                operation,
                f"the ciphertext is at depth {depth} with scale {ciphertext.scale:.17g}, the "
                f"canonical scale there is {target:.17g}",
                "Alignment needs one prime to divide by",
                "Rescale first, or align to a deeper depth",
            )
        factor = align_factor(ciphertext, depth)
        if factor < 1:
            raise StateError(
                operation,
                f"the scale {ciphertext.scale:.6g} exceeds what one prime can bring to "
                f"{target:.6g}",
                "Alignment divides by one prime only",
                "Rescale the product first",
            )
        dropped = ciphertext.replace(depth=depth - 1)
        product = MultiplyScalarOp.transfer(dropped, value=1.0, scale=factor)
        # The product's scale is D_d q_{d-1} up to float rounding: the rescale makes it exact.
        return RescaleOp.transfer(product).replace(scale=target)

    @classmethod
    def added_error(cls, ciphertext: CkksState, *, depth: int) -> noise.Error:
        config, components = ciphertext.config, ciphertext.components or 3
        if ciphertext.depth == depth:
            return noise.EXACT
        return noise.rounding(config, components, config.scale_at(depth))

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, depth: int) -> dict[str, Any]:
        # A ciphertext that is there already needs no factor.
        factor = None if depth == ciphertext.depth else align_factor(ciphertext, depth)
        return super().call_facts(ciphertext, target_depth=depth, factor_scale=factor)

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, depth: int) -> torch.Tensor:
        return ciphertext


@irdl_op_definition
class ReinterpretScaleOp(DeclaredOperation):
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
    ciphertext = operand_def(CiphertextType)
    scale = prop_def(FloatAttr)
    result = result_def(CiphertextType)
    ENGINE: ClassVar = EngineMethod("reinterpret_at_scale", "levels")
    FACTS: ClassVar = OperationFacts(limb_wise=True, same_residues=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, scale: float) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        if (
            isinstance(scale, bool)
            or not isinstance(scale, int | float)
            or not (1 <= scale < math.inf)
        ):
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
    def call_facts(cls, ciphertext: CkksState, *, scale: float) -> dict[str, Any]:
        return super().call_facts(ciphertext, target_depth=ciphertext.depth)

    @classmethod
    def written_attributes(cls, ciphertext: CkksState, *, scale: float) -> dict[str, Any]:
        return {"scale": scale, "old_scale": ciphertext.scale}

    @staticmethod
    def reference(ciphertext: torch.Tensor, *, scale: float, old_scale: float) -> torch.Tensor:
        # A plain tensor has no scale: whoever simulates tracks the operand's.
        return ciphertext * (old_scale / scale)


def align_factor(ciphertext: CkksState, depth: int) -> float:
    """Return the scale of the constant 1 that alignment multiplies by."""
    assert ciphertext.scale is not None
    config = ciphertext.config
    return config.scale_at(depth) * config.q_primes[depth - 1] / ciphertext.scale
