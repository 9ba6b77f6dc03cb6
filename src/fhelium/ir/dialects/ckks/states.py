"""What a sum, a product, a key switch and a division make of the states of their operands."""

from __future__ import annotations

from collections.abc import Sequence

from fhelium.errors import StateError
from fhelium.ir import noise
from fhelium.ir.rules import (
    Rounding,
    agreed,
    chosen_domain,
    known_product,
    known_sum,
    require,
    require_ciphertext,
    require_depth_left,
    require_rounding,
)
from fhelium.values import CkksState, PolynomialDomain, require_same_context

_NAMES = ("the ciphertext", "the plaintext")


def transfer_sum(
    operation: str, states: Sequence[CkksState], names: Sequence[str] = ()
) -> CkksState:
    """Give the state of a sum of ciphertexts."""
    if not states:
        raise StateError(
            operation, "there are no terms", "A sum has at least one", "Pass a ciphertext"
        )
    require_ciphertext(operation, *states)
    return _sum(operation, states, names, "components")


def transfer_plaintext_sum(
    operation: str, ciphertext: CkksState, plaintext: CkksState
) -> CkksState:
    """Give the state of the sum with an encoded vector."""
    require_plaintext(operation, ciphertext, plaintext, "add")
    return _sum(operation, (ciphertext, plaintext), _NAMES)


def _sum(
    operation: str, states: Sequence[CkksState], names: Sequence[str], *further: str
) -> CkksState:
    axes = ("depth", "scale", "polynomial_domain", *further)
    first = states[0]
    return first.replace(
        **agreed(operation, states, *axes, names=names),
        noise_bound=known_sum(*[state.noise_bound for state in states]),
        message_bound=known_sum(*[state.message_bound for state in states]),
    ).check_bounds(operation)


def transfer_product(
    operation: str, lhs: CkksState, rhs: CkksState, output_domain: PolynomialDomain | None
) -> CkksState:
    """Give the state of the product of two ciphertexts: three components."""
    require_ciphertext(operation, lhs, rhs, components=2)
    axes, names = ("depth", "polynomial_domain"), ("lhs", "rhs")
    return _product(operation, lhs, rhs, output_domain, axes, names, components=3)


def transfer_plaintext_product(
    operation: str,
    ciphertext: CkksState,
    plaintext: CkksState,
    output_domain: PolynomialDomain | None = None,
) -> CkksState:
    """Give the state of the product with an encoded vector."""
    require_plaintext(operation, ciphertext, plaintext, "multiply")
    return _product(operation, ciphertext, plaintext, output_domain, ("depth",), _NAMES)


def require_plaintext(
    operation: str, ciphertext: CkksState, plaintext: CkksState, use: str
) -> None:
    """Refuse a plaintext that is not in the form that ``prepare_plaintext`` gives it for a use."""
    require_ciphertext(operation, ciphertext)
    require_same_context(operation, ciphertext, plaintext, names=_NAMES)
    remedy = f'Prepare it with engine.prepare_plaintext(..., for_="{use}")'
    form = "montgomery" if use == "multiply" else "standard"
    require(operation, plaintext, "residue_representation", form, remedy, "plaintext")
    require(operation, plaintext, "modulus_basis", "Q", remedy, "plaintext")
    if use == "multiply":
        require(operation, plaintext, "polynomial_domain", "ntt", remedy, "plaintext")


def _product(
    operation: str,
    lhs: CkksState,
    rhs: CkksState,
    output_domain: PolynomialDomain | None,
    axes: tuple[str, ...],
    names: tuple[str, str],
    **others: int,
) -> CkksState:
    changes = agreed(operation, (lhs, rhs), *axes, names=names)
    inherited = changes.get("polynomial_domain", lhs.polynomial_domain)
    changes["polynomial_domain"] = chosen_domain(operation, output_domain, inherited)
    # |xy - x'y'| <= |x| e_y + |y| e_x + e_x e_y
    noise_bound = known_sum(
        known_product(lhs.message_bound, rhs.noise_bound),
        known_product(rhs.message_bound, lhs.noise_bound),
        known_product(lhs.noise_bound, rhs.noise_bound),
    )
    return lhs.replace(
        **changes,
        **others,
        scale=known_product(lhs.scale, rhs.scale),
        noise_bound=noise_bound,
        message_bound=known_product(lhs.message_bound, rhs.message_bound),
    ).check_bounds(operation)


