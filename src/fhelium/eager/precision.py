"""How precise a result is: the error of a decryption against a known message, in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fhelium.eager.decryption import DecryptionMethods
from fhelium.eager.policy import DecryptPolicy
from fhelium.errors import MessageTypeError, MessageValueError
from fhelium.values import Ciphertext, SecretKey


@dataclass(frozen=True)
class AxisPrecision:
    """Bits after the binary point that are right: -log2 of the error, over all slots.

    Args:
        min: Of the worst slot.
        mean: Of the mean error.
        rms: Of the root mean square error.
        max: Of the best slot.
    """

    min: float
    mean: float
    rms: float
    max: float


@dataclass(frozen=True)
class PrecisionStats:
    """The precision of a result, apart for real and imaginary parts."""

    real: AxisPrecision
    imaginary: AxisPrecision

    def __str__(self) -> str:
        lines = ["precision (bits)     min    mean     rms     max"]
        for name, axis in (("real", self.real), ("imaginary", self.imaginary)):
            figures = (axis.min, axis.mean, axis.rms, axis.max)
            lines.append(f"{name:16}" + "".join(f"{figure:8.2f}" for figure in figures))
        return "\n".join(lines)


class PrecisionMethods(DecryptionMethods):
    """Measure precision."""

    def precision(
        self,
        expected: Any,
        ciphertext: Ciphertext,
        secret_key: SecretKey,
        *,
        policy: DecryptPolicy | None = None,
    ) -> PrecisionStats:
        """Decrypt a ciphertext and compare it with the message it should hold.

        Args:
            expected: The clear result, real or complex; broadcasts to [*batch, slot].
            ciphertext: The encrypted result.
            secret_key: Its key.
            policy: As in ``decrypt_message``; the default adds covering noise.

        Returns:
            PrecisionStats with min, mean, rms and max in bits.

        Raises:
            MessageValueError: ``expected`` does not broadcast to the result's shape, or has a value
                that is not finite.
            MessageTypeError: ``expected`` holds no numbers.

        Example:
            >>> message = torch.zeros(engine.config.num_slots)
            >>> zeros = engine.encrypt_message(message, public_key)
            >>> engine.precision(message, zeros, secret_key).real.min > 10
            True
        """
        found = self.decrypt_message(ciphertext, secret_key, policy=policy).cpu().numpy()
        if not found.size:
            raise MessageValueError(
                "precision",
                f"the result has shape {found.shape}",
                "Precision is measured over at least one value",
                "Pass a ciphertext whose batch is not empty",
            )
        error = found - _clear(expected, found.shape)
        return PrecisionStats(_axis(np.real(error)), _axis(np.imag(error)))


def _clear(expected: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return the expected message in the result's shape, or refuse one that says nothing."""
    if isinstance(expected, torch.Tensor):
        expected = expected.detach().cpu().to(torch.complex128).numpy()
    found = "no shape"  # of a sequence of sequences that are not equally long
    try:
        clear = np.asarray(expected)
        found = f"shape {clear.shape}"
        numbers = clear.dtype.kind in "biufc"
        clear = np.broadcast_to(clear, shape) if numbers else clear
    except ValueError:
        raise MessageValueError(
            "precision",
            f"expected has {found}, the result shape {shape}",
            "The expected message broadcasts to the result",
            "Reshape it",
        ) from None
    if not numbers:
        raise MessageTypeError(
            "precision",
            f"expected is a {type(expected).__name__} of {clear.dtype}",
            "A result is compared with real or complex numbers",
            "Pass a tensor, an array or a number",
        )
    if not np.isfinite(clear).all():
        place = [int(i) for i in np.argwhere(~np.isfinite(clear))[0]]
        raise MessageValueError(
            "precision",
            f"expected{place} is not finite",
            "An error is the difference to a number",
            "Pass what the result should be in every slot",
            index=tuple(place),
        )
    return clear


def _axis(error: np.ndarray) -> AxisPrecision:
    size = np.abs(error)
    return AxisPrecision(
        min=_bits(size.max()),
        mean=_bits(size.mean()),
        rms=_bits(math.sqrt(np.square(size).mean())),
        max=_bits(size.min()),
    )


def _bits(error: float) -> float:
    return -math.log2(error) if error > 0 else math.inf
