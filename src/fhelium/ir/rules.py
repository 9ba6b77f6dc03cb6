"""Checks shared by transfer rules: each states the fact, the rule and the remedy once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

from fhelium.config import choose_more_depth
from fhelium.errors import DepthExhaustedError, StateError
from fhelium.values import CkksState, PolynomialDomain, require_agreement, require_same_context

Rounding = Literal["nearest", "truncate"]


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


_STANDARD = (
    ("modulus_basis", "Q", "Bring it down with a mod_down"),
    ("residue_representation", "standard", "Convert it with a from-Montgomery transition"),
)
_COMPONENTS = {
    2: "Relinearize it first with engine.relinearize",
    3: "Only the product of two ciphertexts has three components",
}


def require_ciphertext(operation: str, *states: CkksState, components: int | None = None) -> None:
    """Refuse ciphertexts that are not standard residues over Q (of so many components)."""
    require_same_context(operation, *states)
    for state in states:
        if state.modulus_basis != "Q" or state.residue_representation != "standard":
            for name, needed, remedy in _STANDARD:  # one that is not known yet passes
                require(operation, state, name, needed, remedy, "ciphertext")
        if components is not None:
            remedy = _COMPONENTS[components]
            require(operation, state, "components", components, remedy, "ciphertext")


def agreed(
    operation: str, states: Sequence[CkksState], *axes: str, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the first operand has still to learn, or refuse operands that differ in an axis.

    It is what the others know of the axes and of the key, and their mark if one is insecure.
    """
    require_agreement(operation, states, *axes, names=names)
    first, *others = states
    found: dict[str, Any] = {}
    for axis in (*axes, "key_id"):
        if getattr(first, axis) is None:
            known = (getattr(state, axis) for state in others)
            found[axis] = next((value for value in known if value is not None), None)
    if not first.insecure:
        found["insecure"] = any(state.insecure for state in others)
    return found


def require_depth_left(operation: str, state: CkksState) -> None:
    """Refuse to drop a prime from a value that has only the base left."""
    if state.depth is not None and state.depth >= state.config.max_depth:
        raise DepthExhaustedError(
            operation,
            f"the ciphertext is at depth {state.depth}, the largest depth is "
            f"{state.config.max_depth}",
            "Every rescale drops one prime and the base prime stays",
            f"{choose_more_depth(state.config)}, or rescale less",
            depth=state.depth,
            max_depth=state.config.max_depth,
        )


def require_reachable(operation: str, state: CkksState, depth: int) -> None:
    """Refuse a target depth that is no depth, or that dropping primes does not lead to."""
    if isinstance(depth, bool) or not isinstance(depth, int):
        raise StateError(
            operation,
            f"depth is a {type(depth).__name__}, needed is an int",
            "A depth counts dropped primes from 0",
            "Pass an int",
        )
    if depth < (state.depth or 0):
        raise StateError(
            operation,
            f"the operand is at depth {state.depth or 0}, asked for is {depth}",
            "Depth only grows; dropped primes cannot come back",
            "Encrypt anew, or bring the other operand down instead",
            depth=state.depth,
        )
    if depth > state.config.max_depth:
        raise DepthExhaustedError(
            operation,
            f"asked for depth {depth}, the largest depth is {state.config.max_depth}",
            "The base prime stays",
            choose_more_depth(state.config),
            depth=depth,
            max_depth=state.config.max_depth,
        )


def require_choice(
    operation: str, name: str, value: object, choices: Sequence[str], rule: str, remedy: str
) -> None:
    """Refuse an attribute that is none of the words it chooses from."""
    if value not in choices:
        raise StateError(
            operation,
            f"{name} is {value!r}, needed is {' or '.join(map(repr, choices))}",
            rule,
            remedy,
            **{name: value},
        )


def require_rounding(operation: str, rounding: Rounding) -> None:
    """Refuse a division that rounds in no known way."""
    rule, remedy = "A division rounds one way or the other", "Leave it out for nearest"
    require_choice(operation, "rounding", rounding, get_args(Rounding), rule, remedy)


def window(operation: str, size: int | None, slots: int) -> int:
    """Return how many slots are added up: all of them, or a power of two."""
    count = slots if size is None else size
    if type(count) is not int or count < 1 or count > slots or count & (count - 1):
        raise StateError(
            operation,
            f"size is {size!r}, the number of slots is {slots}",
            "A window is a power of two up to the number of slots",
            "Pad the message to a power of two",
        )
    return count


def chosen_domain(
    operation: str, requested: PolynomialDomain | None, inherited: PolynomialDomain | None
) -> PolynomialDomain | None:
    """Return the domain of a result: the one asked for, else the operand's."""
    if requested is None:
        return inherited
    rule = "A polynomial is kept as coefficients or as NTT values"
    remedy = "Pass one of the two, or omit output_domain"
    domains = get_args(PolynomialDomain)
    require_choice(operation, "output_domain", requested, domains, rule, remedy)
    return requested


def is_real(value: object) -> bool:
    """Say whether a value is an int or a float; a bool is an int to Python and a mistake here."""
    return isinstance(value, int | float) and not isinstance(value, bool)


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
