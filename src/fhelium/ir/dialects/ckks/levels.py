"""Moves along the modulus chain: rescale, mod_switch and exact alignment."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def

from fhelium.errors import StateError
from fhelium.ir import noise
from fhelium.ir.dialects.ckks.scalars import transfer_scalar_product
from fhelium.ir.dialects.ckks.shapes import UnaryOperation
from fhelium.ir.dialects.ckks.states import rescale_error, transfer_rescale
from fhelium.ir.operation import EngineMethod, OperationFacts
from fhelium.ir.rules import Rounding, require_ciphertext, require_reachable
from fhelium.values import CkksState, PolynomialDomain


@irdl_op_definition
class RescaleOp(UnaryOperation):
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
    output_domain = opt_prop_def(StringAttr)
    rounding = opt_prop_def(StringAttr)
    ENGINE: ClassVar = EngineMethod("rescale_to_next_depth", "levels", hidden=("rounding",))
    FACTS: ClassVar = OperationFacts(consumes_depth=True)

    @classmethod
    def transfer(
        cls,
        ciphertext: CkksState,
        *,
        output_domain: PolynomialDomain | None = None,
        rounding: Rounding = "nearest",
    ) -> CkksState:
        return transfer_rescale(cls.public_name(), ciphertext, output_domain, rounding)

    @classmethod
    def added_error(
        cls, ciphertext: CkksState, *, rounding: Rounding = "nearest", **others: Any
    ) -> noise.Error:
        return rescale_error(ciphertext, rounding)


@irdl_op_definition
class ModSwitchOp(UnaryOperation):
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
    depth = prop_def(IntegerAttr)
    ENGINE: ClassVar = EngineMethod("mod_switch_to_depth", "levels")
    FACTS: ClassVar = OperationFacts(limb_wise=True, consumes_depth=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, depth: int) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        require_reachable(operation, ciphertext, depth)
        return ciphertext.replace(depth=depth).check_bounds(operation)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, depth: int) -> dict[str, Any]:
        return super().call_facts(ciphertext, target_depth=depth)


@irdl_op_definition
class AlignOp(UnaryOperation):
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
    depth = prop_def(IntegerAttr)
    ENGINE: ClassVar = EngineMethod("align_to_depth", "levels")
    FACTS: ClassVar = OperationFacts(consumes_depth=True, reads_scale=True)

    @classmethod
    def transfer(cls, ciphertext: CkksState, *, depth: int) -> CkksState:
        operation = cls.public_name()
        require_ciphertext(operation, ciphertext)
        require_reachable(operation, ciphertext, depth)
        target = ciphertext.config.scale_at(depth)
        if ciphertext.depth is None or ciphertext.scale is None:
            return ciphertext.replace(depth=depth, scale=target, noise_bound=None)
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
        product = transfer_scalar_product(operation, dropped, 1.0, factor)
        # The product's scale is D_d q_{d-1} up to float rounding: the rescale makes it exact.
        return transfer_rescale(operation, product).replace(scale=target)

    @classmethod
    def added_error(cls, ciphertext: CkksState, *, depth: int) -> noise.Error:
        config, components = ciphertext.config, ciphertext.components or 3
        if ciphertext.depth == depth:
            return noise.EXACT
        # A small factor is far from the integer that stands for it: each slot is off by as much.
        factor = align_factor(ciphertext, depth)
        off = abs(round(factor) / factor - 1) * (ciphertext.message_bound or 0.0)
        return noise.rounding(config, components, config.scale_at(depth)) + noise.Error(off, off)

    @classmethod
    def call_facts(cls, ciphertext: CkksState, *, depth: int) -> dict[str, Any]:
        # A ciphertext that is there already needs no factor.
        factor = None if depth == ciphertext.depth else align_factor(ciphertext, depth)
        return super().call_facts(ciphertext, target_depth=depth, factor_scale=factor)


def align_factor(ciphertext: CkksState, depth: int) -> float:
    """Return the scale of the constant 1 that alignment multiplies by."""
    assert ciphertext.scale is not None
    config = ciphertext.config
    return config.scale_at(depth) * config.q_primes[depth - 1] / ciphertext.scale
