"""Checks shared by transfer rules: each states the fact, the rule and the remedy once."""

from __future__ import annotations

import math
from typing import Any

from fhelium.errors import (
    BoundError,
    ContextMismatchError,
    DepthExhaustedError,
    KeyMismatchError,
    StateError,
)
from fhelium.ir import noise
from fhelium.values import CkksState

_RULES = {
    "depth": (
        "Both operands must be at one depth",
        "Bring the shallower one down with engine.align_to_depth (exact scale) or "
        "engine.mod_switch_to_depth (keeps its scale)",
    ),
    "scale": (
        "Both operands must have one scale",
        "Use engine.align_to_depth on the shallower operand, rescale a product, or encode the "
        "plaintext at the ciphertext's scale",
    ),
    "polynomial_domain": (
        "Both operands must be in one polynomial domain",
        "Convert one with engine.coefficient_domain_to_ntt_domain or "
        "engine.ntt_domain_to_coefficient_domain",
    ),
    "modulus_basis": (
        "Both operands must be in one modulus basis",
        "Bring the QP operand down with a mod_down",
    ),
    "residue_representation": (
        "Both operands must be in one residue representation",
        "Convert with the Montgomery transitions",
    ),
    "components": (
        "Both operands must have the same number of components",
        "Relinearize the three-component one first",
    ),
}


def require_same_context(operation: str, *states: CkksState) -> None:
    """Refuse operands of different parameter sets or different secret keys."""
    first = states[0]
    for other in states[1:]:
        if other.config is not first.config and other.context_id != first.context_id:
            raise ContextMismatchError(
                operation,
                f"the operands belong to the contexts {first.context_id} and {other.context_id}",
                "All operands share one parameter set",
                "Make every value and key with the same CkksConfig",
                contexts=(first.context_id, other.context_id),
            )
        if first.key_id is None:
            first = other
        elif other.key_id is not None and other.key_id != first.key_id:
            raise KeyMismatchError(
                operation,
                f"the operands belong to the secret keys {first.key_id} and {other.key_id}",
                "All operands share one secret key",
                "Use keys and ciphertexts of one secret key, or engine.switch_key",
                key_ids=(first.key_id, other.key_id),
            )


def require_agreement(operation: str, states: tuple[CkksState, ...], *fields: str) -> None:
    """Refuse operands whose known values of a field differ."""
    for name in fields:
        values = [getattr(state, name) for state in states]
        known = [value for value in values if value is not None]
        if any(value != known[0] for value in known):
            rule, remedy = _RULES[name]
            label = name.replace("_", " ")
            shown = " and ".join(_show(name, value) for value in values)
            raise StateError(
                operation,
                f"the operands' {label} values are {shown}",
                rule,
                remedy,
                **{name: tuple(values)},
            )


def require(
    operation: str, state: CkksState, name: str, needed: Any, remedy: str, role: str = "operand"
) -> None:
    """Refuse an operand whose known value of a field is not the needed one."""
    found = getattr(state, name)
    if found is not None and found != needed:
        label = name.replace("_", " ")
        raise StateError(
            operation,
            f"the {role}'s {label} is {_show(name, found)}, needed is {_show(name, needed)}",
            f"This operation takes {_show(name, needed)} only",
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


def checked(operation: str, state: CkksState) -> CkksState:
    """Return the state unless its tracked bounds no longer fit its modulus."""
    if state.noise_bound is None or state.message_bound is None:
        return state
    if state.scale is None or state.depth is None:
        return state
    size = (state.message_bound + state.noise_bound) * state.scale
    room = noise.half_modulus(state.config, state.depth)
    if not size < room:
        raise BoundError(
            operation,
            f"the result's bound needs {math.log2(size):.1f} bits, the modulus at depth "
            f"{state.depth} holds {math.log2(room):.1f}",
            "A value beyond half the modulus decrypts to garbage",
            "Rescale products, start shallower, declare a smaller message_bound when encrypting, "
            "or choose a preset with a larger base prime",
            needed_bits=math.log2(size),
            available_bits=math.log2(room),
        )
    return state


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


def _show(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if name == "scale":
        return f"2^{math.log2(value):.6f}"
    return str(value)