def transfer_key_switch(
    operation: str,
    ciphertext: CkksState,
    keys: Sequence[CkksState],
    output_domain: PolynomialDomain | None = None,
    *,
    components: int = 2,
) -> CkksState:
    """Give the state after a key switch with each of the keys: two components, its noise added."""
    require_ciphertext(operation, ciphertext, components=components)
    states, names = (ciphertext, *keys), ("the ciphertext", *["the key"] * len(keys))
    require_same_context(operation, *states, names=names)
    known = ciphertext.scale is not None and ciphertext.depth is not None
    added = key_switch_error(ciphertext).bound if known else None
    return ciphertext.replace(
        **agreed(operation, states),
        components=2,
        polynomial_domain=chosen_domain(operation, output_domain, ciphertext.polynomial_domain),
        noise_bound=known_sum(ciphertext.noise_bound, added),
    ).check_bounds(operation)


def key_switch_error(ciphertext: CkksState) -> noise.Error:
    """Return the error of one key switch of a ciphertext whose depth and scale are known."""
    assert ciphertext.depth is not None
    assert ciphertext.scale is not None
    return noise.key_switch(ciphertext.config, ciphertext.depth, ciphertext.scale)


def transfer_rescale(
    operation: str,
    ciphertext: CkksState,
    output_domain: PolynomialDomain | None = None,
    rounding: Rounding = "nearest",
) -> CkksState:
    """Give the state after the division by the next prime of the chain."""
    require_ciphertext(operation, ciphertext)
    require_depth_left(operation, ciphertext)
    require_rounding(operation, rounding)
    depth, scale = ciphertext.depth, ciphertext.scale
    changed = ciphertext.replace(
        depth=None if depth is None else depth + 1,
        polynomial_domain=chosen_domain(operation, output_domain, ciphertext.polynomial_domain),
    )
    if depth is None or scale is None:
        return changed.replace(scale=None, noise_bound=None)
    exact, result = _rescaled(ciphertext)
    if exact < 1:
        raise StateError(
            operation,
            f"the scale would fall from {scale:.6g} to {exact:.6g}, the smallest is 1",
            "A rescale follows a product, whose scale is large",
            "Multiply first, or drop a prime with engine.mod_switch_to_depth",
        )
    error = rescale_error(ciphertext, rounding).bound
    # Reading a value at a scale that is off by a factor 1 + d moves it by d of its size.
    off = abs(result / exact - 1) + noise.SCALE_ROUNDING
    relabelled = known_product(known_sum(ciphertext.message_bound, ciphertext.noise_bound), off)
    noise_bound = known_sum(ciphertext.noise_bound, error, relabelled)
    return changed.replace(scale=result, noise_bound=noise_bound).check_bounds(operation)


def _rescaled(ciphertext: CkksState) -> tuple[float, float]:
    """Return the scale after a rescale: divided exactly, and as it is labelled."""
    config, depth, scale = ciphertext.config, ciphertext.depth, ciphertext.scale
    assert depth is not None
    assert scale is not None
    exact = scale / config.q_primes[depth]
    return exact, config.canonical_scale(exact, depth + 1)


def rescale_error(ciphertext: CkksState, rounding: Rounding = "nearest") -> noise.Error:
    """Return the error of one rescale of a ciphertext whose depth and scale are known."""
    rounded = noise.rounding if rounding == "nearest" else noise.truncation
    _, scale = _rescaled(ciphertext)
    return rounded(ciphertext.config, ciphertext.components or 3, scale)
