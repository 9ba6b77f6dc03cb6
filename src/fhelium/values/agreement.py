"""When two states may stand together, and what a value made of several carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fhelium.errors import ContextMismatchError, KeyMismatchError, StateError
from fhelium.text import scale_text
from fhelium.values.state import CkksState

_RULES: Final = {
    "depth": (
        "Depths must agree",
        "Bring both to one depth with engine.align_to_depth(value, depth)",
    ),
    "scale": (
        "Scales must agree",
        "Bring both to the canonical scale of one depth with engine.align_to_depth(value, depth)",
    ),
    "polynomial_domain": (
        "Polynomial domains must agree",
        "Convert one with engine.coefficient_domain_to_ntt_domain(value) or "
        "engine.ntt_domain_to_coefficient_domain(value)",
    ),
    "modulus_basis": ("Modulus bases must agree", "Use values over one basis"),
    "residue_representation": (
        "Residue representations must agree",
        "Use values in one representation; ciphertexts are kept in standard form",
    ),
    "components": ("Component counts must agree", "Reduce three with engine.relinearize(value)"),
}


def require_same_context(operation: str, *states: CkksState, names: Sequence[str] = ()) -> None:
    """Refuse states of different parameter sets or different secret keys.

    Args:
        operation: Name that an error text begins with.
        *states: At least one state; a key id of None belongs to any key.
        names: What the error text calls them; "operand 0", "operand 1", ... by default.

    Raises:
        ContextMismatchError: Different parameters; make all values and keys from one config.
        KeyMismatchError: Different secret keys; encrypt both under one key.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config)
        >>> require_same_context("add", state, state.replace(key_id="5f0c"))
    """
    owner = 0
    for position, state in enumerate(states):
        if state.config is not states[0].config and state.context_id != states[0].context_id:
            found = (states[0].context_id, state.context_id)
            raise ContextMismatchError(
                operation,
                f"context_id is {_between(found, names, 0, position)}",
                "Values and keys mix only within one parameter set",
                "Make all of them from one config",
                context_ids=found,
            )
        if states[owner].key_id is None:
            owner = position
        elif state.key_id is not None and state.key_id != states[owner].key_id:
            found = (states[owner].key_id, state.key_id)
            raise KeyMismatchError(
                operation,
                f"key_id is {_between(found, names, owner, position)}",
                "Values and keys mix only under one secret key",
                "Encrypt both under one key, or switch one with engine.switch_key(value, key)",
                key_ids=found,
            )


def require_agreement(
    operation: str, states: Sequence[CkksState], *axes: str, names: Sequence[str] = ()
) -> None:
    """Refuse states whose known values of an axis differ; an unknown one agrees with any.

    Args:
        operation: Name that an error text begins with.
        states: At least one state.
        *axes: Names of the axes that must agree.
        names: What the error text calls the states; "operand 0", "operand 1", ... by default.

    Raises:
        StateError: An axis differs; the text names both values and how to bring them together.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config)
        >>> try:
        ...     require_agreement("add", (state, state.replace(components=3)), "components")
        ... except StateError as error:
        ...     print(error.fact)
        components is 2 for operand 0 and 3 for operand 1
    """
    for axis in axes:
        known = None
        for position, state in enumerate(states):
            value = getattr(state, axis)
            if value is None:
                continue
            if known is None:
                known = position
            elif value != getattr(states[known], axis):
                found = (getattr(states[known], axis), value)
                rule, remedy = _RULES[axis]
                raise StateError(
                    operation,
                    f"{axis} is {_between(_shown(axis, found), names, known, position)}",
                    rule,
                    remedy,
                    axis=axis,
                    found=found,
                )


def join_states(operation: str, states: Sequence[CkksState]) -> CkksState:
    """Return the state of one value that holds all of several, slot by slot.

    Args:
        operation: Name that an error text begins with.
        states: At least one state.

    Returns:
        The common state with the largest bounds (unknown if any is) and insecure if any is.

    Raises:
        StateError: Two states differ in more than bounds and mark.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config, noise_bound=0.25)
        >>> join_states("stack", [state, state.replace(noise_bound=0.5)]).noise_bound
        0.5
    """
    first = states[0]
    names = [f"value {position}" for position in range(len(states))]
    require_same_context(operation, *states, names=names)
    require_agreement(operation, states, *_RULES, names=names)
    return first.replace(
        key_id=next((state.key_id for state in states if state.key_id is not None), None),
        noise_bound=_largest([state.noise_bound for state in states]),
        message_bound=_largest([state.message_bound for state in states]),
        insecure=any(state.insecure for state in states),
    )


def _largest(bounds: list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def _between(found: Sequence[object], names: Sequence[str], left: int, right: int) -> str:
    labels = names or [f"operand {position}" for position in range(right + 1)]
    return f"{found[0]} for {labels[left]} and {found[1]} for {labels[right]}"


def _shown(axis: str, found: tuple[Any, Any]) -> tuple[object, object]:
    if axis != "scale":
        return found
    # repr as well: two scales that print alike as powers of two are still different.
    return f"{scale_text(found[0])} ({found[0]!r})", f"{scale_text(found[1])} ({found[1]!r})"
