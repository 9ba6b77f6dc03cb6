"""Public vectors that enter a Program: their form, and what is known of them."""

from __future__ import annotations

from typing import Any

import torch

from fhelium.config import CkksConfig
from fhelium.errors import MessageTypeError, MessageValueError
from fhelium.ir.rules import covering_power
from fhelium.values import CkksState


def checked_message(operation: str, name: str, message: Any, config: CkksConfig) -> torch.Tensor:
    """Return a public vector as float64 or complex128 if it fills the slots evenly.

    Args:
        operation: Name that an error text begins with.
        name: What an error calls the vector.
        message: [*batch, period] for a period that divides the number of slots, or [].
        config: Parameters.

    Raises:
        MessageTypeError: It is no tensor of numbers.
        MessageValueError: Its length does not divide the number of slots, or it is not finite.
    """
    if not isinstance(message, torch.Tensor) or message.dtype == torch.bool:
        shown = str(getattr(message, "dtype", type(message).__name__))
        raise MessageTypeError(
            operation,
            f"{name} is a {shown}, needed is a tensor of numbers",
            "A public vector is a tensor, real or complex",
            "Convert it with torch.as_tensor",
        )
    wide = message.detach().to(torch.complex128 if message.is_complex() else torch.float64)
    wide = wide if wide.ndim else wide.reshape(1)
    length = wide.shape[-1]
    if length == 0 or config.num_slots % length:
        raise MessageValueError(
            operation,
            f"{name} has {length} values, the number of slots is {config.num_slots}",
            "A public vector repeats until all slots are full",
            "Pad its last axis to a power of two",
        )
    if not bool(torch.isfinite(torch.view_as_real(wide) if wide.is_complex() else wide).all()):
        raise MessageValueError(
            operation,
            f"{name} holds NaN or infinity",
            "They cannot be encoded",
            "Pass finite values",
        )
    return wide


def message_state(message: torch.Tensor, config: CkksConfig) -> CkksState:
    """Return what is known of a public vector: a power of two that covers it."""
    bound = covering_power(float(message.abs().max()))
    return CkksState(config=config, message_bound=bound, insecure=config.insecure)
