"""Checks shared by transfer rules: each states the fact, the rule and the remedy once."""

from __future__ import annotations

import math
from typing import Any, get_args

from fhelium.errors import DepthExhaustedError, StateError
from fhelium.values import CkksState, PolynomialDomain, require_same_context


def require(
    operation: str, state: CkksState, name: str, needed: Any, remedy: str, role: str = "operand"
) -> None:
    """Refuse an operand whose known value of a field is not the needed one."""
    found = getattr(state, name)
    if found is not None and found != needed:
        label = name.replace("_", " ")
        raise StateError(
            operation,
            f"the {role}'s {label} is {found}, needed is {needed}",
            f"This operation takes {needed} only",
            remedy,
            **{name: found},
        )


def require_ciphertext(operation: str, *states: CkksState, components: int | None = None) -> None:
    """Refuse ciphertexts that are not standard residues over Q (of so many components)."""
    require_same_context(operation, *states)
    for state in states:
        require(
            operation, state, "modulus_basis", "Q", "Bring it down with a mod_down", "ciphertext"
        )
        require(
            operation,
            state,
            "residue_representation",
            "standard",
            "Convert it with a from-Montgomery transition",
            "ciphertext",
        )
        if components is not None:
            require(
                operation,
                state,
                "components",
                components,
                "Relinearize it first with engine.relinearize"
                if components == 2
                else "Only the product of two ciphertexts has three components",
                "ciphertext",
            )


def require_depth_left(operation: str, state: CkksState) -> None:
    """Refuse to drop a prime from a value that has only the base left."""
    if state.depth is not None and state.depth >= state.config.max_depth:
        raise DepthExhaustedError(
            operation,
            f"the ciphertext is at depth {state.depth}, the largest depth is "
            f"{state.config.max_depth}",
            "Every rescale drops one prime and the base prime stays",
            "Choose a preset with more depth, or rescale less",
            depth=state.depth,
            max_depth=state.config.max_depth,
        )


def chosen_domain(
    operation: str, requested: PolynomialDomain | None, inherited: PolynomialDomain | None
) -> PolynomialDomain | None:
    """Return the domain of a result: the one asked for, else the operand's."""
    if requested is None:
        return inherited
    domains = get_args(PolynomialDomain)
    if requested not in domains:
        raise StateError(
            operation,
            f"output_domain is {requested!r}, needed is {' or '.join(map(repr, domains))}",
            "A polynomial is kept as coefficients or as NTT values",
            "Pass one of the two, or omit output_domain",
            output_domain=requested,
        )
    return requested


def known_sum(*values: float | None) -> float | None:
    """Add bounds; unknown if any is."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def known_product(*values: float | None) -> float | None:
    """Multiply bounds or scales; unknown if any is."""
    total = 1.0
    for value in values:
        if value is None:
            return None
        total *= value
    return total


def covering_power(largest: float) -> float:
    """Return the smallest power of two that a magnitude does not exceed: the bound of clear slots.

    Example:
        >>> covering_power(0.3), covering_power(0.5), covering_power(0.0)
        (0.5, 0.5, 0.0)
    """
    if largest == 0:
        return 0.0
    # Exactly: log2 of a number just above a large power of two is rounded down to that power.
    fraction, exponent = math.frexp(largest)
    return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)
