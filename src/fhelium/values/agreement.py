"""When two states may stand together, and what a value made of several carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fhelium.errors import ContextMismatchError, KeyMismatchError, StateError
from fhelium.values.state import AXES, CkksState
from fhelium.values.text import scale_text

# These describe what is known of a value, not how it must be read, so they may differ.
KNOWLEDGE: Final = ("noise_bound", "message_bound", "insecure")
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


def require_same_state(
    operation: str,
    left: CkksState,
    right: CkksState,
    *,
    ignore: Sequence[str] = KNOWLEDGE,
    names: tuple[str, str] = ("the first value", "the second value"),
) -> None:
    """Refuse two states that give the same residues different meanings.

    Args:
        operation: Name that an error text begins with.
        left: One state.
        right: The other.
        ignore: Axes that may differ; bounds and the insecure mark unless told otherwise.
        names: What the error text calls the two.

    Raises:
        ContextMismatchError: Different parameters; make all values and keys from one config.
        KeyMismatchError: Different secret keys; encrypt both under one key.
        StateError: Another axis differs; the text names both values and how to bring them together.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config)
        >>> require_same_state("add", state, state.replace(noise_bound=0.5))
        >>> try:
        ...     require_same_state("add", state, state.replace(components=3))
        ... except StateError as error:
        ...     print(error.fact)
        components is 2 for the first value and 3 for the second value
    """
    if left is right:
        return
    for axis in AXES:
        if axis in ignore:
            continue
        if axis == "config":
            if left.config is not right.config and left.context_id != right.context_id:
                _refuse_context(operation, left.context_id, right.context_id, names)
        elif getattr(left, axis) != getattr(right, axis):
            _refuse_axis(operation, axis, (getattr(left, axis), getattr(right, axis)), names)


def join_states(operation: str, states: Sequence[CkksState]) -> CkksState:
    """Return the state of one value that holds all of several, slot by slot.

    Args:
        operation: Name that an error text begins with.
        states: At least one state.

    Returns:
        The common state with the largest bounds (unknown if any is) and insecure if any is.

    Raises:
        StateError: Two states differ in more than bounds and mark, as `require_same_state` says.

    Example:
        >>> from fhelium.config import CkksConfig
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> state = CkksState.fresh(config, noise_bound=0.25)
        >>> join_states("stack", [state, state.replace(noise_bound=0.5)]).noise_bound
        0.5
    """
    first = states[0]
    for position, state in enumerate(states[1:], start=1):
        require_same_state(operation, first, state, names=("value 0", f"value {position}"))
    return first.replace(
        noise_bound=_largest([state.noise_bound for state in states]),
        message_bound=_largest([state.message_bound for state in states]),
        insecure=any(state.insecure for state in states),
    )


def _largest(bounds: list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def _refuse_context(operation: str, left: str, right: str, names: tuple[str, str]) -> None:
    raise ContextMismatchError(
        operation,
        f"context_id is {left} for {names[0]} and {right} for {names[1]}",
        "Values and keys mix only within one parameter set",
        "Make all of them from one config",
        context_ids=(left, right),
    )


def _refuse_axis(
    operation: str, axis: str, found: tuple[object, object], names: tuple[str, str]
) -> None:
    if axis == "key_id":
        raise KeyMismatchError(
            operation,
            f"key_id is {found[0]} for {names[0]} and {found[1]} for {names[1]}",
            "Values and keys mix only under one secret key",
            "Encrypt both under one key, or switch one with engine.switch_key(value, key)",
            key_ids=found,
        )
    shown = list(found)
    if axis == "scale" and all(isinstance(scale, float) for scale in found):
        # repr as well: two scales that print alike as powers of two are still different.
        shown = [f"{scale_text(scale)} ({scale!r})" for scale in found]  # pyright: ignore[reportArgumentType]
    rule, remedy = _RULES.get(axis, (f"{axis} must agree", "Use values that agree in it"))
    raise StateError(
        operation,
        f"{axis} is {shown[0]} for {names[0]} and {shown[1]} for {names[1]}",
        rule,
        remedy,
        axis=axis,
        found=found,
    )
